package dev.retstack.schema.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.IndexBlock;
import dev.retstack.schema.OtherName;
import dev.retstack.schema.Samples;
import dev.retstack.schema.SourceLine;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceSeal;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.record.FunctionName;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.specific.SpecificDatumWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files in the right form with a wrong inside, as only someone who means it makes them. */
class TraceFileHostileTest {
  private static final long MEMORY_BYTES_MAX = 64L << 20;

  @TempDir Path folder;

  @Test
  void bombIsRefusedWithinMemory() throws IOException {
    byte[] file = container(w -> w.appendEncoded(ByteBuffer.allocate(200 << 20)));
    assertThat(file.length).isLessThan(200_000);
    refusedWithinMemory(file, "Destination buffer is too small");
  }

  /** Three bytes in the file for a symbol that takes a hundred in memory. */
  @Test
  void manySmallObjectsAreRefusedWithinMemory() throws IOException {
    Image image = Samples.image();
    image.setSymbols(Collections.nCopies(2_000_000, new Symbol("", 0L, 0L)));
    byte[] file = container(w -> w.append(new TraceEntry(image, null, null, null, null, null)));
    assertThat(file.length).isLessThan(200_000);
    refusedWithinMemory(file, "more than 64 MiB of objects");
  }

  @Test
  void linesOfNoSymbolOrFileAreRefused() throws IOException {
    for (SourceLine wrong :
        List.of(
            new SourceLine(2, 0, 1),
            new SourceLine(-1, 0, 1),
            new SourceLine(0, 1, 1),
            new SourceLine(0, -1, 1),
            new SourceLine(0, 0, 0))) {
      Image image = Samples.image();
      image.setLines(List.of(wrong));
      byte[] file = container(w -> w.append(new TraceEntry(image, null, null, null, null, null)));
      refusedWithinMemory(file, "source line");
    }
    Image twice = Samples.image();
    twice.setLines(List.of(new SourceLine(1, 0, 1), new SourceLine(1, 0, 2)));
    byte[] file = container(w -> w.append(new TraceEntry(twice, null, null, null, null, null)));
    refusedWithinMemory(file, "source line of symbol 1 of 2");
    Image large = Samples.image();
    large.setFiles(List.of("m".repeat(1 << 20)));
    file = container(w -> w.append(new TraceEntry(large, null, null, null, null, null)));
    refusedWithinMemory(file, "1048576 characters in a source file: at most 4096");
  }

  @Test
  void otherNamesOfNoSymbolAreRefused() throws IOException {
    OtherName first = new OtherName(1, "first");
    Map.of(
            List.of(new OtherName(2, "none")), "another name of symbol 2 of 2",
            List.of(new OtherName(-1, "none")), "another name of symbol -1 of 2",
            List.of(first, new OtherName(0, "late")), "symbol 0 behind one of symbol 1",
            Collections.nCopies(FunctionName.OTHERS_MAX + 1, first), "more than 4096 other names",
            Collections.nCopies(100_000, first), "more than 4096 other names of symbol 1",
            List.of(new OtherName(0, "m".repeat(1 << 20))), "characters in another name",
            Collections.nCopies(1_000_000, first), "more than 64 MiB of objects")
        .forEach((names, why) -> refusedWithinMemory(container(names), why));
    Image many = Samples.image();
    many.setOtherNames(Collections.nCopies(FunctionName.OTHERS_MAX, first));
    byte[] file = container(w -> w.append(new TraceEntry(many, null, null, null, null, null)));
    try (var reader = TraceFileReader.open("trace.avro", new ByteArrayInputStream(file))) {
      assertThat(reader.next().getImage()).isEqualTo(many);
    }
  }

