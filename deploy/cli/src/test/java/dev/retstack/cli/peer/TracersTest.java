package dev.retstack.cli.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.retstack.answers.export.GraphText;
import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.fleet.core.ImageLayout;
import dev.retstack.fleet.settings.EventRequest;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.fleet.settings.Trigger;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.SystemCallRow;
import dev.retstack.graph.state.GraphState;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Image;
import dev.retstack.schema.record.RecordBatch;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One program twice on the real probe: with the tracer that hijacks returns, and with the one that
 * does not. Both tell of the same functions, the same number of calls, and the same edges. (Not so
 * after a tail call: without a hijack the return address is all there is, and it is the one of who
 * called first.)
 */
class TracersTest {
  @ParameterizedTest
  @CsvSource({
    "zoo-x86_64-fentry, w200",
    "zoo-x86_64-fentry, dispatch",
    "zoo-aarch64-mcount, w200",
    "zoo-riscv64-mcount, w200",
    "zoo-riscv64-mcount, longjmp",
    "zoo-riscv32-mcount, mutual",
    "zoo-s390x-mcount, w200",
    "zoo-s390x-fentry, w200",
    "zoo-ppc64-mcount, w200",
    "zoo-mips-mcount, w200",
    "zoo-arm-thumb-mcount, w200"
  })
  void functionsAndEdgesAreTheSameWithAndWithoutReturns(String name, String program)
      throws Exception {
    LoadedImage image = GuestImages.load(GuestImages.resolve(name));
    Report graph = report(image, Tracer.FUNCTION_GRAPH, program);
    Report function = report(image, Tracer.FUNCTION, program);
    Map<String, Long> calls = calls(graph);
    assertThat(calls(function)).isEqualTo(calls);
    assertThat(edges(function, calls.keySet())).isEqualTo(edges(graph, calls.keySet()));
    assertThat(function.records()).isEqualTo(calls.values().stream().mapToLong(n -> n).sum());
    assertThat(function.stats()).isEmpty();
  }

  /** The program writes its line inside of the function that says hello. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "zoo-x86_64-fentry",
        "zoo-aarch64-mcount",
        "zoo-riscv32-mcount",
        "zoo-s390x-mcount",
        "zoo-mips-mcount"
      })
  void systemCallsHaveTheirNamesAndStandInTheirFunction(String name) throws Exception {
    LoadedImage image = GuestImages.load(GuestImages.resolve(name));
    TraceSettings settings =
        Run.options()
            .trace()
            .withEvents(List.of(EventRequest.parse("syscalls")))
            .withTriggers(List.of(Trigger.parse("run_hello:stacktrace")));
    GraphState state = state(image, settings, "hello");
    assertThat(ReportBuilder.of(state).build().systemCalls())
        .extracting(SystemCallRow::name, SystemCallRow::calls, SystemCallRow::errors)
        .contains(tuple("write", 1L, 0L));
    StringWriter text = new StringWriter();
    GraphText.write(ReportBuilder.of(state).trees(), ReportBuilder.of(state).anomalies(), text);
    assertThat(text.toString())
        .containsPattern("    sys_write\\(1, 0x[0-9a-f]+, \\d+.*\\); /\\* = \\d+ \\*/")
        .contains("/* stacktrace in run_hello */");
  }

  private static Report report(LoadedImage image, Tracer tracer, String program) {
    return ReportBuilder.of(state(image, Run.options().trace().withTracer(tracer), program))
        .build();
  }

  private static GraphState state(LoadedImage image, TraceSettings settings, String program) {
    Run run = Run.of(image, Run.options().withTrace(settings), 1_000_000, core -> {}, program);
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    Image schema = image.toSchema();
    long handlers = ImageLayout.landingPage(image.elf());
    schema.setReturnToHandlerStart(handlers);
    schema.setReturnToHandlerEnd(LandingPage.endOf(handlers, image.isa()));
    GraphState state = new GraphState();
    state.image(ChunkApplier.info(schema));
    RecordBatch records = run.records();
    ChunkMeta meta =
        ChunkMeta.running(0, 0, 0, Long.MAX_VALUE / 2, ClockUnit.INSTRUCTIONS)
            .ending(CoreEnd.HALTED, "", run.instructions());
    state.apply(meta, new CoreKey("s", "c"), schema.getBuildId(), records);
    return state;
  }

  private static Map<String, Long> calls(Report report) {
    return report.functions().stream()
        .collect(Collectors.toMap(f -> f.name() + " " + f.selfPc(), f -> f.calls()));
  }

  /** Edges between traced functions: who called the outermost one is known without a frame only. */
  private static Map<String, Long> edges(Report report, Set<String> traced) {
    Map<String, Long> edges = new TreeMap<>();
    report
        .edges()
        .forEach(
            edge -> {
              String caller = edge.caller() + " " + edge.callerPc();
              if (traced.contains(caller)) {
                edges.put(caller + " > " + edge.callee() + " " + edge.calleePc(), edge.calls());
              }
            });
    return edges;
  }
}
