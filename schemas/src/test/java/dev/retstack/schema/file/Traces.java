package dev.retstack.schema.file;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.PyramidLevel;
import dev.retstack.schema.PyramidLine;
import dev.retstack.schema.PyramidTask;
import dev.retstack.schema.PyramidTiles;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.avro.AvroRecord;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumWriter;

/** Whole traces in and out of lists. */
final class Traces {
  /** Marker of traces whose bytes must be the same each time. */
  static final byte[] SYNC = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

  private Traces() {}

  static void write(Path file, List<TraceEntry> entries) throws IOException {
    try (TraceFileWriter writer = TraceFileWriter.open(file, SYNC)) {
      for (TraceEntry entry : entries) {
        if (entry.getImage() != null) {
          writer.write(entry.getImage());
        } else {
          writer.write(entry.getChunk());
        }
      }
    }
  }

  static List<TraceEntry> rest(TraceFileReader reader) throws IOException {
    List<TraceEntry> entries = new ArrayList<>();
    for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
      entries.add(entry);
    }
    return entries;
  }

  /** Where header and blocks end: each with the marker, which stands nowhere else. */
  static List<Integer> blockEnds(byte[] bytes) {
    List<Integer> ends = new ArrayList<>();
    for (int i = SYNC.length; i <= bytes.length; i++) {
      if (bytes[i - 1] == SYNC[15] && Arrays.equals(bytes, i - SYNC.length, i, SYNC, 0, 16)) {
        ends.add(i);
      }
    }
    return ends;
  }

  /** The block of an entry that is encoded already, as a file has it. */
  static byte[] block(byte[] entry) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (var writer =
        new DataFileWriter<>(new SpecificDatumWriter<TraceEntry>(TraceEntry.getClassSchema()))) {
      writer.setCodec(CodecFactory.zstandardCodec(TraceFormat.ZSTD_LEVEL, true));
      writer.create(TraceEntry.getClassSchema(), out, SYNC);
      writer.appendEncoded(ByteBuffer.wrap(entry));
    }
    byte[] file = out.toByteArray();
    return Arrays.copyOfRange(file, blockEnds(file).getFirst(), file.length);
  }

  static <T extends AvroRecord> byte[] encoded(T record) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
    new SpecificDatumWriter<T>(record.getSchema()).write(record, encoder);
    encoder.flush();
    return out.toByteArray();
  }

  /** Adds a pyramid of so many cores, each with two levels of a block each. */
  static void addPyramid(Path file, int cores) throws IOException {
    try (TraceClaim claim = TraceClaim.of(file);
        TracePyramidWriter writer = TracePyramidWriter.open(claim)) {
      List<PyramidCore> all = new ArrayList<>();
      for (int core = 0; core < cores; core++) {
        List<PyramidLevel> levels = new ArrayList<>();
        for (int shift = 4; shift <= 6; shift += 2) {
          levels.add(
              new PyramidLevel(shift, List.of(writer.write(tiles(core, shift), 0, 1L << 20))));
        }
        all.add(
            new PyramidCore(
                "session",
                "core-" + core,
                "00ff00ff",
                List.of(),
                "INSTRUCTIONS",
                1L << 20,
                0L,
                List.of(new PyramidTask((long) core, 0x776f726b65720000L, 0L)),
                List.of(new PyramidLine(2, 0L, 1, 0, core)),
                levels));
      }
      assertThat(writer.finish(all)).isPositive();
    }
  }

  static PyramidTiles tiles(long core, int shift) {
    return new PyramidTiles(
        List.of(0x401000L, 0x402000L),
        List.of(0, 0),
        List.of(1L, 3L + core),
        List.of(2L, 5L),
        List.of(7L, 9L),
        List.of(0, 1),
        List.of(-3L, 1L),
        List.of(4L, 8L),
        List.of(0),
        List.of(1L),
        List.of(1),
        List.of(100L),
        List.of(1L << shift));
  }
}
