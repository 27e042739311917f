package dev.retstack.service.export;

import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import java.io.IOException;
import java.util.List;

/** Calls as RFC 4180 text, one line each in the order of their entries; depth tells the nesting. */
public final class GraphCsv {
  private GraphCsv() {}

  /**
   * Writes a head line and one line per call.
   *
   * @param maxDepth deepest nesting written
   */
  public static void write(List<CallTree> trees, int maxDepth, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line(
        "core",
        "task",
        "depth",
        "function",
        "enter",
        "exit",
        "ending",
        "kind",
        "arguments",
        "results");
    for (CallTree tree : trees) {
      TreeWalk.walk(tree, List.of(), maxDepth, new Lines(tree, csv));
    }
  }

  private record Lines(CallTree tree, Csv csv) implements TreeWalk.Visitor {
    @Override
    public void enter(CallNode call, int depth) throws IOException {
      csv.line(
          tree.core(),
          tree.task(),
          depth,
          call.function(),
          call.enter(),
          call.ending().finished() ? call.exit() : "",
          call.ending(),
          call.kind(),
          ValueText.list(call.recorded().arguments(), call.recorded().wordBytes()),
          ValueText.list(call.recorded().results(), call.recorded().wordBytes()));
    }

    @Override
    public void exit(CallNode call, int depth) {}

    @Override
    public void anomaly(AnomalyRow anomaly, int depth) {}
  }
}
