package dev.retstack.schema.file;

import dev.retstack.schema.Anomaly;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.schema.DeadLetter;
import dev.retstack.schema.Fleet;
import dev.retstack.schema.Node;
import dev.retstack.schema.Profile;
import dev.retstack.schema.RecordKind;
import dev.retstack.schema.Samples;
import dev.retstack.schema.Span;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceRecord;
import dev.retstack.schema.TraceRecords;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.RecordsCodec;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.SchemaIds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.avro.Schema;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.io.JsonEncoder;
import org.apache.avro.specific.SpecificDatumWriter;

/** What this version writes, for {@code golden/}: see the README there. */
final class GoldenFiles {
  private static final List<RecordKind> KINDS = List.of(RecordKind.values());

  private GoldenFiles() {}

  /** Name and bytes of every golden file. */
  static Map<String, byte[]> make(Path scratch) throws IOException, CorruptChunkException {
    Map<String, byte[]> files = new LinkedHashMap<>();
    for (Schema schema : SchemaIds.current()) {
      files.put(schema.getName() + ".avsc", (schema + "\n").getBytes(StandardCharsets.UTF_8));
    }
    for (AvroRecord record : messages()) {
      String name = "message-" + record.getSchema().getName();
      files.put(name + ".bin", ConfluentFrame.encode(record));
      files.put(name + ".json", json(List.of(record)));
    }
    for (Map.Entry<String, RecordBatch> payload : payloads().entrySet()) {
      for (String codec : Codecs.ids()) {
        byte[] bytes = Codecs.byId(codec).encode(payload.getValue());
        files.put("payload-" + payload.getKey() + "." + codec, bytes);
      }
      files.put(
          "payload-" + payload.getKey() + ".json", json(List.of(records(payload.getValue()))));
    }
    List<TraceEntry> entries = trace();
    Path trace = scratch.resolve("trace.avro");
    Traces.write(trace, entries);
    Traces.addPyramid(trace, 2);
    files.put("trace.avro", Files.readAllBytes(trace));
    files.put("trace.json", json(entries));
    return files;
  }

