package dev.retstack.answers.export;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.view.ReportView;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.ValuesDepth;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.ByteArrayOutputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Functions without a return, values, system calls and marks in every view. */
class OtherRecordsRenderTest {
  private static final long MAIN = 0x1004;
  private static final long WORK = 0x1104;
  private static final long LEAF = 0x1204;
  private static final long OUTSIDE = 0x9000;

  private final RecordBatch batch = new RecordBatch(64);

  /** As a core of 32 bits records it, told to trace system calls and some values. */
  private GraphState state() {
    add(RecordBatch.FUNCTION, 5, 0, MAIN, OUTSIDE, 0, 0);
    add(RecordBatch.MARK, 8, 0, 0, 5, 7, 0);
    add(RecordBatch.ENTRY, 10, 0, MAIN, OUTSIDE, 0x8000, 0);
    add(RecordBatch.VALUES, 10, ValuesDepth.of(0, 2, ValuesDepth.AUTO), 2, 0xffff_8000L, 0, 0);
    add(RecordBatch.ENTRY, 12, 1, WORK, MAIN + 8, 0x7fe0, 0);
    add(RecordBatch.VALUES, 12, ValuesDepth.of(0, 1, ValuesDepth.SIGNED), 0xffff_fff0L, 0, 0, 0);
    add(RecordBatch.SYS_ENTER, 13, 2, 64, WORK + 8, 0, 0);
    add(RecordBatch.VALUES, 13, ValuesDepth.of(0, 3, ValuesDepth.AUTO), 1, 0x4000, 6, 0);
    add(RecordBatch.SYS_EXIT, 15, 2, 64, 6, 0, 0);
    add(RecordBatch.SYS_ENTER, 15, 2, 56, WORK + 8, 0, 0);
    add(RecordBatch.SYS_EXIT, 15, 2, 56, -2, 0, 0);
    add(RecordBatch.FUNCTION, 16, 0, LEAF, WORK + 16, 0, 0);
    add(RecordBatch.MARK, 17, 0, LEAF, 4, 0, 0);
    add(RecordBatch.EXIT, 20, 1, WORK, MAIN + 8, 0x7fe0, 0);
    add(RecordBatch.VALUES, 20, ValuesDepth.of(0, 1, ValuesDepth.ERRNO), 0xffff_ffeaL, 0, 0, 0);
    add(RecordBatch.MARK, 21, 0, 0, 2, 0, 0);
    add(RecordBatch.SYS_ENTER, 22, 1, 4242, MAIN + 8, 0, 0);
    GraphState state = new GraphState();
    state.image(
        new ImageInfo(
            "cafe",
            "fw.elf",
            "riscv32",
            new ImageTraits(false, false, 0, 0),
            SymbolTable.of(
                List.of(
                    new SymbolTable.Symbol("main", 0x1000, 0x100),
                    new SymbolTable.Symbol("work", 0x1100, 0x100),
                    new SymbolTable.Symbol("leaf", 0x1200, 0x100))),
            Integer.BYTES,
            LongList.of(MAIN, WORK, LEAF),
            "generic_32"));
    ChunkMeta meta =
        ChunkMeta.running(0, 0, 5, 22, ClockUnit.INSTRUCTIONS).ending(CoreEnd.HALTED, "", 25);
    state.apply(meta, new CoreKey("s", "fw-0"), "cafe", batch);
    return state;
  }

  private void add(byte kind, long time, int depth, long a, long b, long c, long d) {
    batch.add(kind, time, depth, a, b, c, d);
  }

