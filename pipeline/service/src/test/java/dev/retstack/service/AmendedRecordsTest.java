package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.Anomaly;
import dev.retstack.schema.Span;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.publish.DerivedRecords;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

/** What is published of a chunk behind a gap, and how it is withdrawn when the gap closes late. */
class AmendedRecordsTest {
  private static final CoreKey CORE = new CoreKey("s", "core0");

  private final Topics topics = new Topics("late");
  private final DerivedRecords derived =
      new DerivedRecords(topics, 0, OptionalLong.of(0), new Meters().partition(0));

  /** There is room for two functions only: the one that was shown has none once both came. */
  private final GraphState state = new GraphState(GraphLimits.DEFAULT.but().functions(2).build());

  @Test
  void aLateChunkWithdrawsWhatWasToldAndDeletesRows() throws Exception {
    state.image(
        new ImageInfo(
            "feed",
            "os.elf",
            "x86_64",
            new ImageTraits(true, true, 0xf000, 0xff00),
            SymbolTable.EMPTY));
    derived.open(state);
    RecordBatch second = new RecordBatch(8);
    call(second, RecordBatch.ENTRY, 30, 1, 0x1200);
    call(second, RecordBatch.EXIT, 40, 1, 0x1200);
    call(second, RecordBatch.EXIT, 50, 0, 0x1000);
    assertThat(apply(1, 3, second)).isEqualTo(ApplyResult.HELD);
    assertThat(derived.take()).as("before the checkpoint").isEmpty();

    List<ProducerRecord<byte[], byte[]>> held = derived.checkpoint(state, 1, true).get();
    assertThat(of(held, topics.anomalies(), Anomaly.class))
        .extracting(Anomaly::getKind, Anomaly::getChunk, Anomaly::getRevision)
        .contains(tuple("SEQUENCE_GAP", 1L, 0));
    assertThat(of(held, topics.spans(), Span.class))
        .extracting(Span::getSelfpc, Span::getChunk, Span::getRevision)
        .containsExactly(tuple("0x1200", 1L, 0));
    assertThat(rows(held)).containsExactly("s/0/feed/INSTRUCTIONS//1200 written");

    RecordBatch first = new RecordBatch(8);
    call(first, RecordBatch.ENTRY, 10, 0, 0x1000);
    call(first, RecordBatch.ENTRY, 15, 1, 0x1100);
    call(first, RecordBatch.EXIT, 20, 1, 0x1100);
    assertThat(apply(0, 0, first)).isEqualTo(ApplyResult.APPLIED);
    List<ProducerRecord<byte[], byte[]>> late = derived.take();
    assertThat(of(late, topics.anomalies(), Anomaly.class))
        .extracting(Anomaly::getKind, Anomaly::getChunk, Anomaly::getRevision)
        .containsExactly(tuple("AMENDED", 0L, 1));
    assertThat(of(late, topics.spans(), Span.class))
        .extracting(Span::getEnding, Span::getSelfpc, Span::getChunk, Span::getRevision)
        .containsExactly(
            tuple("AMENDED", "0x0", 0L, 1),
            tuple("RETURNED", "0x1100", 0L, 1),
            tuple("RETURNED", "0x1200", 1L, 1),
            tuple("RETURNED", "0x1000", 1L, 1));
    // what is there can wait for its turn, what is gone cannot: the next owner would not know of it
    assertThat(rows(derived.checkpoint(state, 2, false).get()))
        .containsExactly("s/0/feed/INSTRUCTIONS//1200 deleted");
    assertThat(rows(derived.checkpoint(state, 2, true).get()))
        .containsExactlyInAnyOrder(
            "s/0/feed/INSTRUCTIONS//1000 written",
            "s/0/feed/INSTRUCTIONS//1100 written",
            "s/0/feed/INSTRUCTIONS/1000/1100 written");
  }

  private static void call(RecordBatch batch, byte kind, long time, int depth, long self) {
    batch.add(kind, time, depth, self, 0x900, 0x8000 - 0x20L * depth, 0x8000 - 0x20L * depth);
  }

  private ApplyResult apply(long sequence, long before, RecordBatch batch) {
    ChunkMeta meta =
        ChunkMeta.running(
            sequence, before, batch.time[0], batch.time[batch.size() - 1], ClockUnit.INSTRUCTIONS);
    return state.apply(meta, CORE, "feed", batch);
  }

  private static <T extends AvroRecord> List<T> of(
      List<ProducerRecord<byte[], byte[]>> records, String topic, Class<T> type) throws Exception {
    List<T> found = new ArrayList<>();
    for (ProducerRecord<byte[], byte[]> record : records) {
      if (record.topic().equals(topic)) {
        found.add(ConfluentFrame.decode(record.value(), type));
      }
    }
    return found;
  }

  private List<String> rows(List<ProducerRecord<byte[], byte[]>> records) {
    return records.stream()
        .filter(record -> record.topic().equals(topics.profiles()))
        .map(r -> new String(r.key(), UTF_8) + (r.value() == null ? " deleted" : " written"))
        .toList();
  }
}
