package dev.retstack.schema.chunk;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Mutations;
import dev.retstack.schema.Samples;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Payloads nobody vouches for: refused, or a batch; nothing else ever. */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD) // a decoder that hangs is told
class CodecFuzzTest {
  /** Changed payloads, and changed chunks, of each codec; more by {@code -Dretstack.mutants=N}. */
  private static final int ROUNDS = Integer.getInteger("retstack.mutants", 4_000);

  /** What the canary needs. */
  private static final int CANARY_ROUNDS = 5_000;

  /** Beyond what the count asks for: tables of fixed size, messages, the thread's own noise. */
  private static final long ALLOCATION_SLACK_BYTES = 1 << 20;

  private interface Decoder {
    RecordBatch decode(Chunk chunk, RecordBatch reuse) throws CorruptChunkException;
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.schema.chunk.Codecs#ids")
  void changedPayloadsNeverDoMoreThanRefuse(String id) throws CorruptChunkException {
    SplittableRandom random =
        new SplittableRandom(Seeds.fresh("changedPayloadsNeverDoMoreThanRefuse " + id));
    ChunkCodec codec = Codecs.byId(id);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    RecordBatch into = new RecordBatch(1000);
    RecordBatch again = new RecordBatch(1000);
    int accepted = 0;
    for (int round = 0; round < ROUNDS; round++) {
      RecordBatch batch = sample(random);
      byte[] payload = Mutations.of(codec.encode(batch), random);
      int count =
          random.nextInt(0, 10) == 0 ? random.nextInt(-1, into.capacity() + 2) : batch.size();
      long before = threads.getCurrentThreadAllocatedBytes();
      boolean valid = decodes(codec, payload, count, into);
      assertThat(threads.getCurrentThreadAllocatedBytes() - before)
          .as("bytes allocated for %s records", count)
          .isLessThan(ALLOCATION_SLACK_BYTES + 200L * Math.max(count, 0));
      if (valid) {
        accepted++;
        assertThat(into.size()).isEqualTo(count);
        codec.decode(codec.encode(into), count, again);
        assertThat(again).isEqualTo(into);
      }
    }
    // a changed address is still an address: the codec alone cannot know, the checksum does
    assertThat(accepted).isPositive().isLessThan(ROUNDS);
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.schema.chunk.Codecs#ids")
  void noChangedChunkIsTaken(String id) throws CorruptChunkException {
    long seed = Seeds.fresh("noChangedChunkIsTaken " + id);
    assertThat(silentAccepts(Codecs.byId(id), seed, ROUNDS, Chunks::decode)).isZero();
  }

  /** The test above is worth something: without the checksum it would find plenty. */
  @ParameterizedTest
  @MethodSource("dev.retstack.schema.chunk.Codecs#ids")
  void canaryWithoutChecksumIsCaught(String id) throws CorruptChunkException {
    long seed = Seeds.fresh("canaryWithoutChecksumIsCaught " + id);
    assertThat(silentAccepts(Codecs.byId(id), seed, CANARY_ROUNDS, Chunks::decodeUnverified))
        .isPositive();
  }

  private static int silentAccepts(ChunkCodec codec, long seed, int rounds, Decoder decoder) {
    SplittableRandom random = new SplittableRandom(seed);
    RecordBatch reuse = new RecordBatch(1000);
    int taken = 0;
    for (int round = 0; round < rounds; round++) {
      RecordBatch records = Samples.callTree(random, random.nextInt(1, 60), 10);
      if (round % 8 < 3) {
        records = Samples.withOthers(records, random, random.nextInt(1, 20));
      }
      if (round % 4 == 0) {
        Samples.damage(records, random, 20);
        inOrder(records);
      }
      if (records.size() > 0 && records.time[0] >= 0) {
        Keyframe keyframe = Samples.keyframe(random, records.time[0], random.nextBoolean());
        records.setKeyframe(records.images().isEmpty() ? keyframe : Samples.mapped(keyframe));
      }
      Chunk chunk = Samples.chunk("core-0", 0, codec, records);
      change(chunk, random);
      try {
        RecordBatch batch = decoder.decode(chunk, reuse);
        assertThat(batch.size()).isEqualTo(chunk.getRecordCount());
        taken++;
      } catch (CorruptChunkException e) {
        assertThat(e).hasMessageNotContaining("null");
      }
    }
    return taken;
  }

  /** Damaged records as a core might yet send them: times in order, depths and losses possible. */
  private static void inOrder(RecordBatch records) {
    Arrays.sort(records.time, 0, records.size());
    for (int i = 0; i < records.size(); i++) {
      records.depth[i] = Math.floorMod(records.depth[i], Chunks.DEPTH_MAX);
      boolean lost = records.kind[i] == RecordBatch.LOST;
      records.selfPc[i] = lost ? 1 + i : records.selfPc[i];
    }
  }

  private static void change(Chunk chunk, SplittableRandom random) {
    switch (random.nextInt(0, 16)) {
      case 9 -> chunk.setImages(List.of("00ff00ff"));
      case 0 -> chunk.setRecordCount(chunk.getRecordCount() + random.nextInt(1, 3));
      case 1 -> chunk.setSequence(chunk.getSequence() + 1);
      case 2 -> chunk.setLastTime(chunk.getLastTime() ^ 1);
      case 3 -> chunk.setCore(chunk.getCore() + "1");
      case 4 -> chunk.setLostBefore(1);
      case 6 -> chunk.setKeyframeRecords(chunk.getKeyframeRecords() + random.nextInt(1, 3));
      case 7, 8 ->
          chunk.setKeyframe(
              ByteBuffer.wrap(
                  chunk.getKeyframe().hasRemaining()
                      ? Mutations.of(chunk.getKeyframe().array(), random)
                      : new byte[] {1}));
      case 5 -> chunk.setChecksum(chunk.getChecksum() ^ 1L << random.nextInt(0, 64));
      default ->
          chunk.setPayload(ByteBuffer.wrap(Mutations.of(chunk.getPayload().array(), random)));
    }
  }

  private static RecordBatch sample(SplittableRandom random) {
    int count = random.nextInt(0, 100);
    RecordBatch calls = Samples.callTree(random, count, 10);
    return switch (random.nextInt(0, 6)) {
      case 0 -> Samples.garbage(random, count);
      case 1 -> Samples.withOthers(calls, random, random.nextInt(1, 20));
      case 2 -> Samples.withOthers(Samples.functions(calls), random, 50);
      default -> calls;
    };
  }

  private static boolean decodes(ChunkCodec codec, byte[] payload, int count, RecordBatch into) {
    try {
      codec.decode(payload, count, into);
      return true;
    } catch (CorruptChunkException e) {
      return false;
    }
  }
}