  private static byte[] container(List<OtherName> names) {
    Image image = Samples.image();
    image.setOtherNames(names);
    try {
      return container(w -> w.append(new TraceEntry(image, null, null, null, null, null)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void writerRefusesWhatNoReaderTakes() throws IOException {
    Image image = Samples.image();
    image.setSymbols(Collections.nCopies(2_000_000, new Symbol("", 0L, 0L)));
    Chunk chunk = Samples.lastChunk("core-0", 0, Codecs.standard(), 7);
    chunk.setSequence(1L);
    Path file = folder.resolve("trace.avro");
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      assertThatThrownBy(() -> writer.write(image))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("more than 64 MiB of objects");
      assertThatThrownBy(() -> writer.write(chunk))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("checksum of chunk 1 of core core-0");
    }
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      assertThat(reader.next()).isNull();
      assertThat(reader.truncated()).isFalse();
    }
  }

  @Test
  void wrongEntriesAreRefused() throws IOException {
    Chunk chunk = Samples.lastChunk("core-0", 0, Codecs.standard(), 7);
    chunk.setSequence(1L);
    refused(
        container(w -> w.append(new TraceEntry(null, chunk, null, null, null, null))),
        "checksum of chunk 1");
    refused(
        container(w -> w.append(new TraceEntry(null, null, null, null, null, null))),
        "0 fields set, expected 1");
    TraceSeal seal = new TraceSeal(1L, 2L, 3L, 4L, 0L, 0L, false);
    refused(
        container(w -> w.append(new TraceEntry(Samples.image(), null, null, seal, null, null))),
        "2 fields set, expected 1");
    refused(
        container(w -> w.append(new TraceEntry(null, null, null, seal, null, null))),
        "seal without an index before it");
    IndexBlock index = new TraceIndex().toBlock();
    refused(
        container(
            w -> {
              w.append(new TraceEntry(null, null, index, null, null, null));
              w.sync();
              w.append(new TraceEntry(null, null, null, seal, null, null));
            }),
        "seal expected 1 entries in 2 bytes with CRC-32C 00000003, received 0 in ");
    refused(
        container(
            w -> {
              w.append(new TraceEntry(null, null, index, null, null, null));
              w.sync();
              w.append(new TraceEntry(null, chunk, null, null, null, null));
            }),
        "checksum of chunk 1");
    refused(
        container(
            w -> {
              w.append(new TraceEntry(null, null, index, null, null, null));
              w.sync();
              w.append(new TraceEntry(Samples.image(), null, null, null, null, null));
            }),
        "no seal follows the index");
  }

  @Test
  void severalEntriesInABlockAreRefused() throws IOException {
    TraceEntry entry = new TraceEntry(Samples.image(), null, null, null, null, null);
    refused(
        container(
            w -> {
              w.append(entry);
              w.append(entry);
            }),
        "block of 2 entries, expected 1");
  }

  @Test
  void whatIsNoTraceIsRefused() {
    refused("ELF and so on".getBytes(StandardCharsets.UTF_8), "not a trace that this version");
    refused("x".getBytes(StandardCharsets.UTF_8), "trace.avro, byte 0: not a trace");
  }

  private interface Content {
    void write(DataFileWriter<TraceEntry> writer) throws IOException;
  }

  private static byte[] container(Content content) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (var writer =
        new DataFileWriter<>(new SpecificDatumWriter<TraceEntry>(TraceEntry.getClassSchema()))) {
      writer.setCodec(CodecFactory.zstandardCodec(TraceFormat.ZSTD_LEVEL, true));
      writer.create(TraceEntry.getClassSchema(), out);
      content.write(writer);
    }
    return out.toByteArray();
  }

  private static void refusedWithinMemory(byte[] file, String why) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    refused(file, why);
    long before = threads.getCurrentThreadAllocatedBytes();
    refused(file, why);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(MEMORY_BYTES_MAX);
  }

  private static void refused(byte[] file, String why) {
    assertThatThrownBy(
            () -> {
              try (var reader =
                  TraceFileReader.open("trace.avro", new ByteArrayInputStream(file))) {
                Traces.rest(reader);
              }
            })
        .isInstanceOf(CorruptTraceException.class)
        .hasMessageContaining(why);
  }
}
