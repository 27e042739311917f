package dev.retstack.schema.codec.packed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.schema.RecordKind;
import dev.retstack.schema.Samples;
import dev.retstack.schema.TraceRecord;
import dev.retstack.schema.TraceRecords;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.RecordsCodec;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificDatumWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every codec gives back every batch, whatever is in it. */
class CodecPropertyTest {
  private static final List<RecordKind> KINDS = List.of(RecordKind.values());

  @ParameterizedTest
  @MethodSource("dev.retstack.schema.chunk.Codecs#ids")
  void callTreesComeBack(String id) throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("callTreesComeBack " + id));
    for (int round = 0; round < 300; round++) {
      roundTrip(id, Samples.callTree(random, random.nextInt(0, 2000), random.nextInt(1, 300)));
    }
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.schema.chunk.Codecs#ids")
  void garbageComesBack(String id) throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("garbageComesBack " + id));
    for (int round = 0; round < 2000; round++) {
      roundTrip(id, Samples.garbage(random, random.nextInt(0, 300)));
    }
  }

  /** More call edges, sites and functions than the tables hold. */
  @ParameterizedTest
  @MethodSource("dev.retstack.schema.chunk.Codecs#ids")
  void manyEdgesComeBack(String id) throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("manyEdgesComeBack " + id));
    roundTrip(id, Samples.garbage(random, 4 * PackedArcs.Edges.EDGES_MAX));
    RecordBatch edges = new RecordBatch(4 * PackedArcs.Edges.EDGES_MAX);
    for (int i = 0; !edges.isFull(); i++) {
      int function = i % (PackedArcs.Edges.EDGES_MAX + 100);
      edges.add(RecordBatch.ENTRY, i, 0, function, 8L * function, 1000, 2000);
    }
    roundTrip(id, edges);
    roundTrip(id, Samples.callTree(random, 100_000, 6000));
  }

  /** Programs as they are: with fields that vary, unknown callers, deep stacks, host time. */
  @ParameterizedTest
  @MethodSource("dev.retstack.schema.chunk.Codecs#ids")
  void damagedCallTreesComeBack(String id) throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("damagedCallTreesComeBack " + id));
    for (int round = 0; round < 300; round++) {
      RecordBatch batch = Samples.callTree(random, random.nextInt(1, 3000), random.nextInt(1, 30));
      Samples.damage(batch, random, random.nextInt(1, 200));
      roundTrip(id, batch);
    }
  }

  /** Calls with values, system calls and marks among them. */
  @ParameterizedTest
  @MethodSource("dev.retstack.schema.chunk.Codecs#ids")
  void otherKindsComeBack(String id) throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("otherKindsComeBack " + id));
    for (int round = 0; round < 300; round++) {
      RecordBatch graph = Samples.callTree(random, random.nextInt(1, 2000), random.nextInt(1, 300));
      roundTrip(id, Samples.withOthers(graph, random, random.nextInt(1, 100)));
      RecordBatch functions = Samples.functions(graph);
      roundTrip(id, functions);
      roundTrip(id, Samples.withOthers(functions, random, random.nextInt(1, 100)));
      if (functions.size() > 0) {
        Samples.damage(functions, random, random.nextInt(1, 100));
        roundTrip(id, functions);
      }
    }
  }

  private static void roundTrip(String id, RecordBatch batch) throws CorruptChunkException {
    ChunkCodec codec = Codecs.byId(id);
    byte[] payload = codec.encode(batch);
    RecordBatch back = new RecordBatch(batch.size());
    codec.decode(payload, batch.size(), back);
    assertThat(back).isEqualTo(batch);
    assertThat(codec.encode(back)).as("canonical").isEqualTo(payload);
  }

  /** The plain codec is what Avro's own writer makes of the schema. */
  @Test
  @SuppressWarnings("EnumOrdinal") // a batch numbers kinds as the schema does
  void recordsAreAvro() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("recordsAreAvro"));
    for (int count : new int[] {0, 1, 100}) {
      RecordBatch batch = Samples.garbage(random, count);
      List<TraceRecord> records = new ArrayList<>();
      for (int i = 0; i < count; i++) {
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
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
      new SpecificDatumWriter<TraceRecords>(TraceRecords.getClassSchema())
          .write(new TraceRecords(records), encoder);
      encoder.flush();
      assertThat(new RecordsCodec().encode(batch)).isEqualTo(out.toByteArray());
    }
  }

  /** The claim of the codec: a record that was predicted costs no bytes. */
  @Test
  void packedIsSmallOnCallTrees() {
    RecordBatch batch = new RecordBatch(16384);
    long time = 0;
    while (!batch.isFull()) {
      batch.add(RecordBatch.ENTRY, time += 20, 0, 0x400100, 0x400005, 0x7fff_0000L, 0x7fff_0010L);
      batch.add(RecordBatch.EXIT, time += 20, 0, 0x400100, 0x400005, 0x7fff_0000L, 0x7fff_0010L);
    }
    assertThat(new PackedCodec().encode(batch).length).isLessThan(200);
  }

  @Test
  void unknownCodecNamesTheKnown() {
    assertThatThrownBy(() -> Codecs.byId("packed9"))
        .isInstanceOf(CorruptChunkException.class)
        .hasMessage("unknown codec 'packed9': this version knows packed, records");
  }
}