  @Test
  void textShowsThemWhereTheyHappened() throws Exception {
    StringWriter out = new StringWriter();
    GraphState state = state();
    GraphText.write(ReportBuilder.of(state).trees(), ReportBuilder.of(state).anomalies(), out);
    assertThat(out.toString())
        .isEqualTo(
            """
            # core fw-0, task 0, image fw.elf (riscv32), session s
            #  TIME insn    DUR insn |  FUNCTION CALLS
                       5             |  main(); /* <-0x9000 */
                       8             |  /* settings, command 7 */
                      10             |  main(2, 0xffff8000) {
                      12             |    work(-16) {
                      13           2 |      sys_write(1, 0x4000, 6); /* = 6 */
                      15           0 |      sys_openat(); /* = -2 ENOENT */
                      16             |      leaf(); /* <-work */
                      17             |      /* stacktrace in leaf */
                      17             |      /*  => work */
                      17             |      /*  => main */
                      20           8 |    } /* work = -22 EINVAL */
                      21             |    /* traceoff */
                      22           3 |    sys_4242(); /* ENDED */
                      25          15 |  } /* main: ENDED */
            """);
  }

  @Test
  void jsonHasTheRawValues() throws Exception {
    StringWriter out = new StringWriter();
    GraphJson.write(ReportBuilder.of(state()).trees(), Integer.MAX_VALUE, false, out);
    JsonNode calls = new ObjectMapper().readTree(out.toString()).get(0).get("calls");
    assertThat(calls.get(0).get("kind").asText()).isEqualTo("FUNCTION");
    assertThat(calls.get(0).get("caller").asText()).isEqualTo("0x9000");
    assertThat(calls.get(1).get("command").asLong()).isEqualTo(7);
    JsonNode main = calls.get(2);
    assertThat(main.has("kind")).isFalse();
    assertThat(main.get("arguments").get(1).asText()).isEqualTo("0xffff8000");
    JsonNode work = main.get("children").get(0);
    assertThat(work.get("returns").get(0).asText()).isEqualTo("0xffffffea");
    JsonNode write = work.get("children").get(0);
    assertThat(write.get("kind").asText()).isEqualTo("SYSTEM_CALL");
    assertThat(write.get("function").asText()).isEqualTo("write");
    assertThat(write.get("arguments")).hasSize(3);
    assertThat(work.get("children").get(3).get("stack")).hasSize(2);
  }

  @Test
  void foldedStacksAddUpToTheTimeOfTheOutermostCalls() throws Exception {
    StringWriter out = new StringWriter();
    FoldedExport.write(ReportBuilder.of(state()).trees(), false, true, false, out);
    assertThat(out.toString().lines())
        .containsExactly(
            "fw.elf;main 4",
            "fw.elf;main;sys_4242 3",
            "fw.elf;main;work 6",
            "fw.elf;main;work;sys_write 2");
  }

  @Test
  void csvAndPerfettoNameThem() throws Exception {
    StringWriter csv = new StringWriter();
    GraphCsv.write(ReportBuilder.of(state()).trees(), Integer.MAX_VALUE, false, csv);
    assertThat(csv.toString())
        .contains("fw-0,0,2,write,13,15,RETURNED,SYSTEM_CALL,\"1, 0x4000, 6\",6")
        .contains("fw-0,0,1,work,12,20,RETURNED,CALL,-16,-22 EINVAL");
    ByteArrayOutputStream perfetto = new ByteArrayOutputStream();
    batch.clear();
    PerfettoExport.write(ReportBuilder.of(state()).trees(), List.of(), false, perfetto);
    assertThat(perfetto.toString(StandardCharsets.ISO_8859_1))
        .contains("sys_write", "traceoff", "-22 EINVAL", "1, 0x4000, 6", "work;main");
  }

  @Test
  void theReportCountsSystemCallsAndFunctions() throws Exception {
    assertThat(ReportView.of(ReportBuilder.of(state()).build(), 100).as(Format.TEXT))
        .containsPattern("1 +1 +0 +openat +riscv32")
        .containsPattern("1 +0 +2 +write +riscv32")
        .containsPattern("2 +15 +\\d+ +15.0 +15 +15 +main")
        .containsPattern("1 +0 +0 +0.0 +0 +0 +leaf");
  }
}
