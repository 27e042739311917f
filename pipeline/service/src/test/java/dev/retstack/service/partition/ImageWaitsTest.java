package dev.retstack.service.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

class ImageWaitsTest {
  private static final long SEED = Long.getLong("retstack.seed", 20302);
  private static final long ROOM = 1 << 20;

  private static CoreKey core(int number) {
    return new CoreKey("s", "core-" + number);
  }

  private static ConsumerRecord<byte[], byte[]> record(long offset, int bytes) {
    return new ConsumerRecord<>(
        "events",
        0,
        offset,
        0,
        TimestampType.CREATE_TIME,
        0,
        bytes,
        null,
        new byte[bytes],
        new RecordHeaders(),
        Optional.empty());
  }

  private static ImageWaits restarted(ImageWaits waits) throws IOException {
    ByteOutput out = new ByteOutput(1 << 10);
    waits.writeTo(out);
    return ImageWaits.readFrom(new ByteInput(out.take()), ROOM, unbounded());
  }

  private static StateBudget.Account unbounded() {
    return StateBudget.UNLIMITED.open(0);
  }

  /** What waits is part of what the states of a member may hold. */
  @Test
  void namesOffsetsAndRecordsAreOfTheBudgetOfStates() throws Exception {
    StateBudget budget = new StateBudget(1 << 20, 0);
    ImageWaits waits = new ImageWaits(ROOM, budget.open(0));
    int sent = 0;
    while (!waits.isFull()) {
      waits.add(core(sent), "image-" + sent, record(sent, 10_000));
      sent++;
      assertThat(budget.held()).isLessThan(budget.limit() / 4);
    }
    assertThat(waits.chunks()).as("more than there is room for records of").isEqualTo(sent);
    assertThat(sent).isGreaterThan(200);
    assertThat(waits.giveUp("no room")).isNotEmpty();
    while (waits.next().length > 0) {
      assertThat(waits.kept(waits.next())).as("records, which are read again").isNull();
      for (long offset : waits.next()) {
        waits.done(core((int) offset));
      }
    }
    assertThat(waits.isFull()).isFalse();
    assertThat(waits.chunks()).isPositive();
    ByteOutput out = new ByteOutput(1 << 10);
    waits.writeTo(out);
    long held = budget.held();
    waits.close();
    assertThat(budget.held()).isZero();
    ImageWaits again = ImageWaits.readFrom(new ByteInput(out.take()), ROOM, budget.open(0));
    assertThat(budget.held()).isLessThanOrEqualTo(held).isPositive();
    again.close();
    assertThat(budget.held()).isZero();
  }

  /** In whatever order images come, members restart: each core's chunks are taken in order. */
  @Test
  void everyChunkComesOnceAndInTheOrderOfItsCore() throws Exception {
    Random random = new Random(SEED);
    ImageWaits waits = new ImageWaits(ROOM, unbounded());
    Map<CoreKey, ArrayDeque<Long>> expected = new HashMap<>();
    Map<Long, CoreKey> owner = new HashMap<>();
    int taken = 0;
    int sent = 3_000;
    for (int offset = 0; offset < sent || !waits.isEmpty(); offset++) {
      if (offset < sent) {
        CoreKey key = core(random.nextInt(50));
        String image = "image-" + Math.floorMod(key.hashCode(), 7);
        waits.add(key, image, record(offset, 10 + random.nextInt(900)));
        expected.computeIfAbsent(key, _ -> new ArrayDeque<>()).add((long) offset);
        owner.put((long) offset, key);
      }
      switch (random.nextInt(20)) {
        case 0 -> waits.answered("image-" + random.nextInt(7), null);
        case 1 -> waits = restarted(waits);
        case 2 -> {
          for (long due : waits.next()) {
            CoreKey key = owner.get(due);
            if (random.nextInt(50) == 0) {
              waits.again(key, "image-" + random.nextInt(7));
            }
            if (waits.isOver(key)) {
              assertThat(expected.get(key).poll()).as("seed %d", SEED).isEqualTo(due);
              waits.done(key);
              taken++;
            }
          }
        }
        default -> {}
      }
      assertThat(waits.chunks()).isEqualTo(owner.size() - taken);
    }
    assertThat(taken).isEqualTo(sent);
    assertThat(waits.images()).isEmpty();
    assertThat(waits.waiting()).isEqualTo(StateCopy.Waiting.NONE);
  }

  /**
   * Records beyond the room are read again from their offsets; beyond it the first are given up.
   */
  @Test
  void roomIsBounded() {
    ImageWaits waits = new ImageWaits(20_000, unbounded());
    int kept = 0;
    int offset = 0;
    while (!waits.isFull()) {
      waits.add(core(offset), "image-" + offset, record(offset, 1_000));
      offset++;
    }
    assertThat(offset).isBetween(40, 70);
    List<String> given = waits.giveUp("not there");
    assertThat(given).hasSizeBetween(offset / 10, offset / 6).startsWith("image-0", "image-1");
    assertThat(waits.isFull()).as("those given up go first").isFalse();
    List<long[]> asked = new ArrayList<>();
    for (int i = 0; i < offset; i++) {
      waits.answered("image-" + i, "not there");
      assertThat(waits.refusal(core(i))).isEqualTo("not there");
      long[] one = {i};
      if (waits.kept(one) == null) {
        asked.add(one);
      } else {
        kept++;
      }
    }
    assertThat(kept).isEqualTo(20);
    assertThat(asked).hasSize(offset - 20);
    assertThat(waits.next()).hasSize(Math.min(64, offset));
    assertThat(waits.missing(Set.of(3L, 4L))).isEqualTo(2);
    assertThat(waits.isOver(core(3))).isFalse();
    assertThat(waits.waiting().images()).isEqualTo("image-0, image-1, image-2");
  }

  @Test
  void whatIsCutOffIsRefused() throws Exception {
    ImageWaits waits = new ImageWaits(ROOM, unbounded());
    waits.add(core(1), "image", record(7, 3));
    ByteOutput out = new ByteOutput(1 << 10);
    waits.writeTo(out);
    byte[] bytes = out.take();
    for (int length = 0; length < bytes.length; length++) {
      ByteInput cut = new ByteInput(bytes, 0, length);
      assertThatThrownBy(() -> ImageWaits.readFrom(cut, ROOM, unbounded()))
          .isInstanceOf(IOException.class);
    }
  }
}
