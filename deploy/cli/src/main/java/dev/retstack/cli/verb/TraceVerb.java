package dev.retstack.cli.verb;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.fleet.NameFiles;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.cli.trace.FleetCommandRules;
import dev.retstack.fleet.settings.Order;
import dev.retstack.graph.check.Count;
import dev.retstack.schema.Control;
import dev.retstack.service.control.AnswerSheet;
import dev.retstack.service.control.AnswerTable;
import dev.retstack.service.control.ControlClient;
import dev.retstack.service.control.ControlLog;
import dev.retstack.service.kafka.KafkaUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack trace}: changes what running fleets trace. */
@Command(
    name = "trace",
    description = {
      "Change what the cores of running fleets trace, and show what each of them did.",
      "  set-filter PATTERN...           only these functions; none = all",
      "  set-notrace PATTERN...          not these functions",
      "  set-graph-function PATTERN...   only these and what they call",
      "  set-graph-notrace PATTERN...    neither these nor what they call",
      "  set-max-depth N, set-min-duration N, set-tracer nop|function|function_graph",
      "  set-trigger FUNCTION:ACTION[:LIMIT]..., set-arguments NAME@arg1,arg2/x...,",
      "  set-returns NAME/d..., set-events syscalls[:NAME,...],",
      "  set-flight-recorder RECORDS",
      "  set-tasks TASK...               only calls of these tasks: numbers, or names",
      "                                  with --task-variable or --task-switch",
      "  set-notasks TASK...             not calls of these tasks",
      "  on, off, reset, snapshot, status, log",
      "A set- command replaces what was set before. PATTERN is a name, 'vfs_*',"
          + " '/regex/', 0x8000-0x8fff, section:NAME, image:NAME or @FILE. log shows every"
          + " command so far.",
      "A command also counts for cores that start later, until a reset.",
      "Exit codes: 0 all of them did it, 1 one refused or did not answer in time, 3 no"
          + " such command, 4 nobody answered. For example: retstack trace set-filter 'vfs_*'"
          + " --target isa=riscv64"
    },
    footer = "  retstack trace log --format csv")
public final class TraceVerb extends Verb {
  private static final String LOG = "log";

  @Parameters(index = "0", paramLabel = "COMMAND", description = "What to do; see above.")
  private String name;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "ARG",
      description = "What to set. @FILE takes the words of a file, in which # begins a comment.")
  private final List<String> arguments = new ArrayList<>();

  @Option(
      names = "--target",
      defaultValue = "all",
      paramLabel = "SELECTOR",
      description =
          "Which cores: all (default), core=NAME, isa=NAME, image=NAME, label.KEY=VALUE."
              + " Names may have wildcards, isa=arm|mips selects either, and with commas all"
              + " conditions must hold.")
  private String target;

  @Option(
      names = "--deadline-ms",
      defaultValue = "10000",
      paramLabel = "MS",
      description = "A core that cannot do it in this time refuses (default: ${DEFAULT-VALUE}).")
  private long deadlineMs;

  @Option(
      names = "--issuer",
      paramLabel = "NAME",
      description = "Who gives the command, for the log (default: user@host).")
  private String issuer;

  @Mixin private FormatOption format;

  @Mixin private KafkaOptions kafka;

  @Override
  protected int run() throws IOException, InterruptedException {
    try {
      return name.equals(LOG) ? log() : give();
    } catch (KafkaUnavailableException e) {
      throw CommandException.environment(e.getMessage(), e);
    }
  }

  private int log() throws IOException, InterruptedException {
    if (!arguments.isEmpty()) {
      throw usage("log takes no arguments: leave %s out".formatted(arguments));
    }
    KafkaLink link = link();
    ControlLog log = ControlClient.log(link.settings(), link.topics());
    Output.write(out(), format.format(), log.document());
    return ExitCode.OK;
  }

  private KafkaLink link() throws InterruptedException {
    KafkaLink link = kafka.link(terminal());
    link.ensureTopics();
    return link;
  }

  private int give() throws IOException, InterruptedException {
    if (deadlineMs < 1) {
      throw usage("--deadline-ms %d: give 1 or more".formatted(deadlineMs));
    }
    Control control = control();
    try (ControlClient client = link().openCommands()) {
      long now = System.currentTimeMillis();
      control.setIssuedAt(now);
      control.setDeadline(now + deadlineMs);
      client.send(control);
      return show(control, client.await(control.getId(), Duration.ofMillis(deadlineMs)));
    }
  }

  /** The command, found to make sense. */
  private Control control() {
    try {
      return new FleetCommandRules()
          .command(target, name, NameFiles.expand(arguments))
          .setId(UUID.randomUUID().toString())
          .setIssuer(issuer == null ? userAtHost() : issuer)
          .build();
    } catch (IllegalArgumentException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
  }

  private String userAtHost() {
    String host = terminal().variable("HOSTNAME");
    return System.getProperty("user.name") + (host == null ? "" : "@" + host);
  }

  private int show(Control control, AnswerSheet sheet) throws IOException {
    if (sheet.fleets() == 0) {
      throw CommandException.environment(
          "nobody answered within %d ms: is a fleet running on this cluster, under prefix %s?"
              .formatted(deadlineMs, kafka.link(terminal()).topics().prefix()));
    }
    boolean settings = control.getName().equals(Order.STATUS.name());
    Output.write(out(), format.format(), AnswerTable.document(sheet.cores(), settings));
    if (sheet.cores().isEmpty()) {
      sheet.refusals().forEach(this::note);
    }
    if (sheet.missing() > 0) {
      note(
          "%s did not answer within %d ms"
              .formatted(Count.of(sheet.missing(), "core"), deadlineMs));
    }
    return sheet.isAllApplied() ? ExitCode.OK : ExitCode.FINDINGS;
  }
}
