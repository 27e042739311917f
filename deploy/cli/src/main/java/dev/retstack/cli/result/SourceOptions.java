package dev.retstack.cli.result;

import dev.retstack.answers.replay.InvalidTraceException;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.ProgressLine;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.file.CorruptTraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** A recorded trace or a running pipeline: {@code TRACE | --live}. */
public final class SourceOptions {
  private static final int BROKEN_NAMED = 10;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "TRACE",
      description = "A recorded trace, as \"retstack record\" makes it.")
  private Path trace;

  @Option(names = "--live", description = "Ask a running pipeline instead of a trace.")
  private boolean live;

  @Option(
      names = "--session",
      paramLabel = "NAME",
      description =
          "Only cores of this session, of a trace; with --live: give a core or a time too. \"retstack"
              + " cores\" lists the sessions.")
  private String session;

  @Mixin private LiveOptions pipeline;

  @Mixin private SymbolOptions symbols;

  /** True for a running pipeline. */
  public boolean live() {
    return live;
  }

  /** The only session that is meant; null for any. */
  String session() {
    return session;
  }

  /** The trace that the user named; null for a running pipeline. */
  public Path trace() {
    return trace;
  }

  /** Names that come later than the trace. */
  SymbolOptions symbols() {
    return symbols;
  }

  /** What is wrong with what the user gave; null where nothing is. */
  public String problem() {
    if (live && symbols.isGiven()) {
      return "--symbols: a running pipeline has named the functions; give this to retstack pipeline";
    }
    if (live && trace != null) {
      return "give a trace or --live, not both";
    }
    return live || trace != null ? null : "give a trace, or --live for a running pipeline";
  }

  /**
   * Replays the trace, or a window of it.
   *
   * @throws CommandException where the file is not a trace, or was changed
   */
  public GraphState replay(
      GraphState state, Optional<TraceReplay.Window> window, Terminal terminal) {
    return replay(trace, state, window, symbols, terminal);
  }

  /** Replays a trace under these limits; says so where it was cut off. */
  public static GraphState replay(Path file, GraphLimits limits, Terminal terminal) {
    return replay(file, new GraphState(limits), Optional.empty(), new SymbolOptions(), terminal);
  }

  /** Replays a trace, or a window of it, into a new state; says so where it was cut off. */
  static GraphState replay(
      Path file,
      GraphState state,
      Optional<TraceReplay.Window> window,
      SymbolOptions symbols,
      Terminal terminal) {
    GraphState named = state.named(symbols.read());
    try (ProgressLine line = new ProgressLine(terminal)) {
      TraceReplay.Progress progress = line.chunks("replayed");
      TraceReplay.Replayed replayed =
          window.isPresent()
              ? TraceReplay.read(file, named, window.get(), progress)
              : TraceReplay.read(file, named, progress);
      if (replayed.isCut() && replayed.state().images().isEmpty()) {
        throw CommandException.badInput(replayed.notice() + "; record it again");
      }
      if (!replayed.notice().isEmpty()) {
        terminal.note(replayed.notice());
      }
      replayed.state().cores().stream()
          .filter(core -> core.progress().end() == CoreEnd.BROKEN)
          .limit(BROKEN_NAMED)
          .forEach(core -> terminal.note(broken(core, file)));
      symbols.noteNames(replayed.state().images().values(), terminal);
      return replayed.state();
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  /** Replays a window of the running pipeline, whose chunks it gives as a trace. */
  GraphState replayLive(
      GraphState state, WindowOptions window, KafkaOptions kafka, Terminal terminal)
      throws InterruptedException {
    byte[] chunks = pipeline.trace(ofSession(window.parameters()), kafka, terminal);
    try {
      Path file = Files.createTempFile("retstack-window", ".avro");
      try {
        Files.write(file, chunks);
        return replay(file, state, window.counted(), symbols, terminal);
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw CommandException.environment(
          "cannot keep the window in a temporary file: %s; see java.io.tmpdir".formatted(e), e);
    }
  }

  private Map<String, String> ofSession(Map<String, String> parameters) {
    Map<String, String> all = new TreeMap<>(parameters);
    if (session != null) {
      all.put("session", session);
    }
    return all;
  }

  private static String broken(CoreGraph core, Path file) {
    return "core %s is shown up to where it broke, its later chunks are left out: %s; report it with %s"
        .formatted(core.key().core(), core.progress().endDetail(), file);
  }

  /** Why a trace cannot be read: what stands in it, or what the system says of the file. */
  public static CommandException unreadable(Path file, IOException e) {
    return e instanceof CorruptTraceException || e instanceof InvalidTraceException
        ? CommandException.badInput(e.getMessage(), e)
        : FileTrouble.reading(file, e);
  }

  /**
   * Asks the running pipeline.
   *
   * @param resource such as {@code report}
   * @param parameters such as {@code format=text}
   * @throws CommandException where nobody answers, or with an error
   */
  public String ask(
      String resource, Map<String, String> parameters, KafkaOptions kafka, Terminal terminal)
      throws InterruptedException {
    return pipeline.ask(resource, ofSession(parameters), kafka, terminal);
  }
}
