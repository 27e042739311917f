package dev.retstack.cli;

import dev.retstack.cli.bench.BenchVerb;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.result.AnomaliesVerb;
import dev.retstack.cli.result.CoresVerb;
import dev.retstack.cli.result.CoverageVerb;
import dev.retstack.cli.result.ExportVerb;
import dev.retstack.cli.result.GraphVerb;
import dev.retstack.cli.result.HotVerb;
import dev.retstack.cli.result.ReplayVerb;
import dev.retstack.cli.result.ReportVerb;
import dev.retstack.cli.result.ViewVerb;
import dev.retstack.cli.top.TopVerb;
import dev.retstack.cli.verb.BrokerVerb;
import dev.retstack.cli.verb.CompletionVerb;
import dev.retstack.cli.verb.CutVerb;
import dev.retstack.cli.verb.DeadLettersVerb;
import dev.retstack.cli.verb.DemoVerb;
import dev.retstack.cli.verb.DoctorVerb;
import dev.retstack.cli.verb.EmulateVerb;
import dev.retstack.cli.verb.FleetVerb;
import dev.retstack.cli.verb.IndexVerb;
import dev.retstack.cli.verb.IsaVerb;
import dev.retstack.cli.verb.MergeVerb;
import dev.retstack.cli.verb.PipelineVerb;
import dev.retstack.cli.verb.RecordVerb;
import dev.retstack.cli.verb.SitesVerb;
import dev.retstack.cli.verb.TraceVerb;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command without a verb: the list of verbs, in the order in which a user meets them. */
@Command(
    name = "retstack",
    versionProvider = Version.class,
    synopsisSubcommandLabel = "VERB",
    description =
        "Function-graph tracing of fleets of emulated cores: what was called, by whom, for"
            + " how long, on which core, and which code corrupts its own frames.",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    commandListHeading = "%nVerbs:%n",
    footerHeading = "%nExample:%n",
    footer = {
      "  retstack demo",
      "",
      "\"retstack VERB --help\" explains a verb.",
      "Exit codes: 0 done, 1 findings, if asked to fail on them, 2 usage,",
      "3 bad input, 4 something on this machine is missing."
    })
public final class Retstack implements Callable<Integer>, Supplier<Terminal> {
  /** All verbs, in this order. */
  static final List<Class<?>> VERBS =
      List.of(
          DemoVerb.class,
          RecordVerb.class,
          ReplayVerb.class,
          GraphVerb.class,
          ReportVerb.class,
          CoresVerb.class,
          HotVerb.class,
          CoverageVerb.class,
          AnomaliesVerb.class,
          ViewVerb.class,
          ExportVerb.class,
          CutVerb.class,
          MergeVerb.class,
          IndexVerb.class,
          BrokerVerb.class,
          EmulateVerb.class,
          FleetVerb.class,
          PipelineVerb.class,
          TopVerb.class,
          TraceVerb.class,
          DeadLettersVerb.class,
          IsaVerb.class,
          SitesVerb.class,
          DoctorVerb.class,
          BenchVerb.class,
          CompletionVerb.class);

  private final Terminal terminal;
  @Spec private CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help.")
  @SuppressWarnings("UnusedVariable") // picocli acts on it
  private boolean help;

  @Option(
      names = {"-V", "--version"},
      versionHelp = true,
      description = "Show the version.")
  @SuppressWarnings("UnusedVariable") // picocli acts on it
  private boolean version;

  Retstack(Terminal terminal) {
    this.terminal = terminal;
  }

  /** Where all verbs speak. */
  @Override
  public Terminal get() {
    return terminal;
  }

  @Override
  public Integer call() {
    throw new ParameterException(spec.commandLine(), "name a verb");
  }
}
