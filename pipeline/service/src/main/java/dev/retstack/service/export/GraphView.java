package dev.retstack.service.export;

import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallTree;
import dev.retstack.service.table.Rendering;
import java.util.List;

/**
 * Call trees. They are written while they are walked, because they may be larger than the memory.
 */
public final class GraphView {
  private GraphView() {}

  /**
   * Some trees.
   *
   * @param anomalies that text shows where they happened
   * @param maxDepth deepest nesting written
   */
  public static Rendering of(List<CallTree> trees, List<AnomalyRow> anomalies, int maxDepth) {
    return (form, out) -> {
      switch (form) {
        case TEXT -> GraphText.write(trees, anomalies, maxDepth, out);
        case JSON -> GraphJson.write(trees, maxDepth, out);
        case CSV -> GraphCsv.write(trees, maxDepth, out);
      }
    };
  }
}
