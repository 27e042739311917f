package dev.retstack.schema.codec.packed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Mutations;
import dev.retstack.schema.Samples;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.ByteSource;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What {@code packed} promises beyond what all codecs do. */
@Timeout(120)
class PackedTest {
  private static final int CHUNK = 16_384;
  private static final int ROUNDS = Integer.getInteger("retstack.mutants", 4_000);
  private final PackedCodec codec = new PackedCodec();

  /** The worked example of the specification: its bytes, and what they say. */
  @Test
  void theExampleOfTheSpecificationHolds() throws Exception {
    RecordBatch batch = new RecordBatch(6);
    batch.add(RecordBatch.ENTRY, 100, 0, 0x401000, 0x400020, 0x8000, 0x8010);
    batch.add(RecordBatch.ENTRY, 120, 1, 0x402000, 0x401010, 0x7fe0, 0x7ff0);
    batch.add(RecordBatch.EXIT, 130, 1, 0x402000, 0x401010, 0x7fe0, 0x7ff0);
    batch.add(RecordBatch.ENTRY, 150, 1, 0x402000, 0x401010, 0x7fe0, 0x7ff0);
    batch.add(RecordBatch.EXIT, 160, 1, 0x402000, 0x401010, 0x7fe0, 0x7ff1);
    batch.add(RecordBatch.EXIT, 175, 0, 0x401000, 0x400020, 0x8000, 0x8010);
    byte[] payload = codec.encode(batch);
    String hex = HexFormat.ofDelimiter(" ").formatHex(payload);
    StringBuilder stated = new StringBuilder();
    for (String line : Files.readAllLines(Path.of("PACKED.md"))) {
      if (line.startsWith("    0x")) {
        String bytes = line.substring(line.indexOf(' ', 4), line.indexOf('|')).strip();
        stated.append(stated.isEmpty() ? "" : " ").append(bytes);
      }
    }
    assertThat(stated.toString()).isEqualTo(hex);
  }

  /** Functions that each call two others, as random bits decide: entropy is little but not 0. */
  @Test
  void twoHundredFunctionsTakeAFractionOfAByteEach() throws CorruptChunkException {
    RecordBatch batch = program(new SplittableRandom(7), 0);
    assertThat((double) codec.encode(batch).length / CHUNK).isLessThan(0.22);
    roundTrip(batch);
    RecordBatch host = program(new SplittableRandom(7), 20);
    assertThat((double) codec.encode(host).length / CHUNK).isLessThan(0.8);
    roundTrip(host);
  }

