package dev.retstack.schema.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.schema.PyramidDirectory;
import dev.retstack.schema.PyramidPlace;
import dev.retstack.schema.Samples;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceSeal;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.file.TracePyramid.WrongPyramidException;
import dev.retstack.testing.Seeds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pyramid that a trace ends with is read as it was written; one that is wrong is not used, and
 * never costs a chunk.
 *
 * <p>{@code -Dretstack.mutants=N} changes so many files.
 */
@Timeout(1200)
class TracePyramidTest {
  private static final int MUTANTS = Integer.getInteger("retstack.mutants", 200);
  private static final int CORES = 3;

  @TempDir private Path folder;
  private Path file;
  private List<TraceEntry> entries;
  private byte[] bare;
  private byte[] bytes;

  @BeforeEach
  void write() throws IOException {
    entries = entries(new SplittableRandom(3));
    file = folder.resolve("trace.avro");
    Traces.write(file, entries);
    bare = Files.readAllBytes(file);
    Traces.addPyramid(file, CORES);
    bytes = Files.readAllBytes(file);
  }

  private static List<TraceEntry> entries(SplittableRandom random) {
    List<TraceEntry> entries = new ArrayList<>();
    entries.add(new TraceEntry(Samples.image(), null, null, null, null, null));
    for (int i = 0; i < 4; i++) {
      var chunk = Samples.chunk("core-0", i, Codecs.standard(), Samples.callTree(random, 20, 5));
      entries.add(new TraceEntry(null, chunk, null, null, null, null));
    }
    return entries;
  }

  @Test
  void whatWasWrittenIsRead() throws Exception {
    try (IndexedTrace trace = IndexedTrace.open(file);
        TraceFileReader all = TraceFileReader.open(file)) {
      TracePyramid pyramid = trace.pyramid().orElseThrow();
      assertThat(pyramid.cores()).hasSize(CORES);
      for (int core = CORES - 1; core >= 0; core--) {
        PyramidPlace place = pyramid.cores().get(core).getLevels().get(1).getBlocks().getFirst();
        assertThat(pyramid.read(place)).isEqualTo(Traces.tiles(core, 6));
      }
      assertThat(trace.notice()).isEmpty();
      assertThat(Traces.rest(all)).isEqualTo(entries);
      assertThat(all.notice()).isEmpty();
      assertThat(all.truncated()).isFalse();
    }
  }