  @SuppressWarnings("EnumOrdinal") // a batch numbers kinds as the schema does
  static TraceRecords records(RecordBatch batch) {
    List<TraceRecord> records = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      records.add(
          new TraceRecord(
              KINDS.get(batch.kind[i]),
              batch.time[i],
              batch.depth[i],
              batch.selfPc[i],
              batch.fromPc[i],
              batch.retP[i],
              batch.fp[i]));
    }
    return new TraceRecords(records);
  }

  /** One batch small enough to stay plain, one that goes through zstd, one of any values. */
  private static Map<String, RecordBatch> payloads() {
    SplittableRandom random = new SplittableRandom(1);
    Map<String, RecordBatch> payloads = new LinkedHashMap<>();
    payloads.put("small", Samples.callTree(random, 8, 3));
    payloads.put("tree", Samples.callTree(random, 300, 5));
    payloads.put("garbage", Samples.garbage(random, 60));
    RecordBatch calls = Samples.callTree(random, 300, 5);
    payloads.put("others", Samples.withOthers(calls, random, 10));
    payloads.put("functions", Samples.withOthers(Samples.functions(calls), random, 50));
    return payloads;
  }

  /** Two cores, each with a chunk of every codec, a loss, and an end. */
  private static List<TraceEntry> trace() {
    SplittableRandom random = new SplittableRandom(2);
    List<TraceEntry> entries = new ArrayList<>();
    entries.add(new TraceEntry(Samples.image(), null, null, null, null, null));
    for (int core = 0; core < 2; core++) {
      String name = "core-" + core;
      RecordBatch all = Samples.callTree(random, 80, 5);
      RecordBatch second = part(all, 40, 80, 1);
      long clock = all.time[79] + 10;
      second.add(RecordBatch.LOST, clock, 0, 17, 0, 0, 0);
      second.setKeyframe(Samples.keyframe(random, second.time[0], core == 0));
      add(entries, Samples.chunk(name, 0, Codecs.standard(), part(all, 0, 40, 0)), 0);
      add(entries, Samples.chunk(name, 1, new RecordsCodec(), second), 40);
      add(entries, Samples.lastChunk(name, 2, Codecs.standard(), clock + 5), 81);
    }
    return entries;
  }

  private static void add(List<TraceEntry> entries, Chunk chunk, long recordsBefore) {
    chunk.setRecordsBefore(recordsBefore);
    entries.add(new TraceEntry(null, Chunks.seal(chunk), null, null, null, null));
  }

  private static RecordBatch part(RecordBatch all, int from, int to, int room) {
    RecordBatch part = new RecordBatch(to - from + room);
    part.addAll(all, from, to);
    return part;
  }

  private static List<AvroRecord> messages() {
    SplittableRandom random = new SplittableRandom(3);
    RecordBatch batch = Samples.callTree(random, 30, 4);
    batch = Samples.withOthers(batch, random, 6);
    batch.setKeyframe(Samples.mapped(Samples.keyframe(random, batch.time[0], false)));
    return List.of(
        Samples.image(),
        Samples.chunk("core-0", 0, Codecs.standard(), batch),
        Node.newBuilder()
            .setNode("pipeline-1:7070")
            .setUrl("https://pipeline-1:7070")
            .setGroup("retstack-pipeline")
            .setRoles(List.of("ingest", "query"))
            .setStartedAt(1_795_343_400_000L)
            .build(),
        Fleet.newBuilder()
            .setSession("session-1")
            .setFleet("lab-3:4711:9f86d081")
            .setStartedAt(1_795_343_400_000L)
            .build(),
        Control.newBuilder()
            .setId("7b1c")
            .setIssuer("ada@lab")
            .setIssuedAt(1_795_343_400_000L)
            .setDeadline(1_795_343_410_000L)
            .setTarget("isa=riscv64,label=rack:7")
            .setName("set-filter")
            .setArguments(List.of("vfs_*", "0x8000-0x8fff"))
            .build(),
        ControlResult.newBuilder()
            .setCommand("7b1c")
            .setNumber(12)
            .setSession("session-1")
            .setCore("core-0")
            .setIsa("riscv64")
            .setImage("00ff00ff")
            .setImageName("fw.elf")
            .setStatus(ControlStatus.APPLIED)
            .setReasons(List.of("no function is named '0x8000-0x8fff'"))
            .setSitesOn(1)
            .setSitesOff(40)
            .setSites(3)
            .setSitesAll(43)
            .setTime(1_000_000)
            .setClockUnit(ClockUnit.INSTRUCTIONS)
            .setAnsweredAt(1_795_343_400_017L)
            .setSettings(List.of("set-filter vfs_* 0x8000-0x8fff"))
            .build(),
        Span.newBuilder()
            .setSession("session-1")
            .setCore("core-0")
            .setImage("00ff00ff")
            .setIsa("aarch64")
            .setSelfpc("0xffff800000001000")
            .setFunction("do_fork+0x0")
            .setDepth(3)
            .setEnter(100)
            .setExit(900)
            .setSelf(50)
            .setClockUnit(ClockUnit.INSTRUCTIONS)
            .setTaskId("0xffff800000009040")
            .setTaskName("blocks+0x40")
            .setInterrupt(true)
            .setLost(6)
            .setChunk(41)
            .build(),
        Anomaly.newBuilder()
            .setSession("session-1")
            .setCore("core-0")
            .setImage("00ff00ff")
            .setIsa("riscv64")
            .setKind("FRAME_POINTER_MISMATCH")
            .setSeverity("ERROR")
            .setTime(77)
            .setClockUnit(ClockUnit.NANOSECONDS)
            .setExpected("0x7fff0010")
            .setReceived("0x4141414141414141")
            .setStack(List.of("f+0x0", "main+0x0"))
            .setCaller("main+0x0")
            .setCause("a wrong clobber list")
            .setCure("look at the epilogue")
            .setChunk(41)
            .build(),
        Profile.newBuilder()
            .setSession("session-1")
            .setPartition(2)
            .setImage("00ff00ff")
            .setIsa("x86_64")
            .setCaller("0x400000")
            .setSelfpc("0x400060")
            .setCalls(12)
            .setTotal(345)
            .setOffset(6)
            .build(),
        DeadLetter.newBuilder()
            .setTopic("retstack.events.v1")
            .setPartition(1)
            .setOffset(42)
            .setReason("first byte: expected 0, received 1")
            .setKey(ByteBuffer.wrap("core-0".getBytes(StandardCharsets.UTF_8)))
            .setValue(ByteBuffer.wrap(new byte[] {1, -1}))
            .build());
  }

  /** Avro's own JSON form of the records, one after the other. */
  private static byte[] json(List<? extends AvroRecord> records) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Schema schema = records.getFirst().getSchema();
    JsonEncoder encoder = EncoderFactory.get().jsonEncoder(schema, out, true);
    SpecificDatumWriter<AvroRecord> writer = new SpecificDatumWriter<>(schema);
    for (AvroRecord record : records) {
      writer.write(record, encoder);
    }
    encoder.flush();
    out.write('\n');
    return out.toByteArray();
  }
}
