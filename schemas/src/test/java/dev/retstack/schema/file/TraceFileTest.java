package dev.retstack.schema.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Samples;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is written comes back, to this reader and to Avro's own. */
class TraceFileTest {
  @TempDir Path folder;

  @Test
  void comesBackAndIsSealed() throws Exception {
    Path file = folder.resolve("trace.avro");
    List<TraceEntry> written = write(file, 5);
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      assertThat(Traces.rest(reader)).isEqualTo(written);
      assertThat(reader.truncated()).isFalse();
      assertThat(reader.notice()).isEmpty();
      assertThat(reader.next()).isNull();
    }
  }

  @Test
  void avroReadsIt() throws Exception {
    Path file = folder.resolve("trace.avro");
    List<TraceEntry> written = write(file, 3);
    List<GenericRecord> read = new ArrayList<>();
    try (var reader =
        new DataFileReader<>(file.toFile(), new GenericDatumReader<GenericRecord>())) {
      reader.forEach(read::add);
    }
    assertThat(read).hasSize(written.size() + 2);
    assertThat(read.get(0).toString()).contains("größe.elf");
    assertThat(read.get(written.size()).get("index").toString()).contains("core-1");
    GenericRecord seal = (GenericRecord) read.getLast().get("end");
    assertThat(seal.get("entries")).isEqualTo((long) written.size());
  }

  @Test
  void secondRecordingIntoAFileLeavesTheFirstAlone() throws Exception {
    Path file = folder.resolve("trace.avro");
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      writer.write(Samples.image());
      assertThatThrownBy(() -> TraceFileWriter.open(file))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("another recording is being written there");
    }
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      assertThat(Traces.rest(reader)).hasSize(1);
      assertThat(reader.truncated()).isFalse();
    }
    write(file, 1); // it is free again
  }

  @Test
  void aFileStaysHeldBehindItsLastChunk() throws Exception {
    Path file = folder.resolve("trace.avro");
    try (TraceClaim claim = TraceClaim.of(file)) {
      try (TraceFileWriter writer = TraceFileWriter.open(claim)) {
        writer.write(Samples.image());
        writer.write(Samples.lastChunk("core-0", 0, Codecs.standard(), 7));
      }
      try (TraceFileReader reader = claim.read()) {
        assertThat(Traces.rest(reader)).hasSize(2);
        assertThat(reader.truncated()).isFalse();
      }
      assertThatThrownBy(() -> TraceFileWriter.open(file))
          .hasMessageContaining("another recording is being written there");
      claim.requireThere();
      Files.delete(file);
      assertThatThrownBy(claim::requireThere).hasMessageContaining("removed or replaced");
      write(file, 1); // it is another file
      assertThatThrownBy(claim::requireThere).hasMessageContaining("removed or replaced");
    }
    write(file, 1);
  }

  @Test
  void readableWhileItIsWritten() throws Exception {
    Path file = folder.resolve("trace.avro");
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      expectPrefix(file, 0);
      writer.write(Samples.image());
      expectPrefix(file, 1);
      writer.write(Samples.lastChunk("core-0", 0, Codecs.standard(), 7));
      expectPrefix(file, 2);
    }
  }

  private static void expectPrefix(Path file, int entries) throws IOException {
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      assertThat(Traces.rest(reader)).hasSize(entries);
      assertThat(reader.truncated()).isTrue();
      assertThat(reader.notice())
          .contains(entries == 1 ? "1 entry is readable" : entries + " entries are readable");
    }
  }

  private static List<TraceEntry> write(Path file, int chunks) throws IOException {
    SplittableRandom random = new SplittableRandom(7);
    List<TraceEntry> entries = new ArrayList<>();
    entries.add(new TraceEntry(Samples.image(), null, null, null, null, null));
    for (int i = 0; i < chunks; i++) {
      RecordBatch batch = Samples.callTree(random, 500, 20);
      Chunk chunk = Samples.chunk("core-" + i % 2, i / 2, Codecs.standard(), batch);
      entries.add(new TraceEntry(null, chunk, null, null, null, null));
    }
    Traces.write(file, entries);
    return entries;
  }
}