  /** The model is told by nothing but the content: every kind of change comes through to it. */
  @Test
  void changedContentIsRefusedOrMeansSomethingElse() throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("changedContent"));
    RecordBatch into = new RecordBatch(500);
    RecordBatch again = new RecordBatch(500);
    int accepted = 0;
    for (int round = 0; round < ROUNDS; round++) {
      RecordBatch batch = Samples.callTree(random, random.nextInt(1, 200), 8);
      if (random.nextBoolean()) {
        Samples.damage(batch, random, random.nextInt(2, 100));
      }
      byte[] changed = plain(Mutations.of(content(batch), random));
      if (decodes(changed, batch.size(), into)) {
        accepted++;
        assertThat(into.size()).isEqualTo(batch.size());
        codec.decode(codec.encode(into), batch.size(), again);
        assertThat(again).isEqualTo(into);
      }
    }
    // the codec alone cannot know that an address was changed: the checksum does
    assertThat(accepted).isPositive().isLessThan(ROUNDS);
  }

  @Test
  void everyCutAndEveryBitOfAChunkIsNoticed() throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("everyCutAndEveryBit"));
    RecordBatch batch = Samples.callTree(random, 300, 6);
    Chunk chunk = Samples.chunk("core-0", 0, codec, batch);
    byte[] payload = chunk.getPayload().array();
    RecordBatch into = new RecordBatch(300);
    for (int bit = 0; bit < payload.length * 8; bit++) {
      byte[] changed = payload.clone();
      changed[bit / 8] ^= (byte) (1 << (bit % 8));
      chunk.setPayload(ByteBuffer.wrap(changed));
      assertThatThrownBy(() -> Chunks.decode(chunk)).isInstanceOf(CorruptChunkException.class);
    }
    byte[] content = content(batch);
    assertThat(decodes(plain(content), 300, into)).isTrue();
    assertThat(into).isEqualTo(batch);
    for (int length = 0; length < content.length; length++) {
      byte[] cut = plain(Arrays.copyOf(content, length));
      assertThat(decodes(cut, 300, into)).as("cut at %s", length).isFalse();
    }
  }

  /** As many records as a chunk may hold, in a few bytes: quick all the same, and no more. */
  @Test
  void aChunkOfFewBytesAndManyRecordsIsReadInTime() throws CorruptChunkException {
    RecordBatch batch = new RecordBatch(Chunks.RECORDS_MAX);
    for (long time = 0; !batch.isFull(); time += 10) {
      batch.add(RecordBatch.ENTRY, time, 0, 0x400100, 0x400005, 0x7fff_0000L, 0x7fff_0010L);
      batch.add(RecordBatch.EXIT, time + 4, 0, 0x400100, 0x400005, 0x7fff_0000L, 0x7fff_0010L);
    }
    assertThat(codec.encode(batch)).hasSizeLessThan(100);
    roundTrip(batch);
    assertThatThrownBy(() -> codec.decode(new byte[] {0, 0}, 0, batch))
        .hasMessage("payload of 2 bytes, of a chunk without records");
    assertThat(codec.encode(new RecordBatch(0))).containsExactly(0);
  }

  @Test
  void severalThreadsDoNotDisturbEachOther() throws Exception {
    long seed = Seeds.fresh("severalThreads");
    List<Callable<Void>> jobs = new ArrayList<>();
    for (int job = 0; job < 16; job++) {
      SplittableRandom random = new SplittableRandom(seed + job);
      jobs.add(
          () -> {
            for (int round = 0; round < 30; round++) {
              roundTrip(Samples.callTree(random, random.nextInt(1, 5000), 50));
            }
            return null;
          });
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      for (Future<Void> done : threads.invokeAll(jobs)) {
        done.get();
      }
    }
  }

  /**
   * A walk over 200 functions with two sites each, one callee at each site, depth at most 8.
   *
   * @param jitter times vary by so much; 0: they follow from the places, as virtual time does
   */
  private static RecordBatch program(SplittableRandom random, int jitter) {
    RecordBatch batch = new RecordBatch(CHUNK);
    int[] function = new int[10];
    int[] entry = new int[10];
    int[] site = new int[10];
    int depth = -1;
    long time = 1L << 33;
    while (!batch.isFull()) {
      boolean leaf = depth == 7;
      boolean calls =
          depth < 0 || (!leaf && (site[depth] == 0 || (site[depth] == 1 && random.nextBoolean())));
      int caller = depth < 0 ? 0 : function[depth];
      time += 5 + caller % 7 + (calls ? 3 : 9) + (jitter == 0 ? 0 : random.nextInt(0, jitter));
      if (calls) {
        int at = depth < 0 ? random.nextInt(0, 5) : site[depth]++;
        depth++;
        int callee = (caller * 31 + at * 77 + 13) % 200;
        function[depth] = callee;
        site[depth] = 0;
        entry[depth] = batch.size();
        batch.add(
            RecordBatch.ENTRY,
            time,
            depth + 1,
            0x40_1000 + callee * 0x80L,
            0x40_1000 + caller * 0x80L + 0x46 + at * 0x30L,
            0x7fff_0000L - depth * 0x20L,
            0x7fff_0018L - depth * 0x20L);
      } else {
        int e = entry[depth--];
        batch.add(
            RecordBatch.EXIT,
            time,
            batch.depth[e],
            batch.selfPc[e],
            batch.fromPc[e],
            batch.retP[e],
            batch.fp[e]);
      }
    }
    return batch;
  }

  private void roundTrip(RecordBatch batch) throws CorruptChunkException {
    RecordBatch back = new RecordBatch(batch.size());
    codec.decode(codec.encode(batch), batch.size(), back);
    assertThat(back.equals(batch)).isTrue();
  }

  /** The content of the batch's payload, out of its frame. */
  private byte[] content(RecordBatch batch) throws CorruptChunkException {
    byte[] payload = codec.encode(batch);
    ByteSource source = new ByteSource(payload, 0, payload.length);
    if ((source.get() & PackedLayout.ZSTD) == 0) {
      return Arrays.copyOfRange(payload, source.position(), payload.length);
    }
    int size = (int) source.varint();
    return Zstd.decompress(Arrays.copyOfRange(payload, source.position(), payload.length), size);
  }

  private static byte[] plain(byte[] content) {
    return Mutations.splice(content, 0, 0, new byte[] {PackedLayout.PLAIN});
  }

  private boolean decodes(byte[] payload, int count, RecordBatch into) {
    try {
      codec.decode(payload, count, into);
      return true;
    } catch (CorruptChunkException e) {
      assertThat(e).hasMessageNotContaining("null");
      return false;
    }
  }
}