  @Test
  void aTraceWithoutOneHasNone() throws Exception {
    Files.write(file, bare);
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      assertThat(trace.pyramid()).isEmpty();
      assertThat(trace.notice()).isEmpty();
    }
  }

  @Test
  void aWriterThatGivesUpLeavesTheTraceWhole() throws IOException {
    try (TraceClaim claim = TraceClaim.of(file);
        TracePyramidWriter writer = TracePyramidWriter.open(claim)) {
      var _ = writer.write(Traces.tiles(0, 4), 0, 1);
    }
    assertThat(Files.readAllBytes(file)).isEqualTo(bare);
  }

  @Test
  void aPyramidOfAnotherTraceIsNotUsed() throws IOException {
    Path other = folder.resolve("other.avro");
    Traces.write(other, entries(new SplittableRandom(4)));
    int begin = begin(Files.readAllBytes(other));
    Traces.addPyramid(other, CORES);
    byte[] from = Files.readAllBytes(other);
    List<Integer> ends = Traces.blockEnds(from);
    int directory = ends.get(ends.size() - 3);
    int seal = ends.get(ends.size() - 2);
    write(Arrays.copyOfRange(from, begin, directory), Arrays.copyOfRange(from, directory, seal), 0);
    assertNotUsed("it was made of another trace");
  }

  @Test
  void lyingDirectoriesAreNotUsed() throws IOException {
    byte[] blocks = blocks();
    PyramidDirectory directory = directory();
    directory.getCores().get(0).getLevels().get(0).getBlocks().get(0).setBytes(17);
    write(blocks, directory, 0);
    assertNotUsed("its blocks end at byte");

    directory = directory();
    directory.getCores().get(1).getLevels().get(1).setShift(4);
    write(blocks, directory, 0);
    assertNotUsed("its levels do not become coarser");

    directory = directory();
    directory.getCores().get(1).setCore("core-0");
    write(blocks, directory, 0);
    assertNotUsed("its levels do not become coarser");

    directory = directory();
    directory.getCores().get(2).getLevels().get(0).getBlocks().get(0).setFrom(1L << 40);
    write(blocks, directory, 0);
    assertNotUsed("with times from");

    write(blocks, directory(), 1);
    assertNotUsed("");
  }

  @Test
  void aBlockThatIsAnotherIsNotUsed() throws Exception {
    PyramidDirectory directory = directory();
    PyramidPlace place = directory.getCores().get(1).getLevels().get(0).getBlocks().get(0);
    place.setCrc32c(place.getCrc32c() ^ 1);
    write(blocks(), directory, 0);
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      TracePyramid pyramid = trace.pyramid().orElseThrow();
      PyramidPlace read = pyramid.cores().get(1).getLevels().get(0).getBlocks().get(0);
      assertThatThrownBy(() -> pyramid.read(read))
          .isInstanceOf(WrongPyramidException.class)
          .hasMessageContaining("a block is not what its directory names");
    }
    assertChunksAreRead();
  }

  /** Bytes behind the index changed: it is noticed, and the chunks are all there. */
  @Test
  void noChangedPyramidIsTaken() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("noChangedPyramidIsTaken"));
    int begin = begin(bare);
    List<Integer> ends = Traces.blockEnds(bytes);
    int seal = ends.get(ends.size() - 2) - Traces.SYNC.length; // by the last marker it is found
    for (int round = 0; round < MUTANTS; round++) {
      byte[] changed = bytes.clone();
      int at = begin + random.nextInt(seal - begin);
      if (random.nextBoolean()) {
        changed[at] ^= (byte) (1 << random.nextInt(8));
      } else {
        int from = begin + random.nextInt(seal - begin);
        int length = Math.min(random.nextInt(1, 64), seal - Math.max(at, from));
        System.arraycopy(bytes, from, changed, at, length);
      }
      if (Arrays.equals(changed, bytes)) {
        continue;
      }
      Files.write(file, changed);
      assertChunksAreRead();
    }
  }

  private void assertNotUsed(String why) throws IOException {
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      assertThatThrownBy(trace::pyramid)
          .isInstanceOf(WrongPyramidException.class)
          .hasMessageContaining("trace.avro: its pyramid is wrong")
          .hasMessageContaining(why);
      assertThat(trace.index().cores()).isNotEmpty();
    }
    assertChunksAreRead();
  }

  private void assertChunksAreRead() throws IOException {
    try (TraceFileReader all = TraceFileReader.open(file)) {
      assertThat(Traces.rest(all)).isEqualTo(entries);
      assertThat(all.truncated()).isFalse();
      assertThat(all.notice()).contains("its pyramid is wrong");
    }
  }

  /** Where a pyramid begins: behind the index. */
  private static int begin(byte[] whole) {
    List<Integer> ends = Traces.blockEnds(whole);
    return ends.get(ends.size() - 2);
  }

  private byte[] blocks() {
    List<Integer> ends = Traces.blockEnds(bytes);
    return Arrays.copyOfRange(bytes, begin(bare), ends.get(ends.size() - 3));
  }

  private PyramidDirectory directory() throws IOException {
    Files.write(file, bytes);
    List<Integer> ends = Traces.blockEnds(bytes);
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      return reader.entryAt(ends.get(ends.size() - 3)).getPyramid();
    }
  }

  private void write(byte[] blocks, PyramidDirectory directory, int off) throws IOException {
    byte[] block =
        Traces.block(Traces.encoded(new TraceEntry(null, null, null, null, null, directory)));
    write(blocks, block, off);
  }

  /** A whole trace with this pyramid, behind checksums that hold but for {@code off}. */
  private void write(byte[] blocks, byte[] directory, int off) throws IOException {
    int begin = begin(bare);
    List<Integer> ends = Traces.blockEnds(bare);
    int index = ends.get(ends.size() - 3);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(bare, 0, begin);
    out.writeBytes(blocks);
    out.writeBytes(directory);
    TraceSeal seal =
        new TraceSeal(
            (long) entries.size(),
            (long) index,
            crc(bare, 0, index),
            crc(bare, index, begin),
            (long) begin + blocks.length,
            crc(directory, 0, directory.length) + off,
            false);
    out.writeBytes(
        Traces.block(Traces.encoded(new TraceEntry(null, null, null, seal, null, null))));
    Files.write(file, out.toByteArray());
  }

  private static long crc(byte[] of, int from, int to) {
    CRC32C crc = new CRC32C();
    crc.update(of, from, to - from);
    return crc.getValue();
  }
}
