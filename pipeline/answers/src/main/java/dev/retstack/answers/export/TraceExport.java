package dev.retstack.answers.export;

import dev.retstack.graph.check.Count;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallTree;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The formats of other tools in which a trace is exported. A format is a constant here and a class
 * that writes it; the verb, its help and its errors name all constants.
 */
public enum TraceExport {
  /** Lines of Brendan Gregg's flame graph scripts. */
  FOLDED("stacks with self time, for flame graph tools and speedscope", true) {
    @Override
    public Optional<String> write(Calls calls, Options options, OutputStream out)
        throws IOException {
      Writer text = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
      long shortened =
          FoldedExport.write(
              calls.trees(), options.byTask(), !options.sumSessions(), calls.isCut(), text);
      text.flush();
      return shortened == 0
          ? Optional.empty()
          : Optional.of(
              "%s more than %d frames: only the outermost and innermost %d are shown, with %s between"
                  .formatted(
                      Count.grouped(shortened, "stack has", "stacks have"),
                      2 * FoldedExport.ENDS,
                      FoldedExport.ENDS,
                      FoldedExport.LEFT_OUT));
    }
  },

  /** TrackEvent packets of Perfetto. */
  PERFETTO("a protobuf trace that ui.perfetto.dev opens", false) {
    @Override
    public Optional<String> write(Calls calls, Options options, OutputStream out)
        throws IOException {
      PerfettoExport.write(calls.trees(), calls.anomalies().get(), calls.isCut(), out);
      return Optional.empty();
    }
  };

  /**
   * What is exported.
   *
   * @param anomalies made where a format asks for them
   * @param isCut whether the trace was cut off
   */
  public record Calls(List<CallTree> trees, Supplier<List<AnomalyRow>> anomalies, boolean isCut) {
    public Calls {
      trees = List.copyOf(trees);
    }
  }

  /**
   * What the user chose.
   *
   * @param byTask whether stacks begin with the name of the task
   * @param sumSessions whether equal stacks of several sessions are one
   */
  public record Options(boolean byTask, boolean sumSessions) {}

  private final String description;
  private final boolean isOfOneUnit;

  TraceExport(String description, boolean isOfOneUnit) {
    this.description = description;
    this.isOfOneUnit = isOfOneUnit;
  }

  /** True where times are added up: all calls must have one unit of time. */
  public boolean isOfOneUnit() {
    return isOfOneUnit;
  }

  /** Its name on the command line, and what reads it. */
  public String description() {
    return "%s (%s)".formatted(this, description);
  }

  /**
   * Writes a whole file.
   *
   * @return what the user should know of it
   */
  public abstract Optional<String> write(Calls calls, Options options, OutputStream out)
      throws IOException;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
