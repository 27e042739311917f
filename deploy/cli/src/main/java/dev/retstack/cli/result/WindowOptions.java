package dev.retstack.cli.result;

import dev.retstack.cli.command.CommandException;
import dev.retstack.graph.state.GraphState;
import dev.retstack.service.replay.TraceReplay;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** Of which core, and of which time: {@code --core C --from T --to T | --at T --window N}. */
public final class WindowOptions {
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

  /** Whether a time of the cores is meant, and not all. */
  boolean isTime() {
    return at != null || first != null || last != null;
  }

  /** What was given, to be named in a message; empty where nothing was. */
  public String given() {
    return core != null ? "--core" : at != null ? "--at" : isTime() ? "--from, --to" : "";
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
  boolean has(String name) {
    return core == null || core.equals(name);
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

  /** Refuses a core that is not there. */
  void require(GraphState state) {
    require(state.summaries().stream().map(known -> known.key().core()).toList());
  }

  /** Refuses a core that is not among these. */
  void require(Collection<String> cores) {
    if (core != null && !cores.contains(core)) {
      throw CommandException.badInput(
          "no core %s in this trace: it has %s"
              .formatted(core, cores.stream().sorted().collect(Collectors.joining(", "))));
    }
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
