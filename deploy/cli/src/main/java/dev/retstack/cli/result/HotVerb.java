package dev.retstack.cli.result;

import com.fasterxml.jackson.databind.JsonNode;
import dev.retstack.answers.replay.HotReplay;
import dev.retstack.answers.view.HotView;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.ProgressLine;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.hot.HotCores;
import dev.retstack.graph.hot.HotCount;
import dev.retstack.graph.hot.HotCounter;
import dev.retstack.graph.hot.HotProfile;
import dev.retstack.graph.hot.HotRow;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.Grouping;
import dev.retstack.service.transfer.HotTopics;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack hot}: the most-called addresses. */
@Command(
    name = "hot",
    description = {
      "Show which functions are called most.",
      "Each has its hits and its share of all hits (of 1024). Two ways to count:",
      "  --seed-table  the small table that firmware keeps in its counting function:",
      "                few entries, hits that decay, the last is replaced (default)",
      "  --exact       every call is counted",
      "The result is of all cores together; --per-core shows each. The table of all cores"
          + " is the sum of theirs."
    },
    footer = {
      "  retstack record --image zoo-riscv64-mcount -o hot.avro",
      "  retstack hot hot.avro --top 5",
      "  retstack hot hot.avro --exact --per-core --ignore 0x100000-0x1000ff --format csv"
    })
public final class HotVerb extends Verb {
  /** Options that say how to count, which a running pipeline has done already. */
  private static final List<String> OF_COUNTERS =
      List.of("--ignore", "--width", "--entries", "--increment", "--no-decay");

  @Mixin private SourceOptions source;

  @Option(names = "--seed-table", description = "The table of the firmware (default).")
  private boolean seedTable;

  @Option(names = "--exact", description = "Count every call.")
  private boolean exact;

  @Option(
      names = "--top",
      defaultValue = "30",
      paramLabel = "N",
      description = "Number of addresses shown (default: ${DEFAULT-VALUE}).")
  private int top;

  @Option(names = "--per-core", description = "Show each core separately.")
  private boolean perCore;

  @Option(
      names = "--from-kafka",
      description =
          "Count what is in the events topic now, instead of a trace. Both ways of counting"
              + " work, and the fleet may still run.")
  private boolean fromKafka;

  @Option(
      names = "--sum-sessions",
      description = "Count several sessions together (default: each has a table).")
  private boolean sumSessions;

  private boolean cut;

  @Mixin private HotTableOptions table;
  @Mixin private FormatOption format;
  @Mixin private KafkaOptions kafka;

  @Override
  protected int run() throws Exception {
    boolean other = source.live() || source.trace() != null;
    if (fromKafka && other) {
      throw usage("give one of a trace, --live and --from-kafka");
    }
    if (fromKafka && source.session() != null) {
      throw usage("--session: of a trace; --from-kafka counts all sessions of the topic");
    }
    if (!fromKafka && source.problem() != null) {
      throw usage(source.problem() + ", or --from-kafka for what is in its topic");
    }
    if (seedTable && exact) {
      throw usage("--seed-table and --exact exclude each other");
    }
    if (top < 1) {
      throw usage("--top " + top + ": use 1 or more");
    }
    show(source.live() ? live() : counted());
    return ExitCode.OK;
  }

  private List<HotProfile> counted() throws InterruptedException {
    HotCounter.Kind kind = exact ? HotCounter.Kind.EXACT : HotCounter.Kind.SEED_TABLE;
    HotCores cores;
    try {
      cores = new HotCores(kind, table.settings());
    } catch (IllegalArgumentException e) {
      throw usage(e.getMessage());
    }
    if (fromKafka) {
      count(cores);
    } else {
      count(source.trace(), cores);
    }
    source.symbols().noteNames(cores.images(), terminal());
    return perCore ? cores.cores() : cores.merged(sumSessions);
  }

  private void count(HotCores cores) throws InterruptedException {
    KafkaLink link = kafka.link(terminal());
    try (ProgressLine line = new ProgressLine(terminal())) {
      HotTopics.Counted counted =
          HotTopics.read(
              link.settings(),
              link.topics(),
              cores,
              source.symbols().read(),
              line.chunks("counted"));
      if (counted.refused() > 0) {
        note(
            Count.grouped(counted.refused(), "record")
                + " of the topics left out, since unreadable");
      }
    } catch (IOException e) {
      throw CommandException.environment(FileTrouble.words(e), e);
    }
  }

  private void count(Path trace, HotCores cores) {
    try {
      WindowOptions window = new WindowOptions().of(source.session());
      Set<CoreKey> seen = new HashSet<>();
      HotReplay.Read read =
          HotReplay.read(
              trace,
              core -> {
                seen.add(core);
                return window.has(core);
              },
              cores,
              source.symbols().read());
      String notice = read.notice();
      cut = read.cut();
      window.require(seen);
      if (!notice.isEmpty() && cores.cores().isEmpty()) {
        throw CommandException.badInput(notice + "; record it again");
      }
      if (!notice.isEmpty()) {
        note(notice);
      }
    } catch (IOException e) {
      throw SourceOptions.unreadable(trace, e);
    }
  }

  /** The running pipeline counts every call per function: no table, no bounds, no cores. */
  private List<HotProfile> live() throws IOException, InterruptedException {
    boolean shaped =
        OF_COUNTERS.stream().anyMatch(spec().commandLine().getParseResult()::hasMatchedOption);
    if (seedTable || perCore || shaped) {
      throw usage(
          "a running pipeline has the exact counts of all cores only: use --exact; --from-kafka"
              + " counts in both ways, from the topic itself");
    }
    Map<String, String> which = Map.of("format", "json", "rows", Grouping.BY_IMAGE.text());
    JsonNode report = LiveOptions.read(source.ask("report", which, kafka, terminal()));
    long calls = 0;
    for (JsonNode function : report.path("functions")) {
      calls += function.path("calls").asLong();
    }
    List<HotRow> rows = new ArrayList<>();
    for (JsonNode function : report.path("functions")) {
      long hits = function.path("calls").asLong();
      long address =
          Long.parseUnsignedLong(function.path("address").asText("0x0").substring(2), 16);
      rows.add(
          new HotRow(
              function.path("name").asText(),
              function.path("image").asText(),
              function.path("isa").asText(),
              new HotCount(address, hits, HotCount.ratio(hits, calls))));
    }
    rows.sort(Comparator.<HotRow>comparingLong(row -> row.count().hits()).reversed());
    long lost = report.path("lost").asLong();
    long untraced = report.path("untraced").asLong();
    return List.of(new HotProfile("", "", calls, lost, untraced, calls, 0, rows));
  }

  private void show(List<HotProfile> all) throws IOException {
    List<HotProfile> profiles = all.stream().map(profile -> profile.top(top)).toList();
    Output.write(out(), format.format(), HotView.of(profiles, cut));
  }
}
