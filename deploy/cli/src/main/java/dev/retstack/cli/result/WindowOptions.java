package dev.retstack.cli.result;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.command.CommandException;
import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.state.GraphState;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** A core and a time: {@code --core C --from T --to T | --at T --window N}. */
public final class WindowOptions {
  private String session;

  @Option(names = "--core", paramLabel = "NAME", description = "Show only this core.")
  private String core;

  @Option(
      names = "--at",
      paramLabel = "T",
      description =
          "Show what was open at this time of the cores, in their unit. Of a trace, only the"
              + " chunks around it are read; a pipeline reads them from Kafka again.")
  private Long at;

  @Option(
      names = "--window",
      defaultValue = "0",
      paramLabel = "N",
      description = "With --at: also show what was within N before and after it.")
  private long around;

  @Option(
      names = "--from",
      paramLabel = "T",
      description = "Show the calls that had not ended before this time (default: the beginning).")
  private Long first;

  @Option(
      names = "--to",
      paramLabel = "T",
      description = "Show the calls that had begun by this time (default: the end).")
  private Long last;

  /** Only cores of this session are meant; null for any. */
  public WindowOptions of(String onlySession) {
    session = onlySession;
    return this;
  }

  /** Whether a time of the cores is meant, and not all. */
  boolean isTime() {
    return at != null || first != null || last != null;
  }

  /** What was given, to be named in a message; empty where nothing was. */
  public String given() {
    if (core != null) {
      return "--core";
    }
    if (isTime()) {
      return at != null ? "--at" : "--from, --to";
    }
    return session != null ? "--session" : "";
  }

  /** First time that is meant. */
  long from() {
    if (at != null) {
      return Math.max(0, at - around);
    }
    return first == null ? 0 : first;
  }

  /** Last time that is meant. */
  long to() {
    if (at != null) {
      return at > Long.MAX_VALUE - around ? Long.MAX_VALUE : at + around;
    }
    return last == null ? Long.MAX_VALUE : last;
  }

  /** Whether this core is meant. */
  boolean has(CoreKey key) {
    return (core == null || core.equals(key.core()))
        && (session == null || session.equals(key.session()));
  }

  /** Whether this time is meant. */
  boolean has(long time) {
    return time >= from() && time <= to();
  }

  /** What is wrong with what the user gave; empty where nothing is. */
  public String problem() {
    if (at == null && around != 0) {
      return "--window %d needs a time: give --at".formatted(around);
    }
    if (at != null && (first != null || last != null)) {
      return "give --at, or --from and --to, not both";
    }
    return from() > to() ? "--from %d is behind --to %d".formatted(from(), to()) : "";
  }

  /** What is read of a trace, where calls count with their time in it; empty: all. */
  Optional<TraceReplay.Window> counted() {
    return given().isEmpty() ? Optional.empty() : Optional.of(window(true));
  }

  /** What is read of a trace to show whole calls; empty: all. */
  Optional<TraceReplay.Window> shown() {
    return isTime() ? Optional.of(window(false)) : Optional.empty();
  }

  /** The core and the time that are meant. */
  public TraceReplay.Window window() {
    return window(false);
  }

  private TraceReplay.Window window(boolean counts) {
    return new TraceReplay.Window(this::has, from(), to(), counts);
  }

  /** Refuses a core or a session that is not there. */
  void require(GraphState state) {
    require(state.summaries().stream().map(CoreSummary::key).toList());
  }

  /** Refuses a core or a session that is not among these. */
  void require(Collection<CoreKey> cores) {
    if (session != null && cores.stream().noneMatch(key -> session.equals(key.session()))) {
      throw CommandException.badInput(
          "no session %s in this trace: it has %s"
              .formatted(session, names(cores.stream().map(CoreKey::session))));
    }
    if (core != null && cores.stream().noneMatch(this::has)) {
      SessionNames shown = SessionNames.of(cores.stream().map(CoreKey::session));
      throw CommandException.badInput(
          "no core %s in this trace: it has %s"
              .formatted(
                  new SessionNames(session != null).name(core, session == null ? "" : session),
                  names(cores.stream().map(shown::name))));
    }
  }

  private static String names(Stream<String> all) {
    return all.distinct().sorted().collect(Collectors.joining(", "));
  }

  /** Parameters of a pipeline's answer. */
  public Map<String, String> parameters() {
    Map<String, String> parameters = new TreeMap<>();
    if (at != null || first != null) {
      parameters.put("from", String.valueOf(from()));
    }
    if (at != null || last != null) {
      parameters.put("to", String.valueOf(to()));
    }
    if (core != null) {
      parameters.put("core", core);
    }
    return parameters;
  }
}
