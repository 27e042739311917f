package dev.retstack.schema.codec.packed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.Samples;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.RecordLinks;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.testing.Seeds;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a predictive codec tells of how records hang together is what looking at them shows. */
@Timeout(60)
class LinksPropertyTest {
  private static final int ROUNDS = 2000;
  private final PackedCodec codec = new PackedCodec();
  private final RecordLinks finder = new RecordLinks();

  @Test
  void callTreesAreLinkedAlike() throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("callTreesAreLinkedAlike"));
    int linked = 0;
    int unlinked = 0;
    for (int round = 0; round < ROUNDS; round++) {
      RecordBatch batch = Samples.callTree(random, random.nextInt(1, 400), random.nextInt(1, 30));
      if (random.nextBoolean()) {
        Samples.damage(batch, random, random.nextInt(2, 200));
      }
      if (random.nextBoolean()) {
        batch = Samples.withOthers(batch, random, random.nextInt(1, 50));
      }
      for (int link : agreedLinks(batch)) {
        linked += link >= 0 ? 1 : 0;
        unlinked += link >= 0 ? 0 : 1;
      }
    }
    assertThat(linked).isPositive();
    assertThat(unlinked).isPositive();
  }

  @Test
  void garbageIsLinkedAlike() throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("garbageIsLinkedAlike"));
    for (int round = 0; round < ROUNDS; round++) {
      agreedLinks(Samples.garbage(random, random.nextInt(1, 100)));
    }
  }

  /** More functions and sites than a chunk numbers: the others are strangers each time. */
  @Test
  void strangersAreNotLinked() throws CorruptChunkException {
    int calls = PackedLayout.IDS_MAX + 100;
    RecordBatch batch = new RecordBatch(2 * calls);
    for (long i = 0; i < calls; i++) {
      batch.add(RecordBatch.ENTRY, 2 * i, 0, 0x1000 + i, 0x900000 + i, 0x7000, 0x7010);
      batch.add(RecordBatch.EXIT, 2 * i + 1, 0, 0x1000 + i, 0x900000 + i, 0x7000, 0x7010);
    }
    int[] links = agreedLinks(batch);
    assertThat(links[2]).isPositive();
    assertThat(links[2 * calls - 2]).isEqualTo(RecordBatch.UNLINKED);
    assertThat(links[2 * calls - 1]).isEqualTo(2 * calls - 2);
  }

  /** The links that the codec tells, after a look at the records themselves. */
  private int[] agreedLinks(RecordBatch batch) throws CorruptChunkException {
    int count = batch.size();
    RecordBatch told = new RecordBatch(count);
    codec.decode(codec.encode(batch), count, told);
    if (!told.isLinked()) {
      assertThat(contexts(batch)).isPositive();
      finder.fill(told);
    }
    int[] links = told.links();
    finder.fill(batch);
    int[] found = batch.links();
    Map<Integer, List<Long>> addresses = new HashMap<>();
    Map<List<Long>, Integer> numbers = new HashMap<>();
    for (int i = 0; i < count; i++) {
      int link = links[i];
      assertThat(link >= 0).as("record %s is linked", i).isEqualTo(found[i] >= 0);
      if (link >= 0 && batch.kind[i] == RecordBatch.ENTRY) {
        List<Long> call = List.of(batch.fromPc[i], batch.selfPc[i]);
        assertThat(addresses.computeIfAbsent(link, _ -> call)).isEqualTo(call);
        assertThat(numbers.computeIfAbsent(call, _ -> link)).isEqualTo(link);
        assertThat(link >>> RecordBatch.LINK_SITE_BITS).isPositive();
      } else {
        assertThat(link).as("entry of record %s", i).isEqualTo(found[i]);
      }
    }
    return Arrays.copyOf(links, count);
  }

  /** Behind another task nothing is linked to what was before it. */
  @Test
  void linksEndWhereAnotherTaskBegins() throws CorruptChunkException {
    RecordBatch batch = new RecordBatch(8);
    batch.add(RecordBatch.ENTRY, 1, 0, 0x1000, 0x900, 0x7000, 0x7010);
    batch.add(RecordBatch.TASK, 2, 0, 1, TaskEvent.STARTED.code(), 0x5000, 0);
    batch.add(RecordBatch.ENTRY, 3, 0, 0x1000, 0x900, 0x7000, 0x7010);
    batch.add(RecordBatch.TASK, 4, 1, 0, TaskEvent.SWITCHED.code(), 0x7000, 0);
    batch.add(RecordBatch.EXIT, 5, 0, 0x1000, 0x900, 0x7000, 0x7010);
    assertThat(agreedLinks(batch)).containsOnly(RecordBatch.UNLINKED);
  }

  private static int contexts(RecordBatch batch) {
    int contexts = 0;
    for (int i = 0; i < batch.size(); i++) {
      contexts += RecordBatch.isOfContexts(batch.kind[i]) ? 1 : 0;
    }
    return contexts;
  }
}
