package dev.retstack.answers.export;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.view.ReportView;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.record.RecordBatch;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two tasks and an interrupt, as they are shown. */
class ContextRenderTest {
  private static final long BLOCK = 0x9000;

  @Test
  void aTaskSwitchAndAnInterruptStandWhereTheyHappened() throws IOException {
    GraphState state = state();
    StringBuilder text = new StringBuilder();
    GraphText.write(ReportBuilder.of(state).trees(), List.of(), text);
    assertThat(text.toString())
        .isEqualTo(
            """
            # core core0, task 0, image os.elf (x86_64), session s
            #  TIME insn    DUR insn |  FUNCTION CALLS
                      10             |  main() {
                      20          30 |    /* task 0 => blocks+0x40 */
                      60             |    interrupt 32 {
                      62           3 |      tick();
                      70          10 |    }
                      80          40 |  }

            # core core0, task blocks+0x40, image os.elf (x86_64), session s
            #  TIME insn    DUR insn |  FUNCTION CALLS
                      30          10 |  work();
            """);
  }

  @Test
  void tasksAndInterruptsHaveRowsInTheReport() throws IOException {
    assertThat(
            ReportView.of(ReportBuilder.of(state()).build(), 100)
                .as(Format.TEXT)
                .lines()
                .map(line -> line.strip().replaceAll(" +", " ")))
        .contains(
            "CALLS OPEN UNWOUND ENDED RAN SWITCHES TASK STATE CORE COMPLETE",
            "1 0 0 0 30 1 task 0 live core0 100.00 %",
            "1 0 0 0 30 0 blocks+0x40 live core0 100.00 %",
            "COUNT TOTAL MAX INTERRUPT CORE",
            "1 10 10 32 core0");
    assertThat(ReportView.of(ReportBuilder.of(state()).build(), 100).as(Format.JSON))
        .contains("\"tasks\"", "blocks+0x40", "\"interrupts\"");
  }

  @Test
  void aTaskIsAsCompleteAsItCertainlyIs() throws IOException {
    GraphState state = state();
    RecordBatch batch = new RecordBatch(2);
    batch.add(RecordBatch.TASK, 112, 0, 0x77, 2, 0x6000, 0);
    call(batch, RecordBatch.ENTRY, 120, 0x1100);
    state.apply(
        ChunkMeta.running(2, 15, 110, 120, ClockUnit.INSTRUCTIONS),
        new CoreKey("s", "core0"),
        "feed",
        batch);
    String json = ReportView.of(ReportBuilder.of(state).build(), 100).as(Format.JSON);
    JsonNode tasks = new ObjectMapper().readTree(json).get("tasks");
    assertThat(tasks).hasSize(3);
    for (JsonNode task : tasks) {
      boolean later = task.get("task").asText().equals("0x77"); // began behind the loss
      assertThat(task.get("mayMiss").asLong()).isEqualTo(later ? 0 : 5);
      assertThat(task.has("losses")).isEqualTo(!later);
    }
    assertThat(tasks.get(1).get("records").asLong()).isEqualTo(3);
    assertThat(tasks.get(1).get("completeness").asDouble()).isEqualTo(37.5);
    assertThat(tasks.get(1).get("losses").get(0).get("fromChunk").asLong()).isEqualTo(1);
  }

  private static GraphState state() {
    SymbolTable symbols =
        SymbolTable.of(
            List.of(
                new SymbolTable.Symbol("main", 0x1000, 0x100),
                new SymbolTable.Symbol("work", 0x1100, 0x100),
                new SymbolTable.Symbol("tick", 0x1200, 0x100)));
    SymbolTable objects = SymbolTable.of(List.of(new SymbolTable.Symbol("blocks", BLOCK, 0x100)));
    ImageInfo image =
        new ImageInfo(
            "feed",
            "os.elf",
            "x86_64",
            new ImageTraits(true, true, 0xf000, 0xff00),
            symbols,
            Long.BYTES,
            LongList.of(),
            "",
            objects);
    RecordBatch batch = new RecordBatch(16);
    call(batch, RecordBatch.ENTRY, 10, 0x1000);
    batch.add(RecordBatch.TASK, 20, 0, BLOCK + 0x40, 2, 0x7000, 0);
    call(batch, RecordBatch.ENTRY, 30, 0x1100);
    call(batch, RecordBatch.EXIT, 40, 0x1100);
    batch.add(RecordBatch.TASK, 50, 1, 0, 1, 0x8000, 0);
    batch.add(RecordBatch.INTERRUPT_ENTER, 60, 1, 32, 0x1010, 0x8000, 0);
    call(batch, RecordBatch.ENTRY, 62, 0x1200);
    call(batch, RecordBatch.EXIT, 65, 0x1200);
    batch.add(RecordBatch.INTERRUPT_EXIT, 70, 0, 32, 0x1010, 0, 0);
    call(batch, RecordBatch.EXIT, 80, 0x1000);
    GraphState state = new GraphState();
    state.image(image);
    state.apply(
        ChunkMeta.running(0, 0, 10, 80, ClockUnit.INSTRUCTIONS),
        new CoreKey("s", "core0"),
        "feed",
        batch);
    return state;
  }

  private static void call(RecordBatch batch, byte kind, long time, long self) {
    batch.add(kind, time, 0, self, 0x900, 0x8000 - self, 0x40);
  }
}
