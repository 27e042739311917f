package dev.retstack.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.export.PerfettoExport;
import dev.retstack.answers.question.View;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.control.ControlClient;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Triggers the whole way: a command in the control topic, cores of several ISAs with both probes,
 * chunks through a real broker, the pipeline, and what people are shown.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TriggersEndToEndTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> IMAGES =
      List.of("zoo-x86_64-fentry", "zoo-riscv64-mcount", "zoo-s390x-mcount", "zoo-ppc32-patchable");
  private static final int LIMIT = 3;

  private EmbeddedBroker broker;
  private long wholeRecords;

  @BeforeAll
  void startBroker(@TempDir Path dir) throws Exception {
    broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
  }

  @AfterAll
  void stopBroker() {
    broker.close();
  }

  private interface Look {
    void at(Pipeline pipeline, View view) throws Exception;
  }

  private static List<CoreSpec> cores() {
    List<CoreSpec> cores = new ArrayList<>();
    for (String name : IMAGES) {
      LoadedImage image = GuestImages.load(GuestImages.resolve(name));
      for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.NATIVE)) {
        LinuxOptions linux =
            LinuxOptions.of("zoo").withArguments(List.of("zoo", "dispatch", "100"));
        String core = name + "-" + probe;
        cores.add(new CoreSpec(core, image, CoreOptions.of(linux).withProbe(probe)));
      }
    }
    return cores;
  }

  /** Commands, then a fleet that follows them to its end, then the pipeline. */
  private void run(String prefix, List<List<String>> commands, Look look) throws Exception {
    KafkaLink link = new KafkaLink(KafkaSettings.of(broker.bootstrap()), new Topics(prefix));
    link.ensureTopics();
    try (ControlClient client = link.openCommands()) {
      for (List<String> command : commands) {
        String[] arguments = command.subList(1, command.size()).toArray(String[]::new);
        client.send(FleetWatch.control("all", command.getFirst(), arguments));
      }
    }
    List<CoreSpec> cores = cores();
    try (ChunkSink sink = link.openSink()) {
      List<CoreResult> results =
          Fleet.run(cores, FleetOptions.standard(), sink, FleetListener.NONE, link.openControl());
      assertThat(results).hasSameSizeAs(cores).allMatch(CoreResult::ok);
    }
    PipelineConfig config =
        PipelineConfig.of(link.settings())
            .but()
            .topics(link.topics())
            .groupId(prefix + "-test")
            .partitions(KafkaLink.PARTITIONS)
            .build();
    try (Pipeline pipeline = PipelineService.start(config)) {
      pipeline.awaitCoresEnded(cores.size()).toCompletableFuture().get(2, TimeUnit.MINUTES);
      look.at(pipeline, pipeline.view().toCompletableFuture().get(1, TimeUnit.MINUTES));
    }
  }

  /** A mark, the open calls around it from the innermost one on, and what comes after it. */
  private record Marked(CallNode mark, List<String> around, Optional<CallNode> next) {}

  private static List<Marked> marks(CallTree tree) {
    List<Marked> marks = new ArrayList<>();
    marks(tree.roots(), List.of(), marks);
    return marks;
  }

  private static void marks(List<CallNode> calls, List<String> around, List<Marked> to) {
    for (int i = 0; i < calls.size(); i++) {
      CallNode call = calls.get(i);
      if (call.kind() == TreeKind.MARK) {
        Optional<CallNode> next =
            i + 1 < calls.size() ? Optional.of(calls.get(i + 1)) : Optional.empty();
        to.add(new Marked(call, around, next));
      }
      List<String> inside = new ArrayList<>();
      inside.add(call.function());
      inside.addAll(around);
      marks(call.children(), inside, to);
    }
  }

  @Test
  void aStackTraceShowsTheOpenCallsInTreeAndExports() throws Exception {
    run(
        "stacks",
        List.of(List.of("set-trigger", "dispatch_rotate:stacktrace:" + LIMIT)),
        (pipeline, view) -> {
          List<CallTree> trees = view.trees();
          assertThat(trees).hasSize(2 * IMAGES.size());
          for (CallTree tree : trees) {
            List<Marked> marks = marks(tree);
            assertThat(marks).as(tree.core()).hasSize(LIMIT);
            for (Marked marked : marks) {
              assertThat(marked.mark().function()).isEqualTo("stacktrace");
              assertThat(marked.mark().recorded().caller()).isEqualTo("dispatch_rotate");
              assertThat(marked.mark().recorded().stack())
                  .isEqualTo(marked.around())
                  .last()
                  .isEqualTo("run_dispatch");
              assertThat(marked.next().orElseThrow().function()).isEqualTo("dispatch_rotate");
              assertThat(marked.next().orElseThrow().enter()).isEqualTo(marked.mark().enter());
            }
          }
          String http = pipeline.httpUri().toString();
          for (CoreSpec core : cores()) {
            Ran text = graph(http, core, "text");
            assertThat(text.out())
                .contains("/* stacktrace in dispatch_rotate */", "/*  => run_dispatch */");
            JsonNode json = JSON.readTree(graph(http, core, "json").out());
            assertThat(json.findValues("stack")).hasSize(LIMIT);
            assertThat(json.findValues("stack").getFirst().toString()).contains("run_dispatch");
            assertThat(graph(http, core, "csv").out()).contains(",MARK,");
          }
          ByteArrayOutputStream perfetto = new ByteArrayOutputStream();
          PerfettoExport.write(trees, view.anomalies(), false, perfetto);
          assertThat(perfetto.toString(StandardCharsets.ISO_8859_1))
              .contains("stacktrace", ";run_dispatch");
          assertThat(report(view).stats()).noneMatch(row -> row.stat() == Stat.LOST_RECORDS);
        });
  }

  private static Ran graph(String http, CoreSpec core, String format) {
    return Ran.well("graph", "--live", "--http", http, "--core", core.name(), "--format", format);
  }

  private static Report report(View view) {
    return view.report(Optional.empty(), false);
  }

  /** What is missing is counted to the last record: with it all cores recorded the same. */
  @Test
  void aSnapshotStandsInTheTreeBehindALossOfTheExactNumber() throws Exception {
    run("whole", List.of(), (_, view) -> wholeRecords = report(view).records());
    run(
        "snapshots",
        List.of(
            List.of("set-flight-recorder", "50"),
            List.of("set-trigger", "dispatch_twice:snapshot:" + LIMIT)),
        (pipeline, view) -> {
          int cores = 2 * IMAGES.size();
          for (CallTree tree : view.trees()) {
            List<Marked> marks = marks(tree);
            assertThat(marks).as(tree.core()).hasSize(LIMIT);
            for (Marked marked : marks) {
              assertThat(marked.mark().function()).isEqualTo("snapshot");
              assertThat(marked.mark().recorded().caller()).isEqualTo("dispatch_twice");
            }
          }
          Report report = report(view);
          long marks = (long) cores * LIMIT;
          long lost =
              report.stats().stream()
                  .filter(row -> row.stat() == Stat.LOST_RECORDS)
                  .mapToLong(row -> row.count())
                  .sum();
          assertThat(lost).isPositive();
          assertThat(report.records() + lost).isEqualTo(wholeRecords + marks);
          String http = pipeline.httpUri().toString();
          for (CoreSpec core : cores()) {
            assertThat(graph(http, core, "text").out())
                .contains("/* snapshot in dispatch_twice */")
                .containsPattern("/\\* LOST: \\d+ records");
          }
        });
  }
}
