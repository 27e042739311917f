package dev.retstack.service.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.Anomaly;
import dev.retstack.schema.Span;
import dev.retstack.schema.avro.AvroRecord;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.metrics.Meters;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

/** What is published of tasks, interrupts and losses. */
class DerivedRecordsTest {
  private static final long TASK = 0xffff_8000_0000_9040L;

  private final Topics topics = Topics.standard();
  private final DerivedRecords derived =
      new DerivedRecords(topics, 0, OptionalLong.of(0), new Meters().partition(0));
  private final RecordBatch batch = new RecordBatch(32);

  @Test
  void spansTellTaskAndInterruptAndWhatIsMissingInThem() throws CorruptChunkException {
    call(RecordBatch.ENTRY, 10, 0, 0x1000);
    call(RecordBatch.ENTRY, 12, 1, 0x1100);
    batch.add(RecordBatch.TASK, 20, 0, TASK, TaskEvent.STARTED.code(), 0x7000, 0);
    call(RecordBatch.ENTRY, 30, 0, 0x1200);
    call(RecordBatch.EXIT, 40, 0, 0x1200);
    batch.add(RecordBatch.TASK, 50, 2, 0, TaskEvent.SWITCHED.code(), 0x8000, 0);
    batch.add(RecordBatch.INTERRUPT_ENTER, 60, 2, 32, 0x1010, 0x8000, 0);
    call(RecordBatch.ENTRY, 62, 0, 0x1300);
    call(RecordBatch.EXIT, 65, 0, 0x1300);
    batch.add(RecordBatch.INTERRUPT_EXIT, 70, 0, 32, 0x1010, 0, 0);
    call(RecordBatch.ENTRY, 71, 2, 0x1300);
    batch.add(RecordBatch.LOST, 80, 0, 1, 0, 0, 0);
    call(RecordBatch.EXIT, 80, 2, 0x1300);
    call(RecordBatch.EXIT, 85, 1, 0x1100);
    call(RecordBatch.EXIT, 90, 0, 0x1000);
    apply();
    assertThat(taken(topics.spans(), Span.class))
        .extracting(Span::getFunction, Span::getTaskId, Span::getInterrupt, Span::getLost)
        .containsExactly(
            tuple("work", SymbolTable.hex(TASK), false, 0L),
            tuple("tick", "0x0", true, 0L),
            tuple("main", "0x0", false, 1L));
  }

  @Test
  void spansNameTheTaskWhereItIsNotTheFirst() throws CorruptChunkException {
    call(RecordBatch.ENTRY, 10, 0, 0x1000);
    call(RecordBatch.EXIT, 15, 0, 0x1000);
    batch.add(RecordBatch.TASK, 20, 0, TASK, TaskEvent.STARTED.code(), 0x7000, 0);
    call(RecordBatch.ENTRY, 30, 0, 0x1200);
    call(RecordBatch.EXIT, 40, 0, 0x1200);
    apply();
    assertThat(taken(topics.spans(), Span.class))
        .extracting(Span::getTaskName)
        .containsExactly("", "blocks+0x40");
  }

  @Test
  void anomaliesTellCallerCauseAndCure() throws CorruptChunkException {
    call(RecordBatch.ENTRY, 10, 0, 0x1000);
    call(RecordBatch.ENTRY, 12, 1, 0x1100);
    batch.add(RecordBatch.EXIT, 15, 1, 0x1100, 0x900, 0x8000 - 0x20, 0x666);
    apply();
    AnomalyKind kind = AnomalyKind.FRAME_POINTER_MISMATCH;
    assertThat(taken(topics.anomalies(), Anomaly.class))
        .extracting(Anomaly::getKind, Anomaly::getCaller, Anomaly::getCause, Anomaly::getCure)
        .containsExactly(tuple(kind.name(), "main", kind.cause(), kind.cure()));
  }

  private void call(byte kind, long time, int depth, long self) {
    batch.add(kind, time, depth, self, 0x900, 0x8000 - 0x20L * depth, 0x8000 - 0x20L * depth);
  }

  private void apply() {
    SymbolTable symbols =
        SymbolTable.of(
            List.of(
                new SymbolTable.Symbol("main", 0x1000, 0x100),
                new SymbolTable.Symbol("a", 0x1100, 0x100),
                new SymbolTable.Symbol("work", 0x1200, 0x100),
                new SymbolTable.Symbol("tick", 0x1300, 0x100)));
    SymbolTable objects =
        SymbolTable.of(List.of(new SymbolTable.Symbol("blocks", TASK - 0x40, 0x100)));
    GraphState state = new GraphState();
    state.image(
        new ImageInfo(
            "feed",
            "os.elf",
            "x86_64",
            new ImageTraits(true, true, 0xf000, 0xff00),
            symbols,
            Long.BYTES,
            LongList.of(),
            "",
            objects));
    state.events(derived);
    state.apply(
        ChunkMeta.running(0, 0, 10, 90, ClockUnit.INSTRUCTIONS),
        new CoreKey("s", "core0"),
        "feed",
        batch);
  }

  private <T extends AvroRecord> List<T> taken(String topic, Class<T> type)
      throws CorruptChunkException {
    List<T> records = new ArrayList<>();
    for (ProducerRecord<byte[], byte[]> record : derived.take()) {
      if (record.topic().equals(topic)) {
        records.add(ConfluentFrame.decode(record.value(), type));
      }
    }
    return records;
  }
}
