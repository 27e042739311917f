package dev.retstack.schema.file;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceRecords;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.SchemaIds;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.SchemaCompatibilityType;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.Decoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumReader;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is written now is what golden/ holds, and it is read as what it means. */
class GoldenTest {
  private static final Path GOLDEN = Path.of("golden", "v1");
  private static final String SUMS = "SHA256SUMS";

  /** With {@code -Dretstack.golden.write} the folder is written anew. */
  @BeforeAll
  static void write(@TempDir Path scratch) throws Exception {
    if (System.getProperty("retstack.golden.write") != null) {
      for (var file : GoldenFiles.make(scratch).entrySet()) {
        Files.write(GOLDEN.resolve(file.getKey()), file.getValue());
      }
      Files.writeString(GOLDEN.resolve(SUMS), sums(GOLDEN));
    }
  }

  static List<Path> files(String pattern) throws IOException {
    List<Path> files = new ArrayList<>();
    try (var found = Files.newDirectoryStream(GOLDEN, pattern)) {
      found.forEach(files::add);
    }
    assertThat(files).as(pattern).isNotEmpty();
    return files;
  }

  static List<Path> schemas() throws IOException {
    return files("*.avsc");
  }

  static List<Path> messages() throws IOException {
    return files("message-*.bin");
  }

  static List<Path> payloads() throws IOException {
    return files("payload-*.{records,packed*}");
  }

  static List<Path> traces() throws IOException {
    return files("trace.avro");
  }

  @Test
  void nothingIsMissingAndNothingChanged() throws Exception {
    assertThat(sums(GOLDEN)).isEqualTo(Files.readString(GOLDEN.resolve(SUMS)));
  }

  /** A changed schema or layout replaces golden/ in the same commit, and this test says so. */
  @Test
  void goldenIsWhatIsWrittenNow(@TempDir Path scratch) throws Exception {
    for (var file : GoldenFiles.make(scratch).entrySet()) {
      assertThat(GOLDEN.resolve(file.getKey())).hasBinaryContent(file.getValue());
    }
  }

  @ParameterizedTest
  @MethodSource("schemas")
  void everySchemaStaysFullyCompatible(Path file) throws IOException {
    Schema old = new Schema.Parser().parse(file.toFile());
    Schema now = current(old.getName());
    assertThat(compatibility(now, old)).isEqualTo(SchemaCompatibilityType.COMPATIBLE);
    assertThat(compatibility(old, now)).isEqualTo(SchemaCompatibilityType.COMPATIBLE);
    for (Schema.Field field : now.getFields()) {
      if (old.getField(field.name()) == null) {
        assertThat(field.hasDefaultValue()).as("default of %s", field.name()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("messages")
  void messagesMeanWhatTheyMeant(Path file) throws Exception {
    String name = file.getFileName().toString().replaceAll("message-|\\.bin", "");
    Class<? extends AvroRecord> type =
        Class.forName("dev.retstack.schema." + name).asSubclass(AvroRecord.class);
    AvroRecord read = ConfluentFrame.decode(Files.readAllBytes(file), type);
    assertThat(List.of(read)).isEqualTo(expected(json(file), file.resolveSibling(name + ".avsc")));
  }

  @ParameterizedTest
  @MethodSource("payloads")
  void payloadsMeanWhatTheyMeant(Path file) throws Exception {
    String name = file.getFileName().toString();
    String codec = name.substring(name.lastIndexOf('.') + 1);
    TraceRecords records =
        (TraceRecords) expected(json(file), file.resolveSibling("TraceRecords.avsc")).getFirst();
    int count = records.getRecords().size();
    RecordBatch batch = new RecordBatch(count);
    Codecs.byId(codec).decode(Files.readAllBytes(file), count, batch);
    assertThat(GoldenFiles.records(batch)).isEqualTo(records);
  }

  @ParameterizedTest
  @MethodSource("traces")
  void tracesMeanWhatTheyMeant(Path file) throws Exception {
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      List<TraceEntry> entries = Traces.rest(reader);
      assertThat(reader.truncated()).isFalse();
      assertThat(entries).isEqualTo(expected(json(file), file.resolveSibling("TraceEntry.avsc")));
      for (TraceEntry entry : entries) {
        if (entry.getChunk() != null) {
          assertThat(Chunks.decode(entry.getChunk()).size())
              .isEqualTo(entry.getChunk().getRecordCount());
        }
      }
    }
  }

  /** The expected records, through the schema of their time into that of today. */
  private static List<Object> expected(Path json, Path schemaFile) throws IOException {
    Schema old = new Schema.Parser().parse(schemaFile.toFile());
    List<Object> records = new ArrayList<>();
    try (InputStream in = Files.newInputStream(json)) {
      Decoder decoder = DecoderFactory.get().jsonDecoder(old, in);
      GenericDatumReader<GenericRecord> reader = new GenericDatumReader<>(old);
      while (true) {
        records.add(resolve(old, reader.read(null, decoder)));
      }
    } catch (EOFException e) {
      return records;
    }
  }

  private static Object resolve(Schema old, GenericRecord record) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
    new GenericDatumWriter<GenericRecord>(old).write(record, encoder);
    encoder.flush();
    return new SpecificDatumReader<>(old, current(old.getName()))
        .read(null, DecoderFactory.get().binaryDecoder(out.toByteArray(), null));
  }

  private static Schema current(String name) {
    return SchemaIds.current().stream()
        .filter(schema -> schema.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static SchemaCompatibilityType compatibility(Schema reader, Schema writer) {
    return SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getType();
  }

  private static Path json(Path file) {
    String name = file.getFileName().toString();
    return file.resolveSibling(name.substring(0, name.lastIndexOf('.')) + ".json");
  }

  private static String sums(Path folder) throws IOException, NoSuchAlgorithmException {
    Map<String, String> sums = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
        sums.put(file.getFileName().toString(), HexFormat.of().formatHex(digest));
      }
    }
    sums.remove(SUMS);
    StringBuilder lines = new StringBuilder();
    sums.forEach((name, sum) -> lines.append(sum).append("  ").append(name).append('\n'));
    return lines.toString();
  }
}
