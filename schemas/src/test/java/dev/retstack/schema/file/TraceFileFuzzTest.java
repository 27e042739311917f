package dev.retstack.schema.file;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.Mutations;
import dev.retstack.schema.Samples;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.RecordsCodec;
import dev.retstack.testing.Seeds;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.file.DataFileStream;
import org.apache.avro.specific.SpecificDatumReader;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A changed trace is refused; a cut one is a prefix and says so; nothing else happens.
 *
 * <p>{@code -Dretstack.mutants=N} changes so many files, flips every bit and cuts at every byte.
 */
@Timeout(1200)
class TraceFileFuzzTest {
  private static final int ROUNDS = Integer.getInteger("retstack.mutants", 300);

  private static final boolean ALL = ROUNDS > 10_000;

  /** What the canary needs: each of them has a block changed. */
  private static final int CANARY_ROUNDS = 400;

  @TempDir static Path folder;
  private static List<TraceEntry> original;
  private static byte[] file;

  /** Offsets at which blocks begin, and the end of the file. */
  private static List<Integer> blocks;

  /** What a reader makes of bytes. */
  private enum Outcome {
    REFUSED,
    TRUNCATED,
    /** All entries, and a word that the index is wrong. */
    NOTICED,
    COMPLETE
  }

  private interface Reader {
    Outcome read(byte[] bytes) throws IOException;
  }

  @BeforeAll
  static void recordASmallTrace() throws IOException {
    SplittableRandom random = new SplittableRandom(11);
    original = new ArrayList<>();
    original.add(new TraceEntry(Samples.image(), null, null, null, null, null));
    for (int i = 0; i < 6; i++) {
      var codec = i % 3 == 0 ? Codecs.standard() : new RecordsCodec();
      var chunk = Samples.chunk("core-" + i % 2, i / 2, codec, Samples.callTree(random, 20, 5));
      original.add(new TraceEntry(null, chunk, null, null, null, null));
    }
    Path path = folder.resolve("trace.avro");
    Traces.write(path, original);
    file = Files.readAllBytes(path);
    blocks = Traces.blockEnds(file);
    assertThat(blocks).hasSize(original.size() + 3);
  }

  @Test
  void cutAtEveryByteIsAPrefix() throws IOException {
    for (int length = 0; length < file.length; length++) {
      int cut = length;
      // all that is near the ends of blocks, and the rest in steps
      if (!ALL && cut % 13 != 0 && blocks.stream().noneMatch(end -> Math.abs(end - cut) < 20)) {
        continue;
      }
      long ends = blocks.stream().skip(1).filter(end -> end <= cut).count();
      long complete = Math.min(ends, original.size()); // the index is no entry to be read
      try (TraceFileReader reader = open(Arrays.copyOf(file, length))) {
        assertThat(Traces.rest(reader)).isEqualTo(original.subList(0, (int) complete));
        assertThat(reader.truncated()).as("cut at %s", length).isTrue();
        assertThat(reader.notice())
            .startsWith("trace.avro was cut off at byte " + length)
            .endsWith(complete == 1 ? "1 entry is readable" : complete + " entries are readable");
      }
    }
  }

  /** No single bit of a sealed file can change without notice. */
  @Test
  void everyFlippedBitIsNoticed() throws IOException {
    int index = blocks.get(original.size()) * 8;
    int seal = blocks.get(original.size() + 1) * 8;
    int noticed = 0;
    for (int bit = 0; bit < file.length * 8; bit++) {
      boolean header = bit < blocks.getFirst() * 8;
      // one bit of a byte, all eight in turn; more is not needed where bytes are compared
      int each = ALL ? 1 : header ? 8 : 2;
      int at = bit / 8;
      if ((header || !ALL) && (at % each != 0 || bit % 8 != at / each % 8)) {
        continue;
      }
      byte[] changed = file.clone();
      changed[bit / 8] ^= (byte) (1 << bit % 8);
      Outcome outcome = outcome(changed);
      if (bit >= index && bit < seal && outcome == Outcome.NOTICED) {
        noticed++;
        continue;
      }
      assertThat(outcome).as("bit %s", bit).isEqualTo(Outcome.REFUSED);
    }
    assertThat(noticed).isPositive();
  }

