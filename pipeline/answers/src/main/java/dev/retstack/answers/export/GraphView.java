package dev.retstack.answers.export;

import dev.retstack.answers.table.CutOff;
import dev.retstack.answers.table.Line;
import dev.retstack.answers.table.Rendering;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallTree;
import java.util.List;

/**
 * Call trees. They are written while they are walked, because they may be larger than the memory.
 */
public final class GraphView {
  private GraphView() {}

  /** What was found in the core of a tree. */
  public interface Found {
    /** Anomalies of the core, and others. */
    List<AnomalyRow> of(CallTree tree);
  }

  /**
   * Some trees.
   *
   * @param anomalies that text shows where they happened
   * @param maxDepth deepest nesting written
   * @param cut whether they are of a trace that was cut off
   */
  public static Rendering of(
      List<CallTree> trees, List<AnomalyRow> anomalies, int maxDepth, boolean cut) {
    return of(trees, _ -> anomalies, maxDepth, cut);
  }

  /** Renders call trees with anomalies that are looked up tree by tree. */
  public static Rendering of(List<CallTree> trees, Found anomalies, int maxDepth, boolean cut) {
    return (form, out) -> {
      switch (form) {
        case TEXT -> {
          if (cut) {
            Line.write(out, CutOff.LINE);
          }
          GraphText.write(trees, anomalies, maxDepth, out);
        }
        case JSON -> GraphJson.write(trees, maxDepth, cut, out);
        case CSV -> GraphCsv.write(trees, maxDepth, cut, out);
      }
    };
  }
}