  @Test
  void noChangedFileIsTaken() throws IOException {
    long seed = Seeds.fresh("noChangedFileIsTaken");
    assertThat(silentAccepts(seed, 4, ROUNDS, TraceFileFuzzTest::outcome)).isZero();
  }

  /** The test above is worth something: Avro's own reader takes swapped and doubled blocks. */
  @Test
  void canaryAvrosReaderIsCaught() throws IOException {
    long seed = Seeds.fresh("canaryAvrosReaderIsCaught");
    assertThat(silentAccepts(seed, 1, CANARY_ROUNDS, TraceFileFuzzTest::avroOutcome)).isPositive();
  }

  /** One file of {@code blockShare} has blocks changed, the others have bytes changed. */
  private static int silentAccepts(long seed, int blockShare, int rounds, Reader reader)
      throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    int taken = 0;
    for (int round = 0; round < rounds; round++) {
      byte[] changed =
          random.nextInt(0, blockShare) == 0 ? changeBlocks(random) : Mutations.of(file, random);
      if (reader.read(changed) == Outcome.COMPLETE) {
        taken++;
      }
    }
    return taken;
  }

  /** Whole blocks swapped, doubled or taken out. */
  private static byte[] changeBlocks(SplittableRandom random) {
    List<byte[]> parts = new ArrayList<>();
    for (int i = 0; i + 1 < blocks.size(); i++) {
      parts.add(Arrays.copyOfRange(file, blocks.get(i), blocks.get(i + 1)));
    }
    int from = random.nextInt(0, parts.size());
    switch (random.nextInt(0, 3)) {
      case 0 -> parts.add((from + 1) % parts.size(), parts.remove(from));
      case 1 -> parts.add(random.nextInt(0, parts.size() + 1), parts.get(from));
      default -> {
        // without the last block alone, the file is one that was cut there
        parts.remove(from);
      }
    }
    byte[] changed = Arrays.copyOf(file, blocks.getFirst());
    for (byte[] part : parts) {
      changed = Mutations.splice(changed, changed.length, 0, part);
    }
    return Arrays.equals(changed, file) ? Arrays.copyOf(file, file.length + 1) : changed;
  }

  private static Outcome outcome(byte[] bytes) throws IOException {
    try (TraceFileReader reader = open(bytes)) {
      List<TraceEntry> entries = Traces.rest(reader);
      if (!reader.truncated()) {
        boolean right = reader.notice().isEmpty();
        assertThat(right || entries.equals(original)).as(reader.notice()).isTrue();
        return right ? Outcome.COMPLETE : Outcome.NOTICED;
      }
      assertThat(original.subList(0, entries.size())).isEqualTo(entries);
      return Outcome.TRUNCATED;
    } catch (CorruptTraceException e) {
      assertThat(e.offset()).isBetween(0L, (long) bytes.length);
      assertThat(e).hasMessageStartingWith("trace.avro, byte ").hasMessageNotContaining("null");
      return Outcome.REFUSED;
    }
  }

  private static Outcome avroOutcome(byte[] bytes) {
    try (var reader =
        new DataFileStream<>(
            new ByteArrayInputStream(bytes),
            new SpecificDatumReader<TraceEntry>(TraceEntry.getClassSchema()))) {
      reader.forEachRemaining(entry -> {});
      return Outcome.COMPLETE;
    } catch (IOException | AvroRuntimeException e) {
      return Outcome.REFUSED;
    }
  }

  private static TraceFileReader open(byte[] bytes) throws IOException {
    return TraceFileReader.open("trace.avro", new ByteArrayInputStream(bytes));
  }
}
