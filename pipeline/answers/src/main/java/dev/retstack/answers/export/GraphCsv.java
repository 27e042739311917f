package dev.retstack.answers.export;

import dev.retstack.answers.table.Csv;
import dev.retstack.graph.check.AnomalyMessage;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * Calls as RFC 4180 text, one line each in the order of their entries; depth shows the nesting. A
 * loss is a line of kind LOSS whose arguments say how many records are missing and which. Calls
 * that a loss cut off have bounds of their duration. A line of kind NOT_KEPT says in its arguments
 * how many later calls of the core have no line, since its trees have no room for them. The last
 * columns name the task and the interrupt of the line. Where there are several sessions, the name
 * of a core says which.
 */
public final class GraphCsv {
  private GraphCsv() {}

  /**
   * Writes a head line and one line per call.
   *
   * @param maxDepth deepest nesting written
   * @param cut whether their trace was cut off: a last line of kind CUT says so
   */
  public static void write(List<CallTree> trees, int maxDepth, boolean cut, Appendable out)
      throws IOException {
    Csv csv = new Csv(out);
    SessionNames names =
        SessionNames.of(ReportBuilder.Trees.heads(trees).stream().map(CallTree::session));
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
        "results",
        "atLeast",
        "atMost",
        "taskName",
        "interrupt");
    for (CallTree tree : trees) {
      TreeWalk.walk(
          tree,
          List.of(),
          maxDepth,
          new Lines(tree, names.name(tree.core(), tree.session()), csv, new ArrayDeque<>()));
      if (tree.notKept() > 0) {
        csv.line(
            names.name(tree.core(), tree.session()),
            "",
            0,
            "",
            "",
            "",
            "",
            "NOT_KEPT",
            tree.notKept(),
            "",
            "",
            "",
            "",
            "");
      }
    }
    if (cut) {
      csv.line("", "", 0, "", "", "", "", "CUT", AnomalyMessage.CUT, "", "", "", "", "");
    }
  }

  private record Lines(CallTree tree, String core, Csv csv, Deque<CallNode> interrupts)
      implements TreeWalk.Visitor {
    @Override
    public void enter(CallNode call, int depth) throws IOException {
      boolean cut = call.isCall() && call.ending() == Ending.TRUNCATED;
      boolean loss = call.kind() == TreeKind.LOSS;
      if (call.kind() == TreeKind.INTERRUPT) {
        interrupts.push(call);
      }
      csv.line(
          core,
          Long.toUnsignedString(tree.task()),
          depth,
          call.function(),
          call.enter(),
          call.ending().finished() ? call.exit() : "",
          call.ending(),
          call.kind(),
          loss
              ? call.loss().records() + ", " + LossText.place(call.loss())
              : ValueText.list(call.recorded().arguments(), call.recorded().wordBytes()),
          ValueText.list(call.recorded().results(), call.recorded().wordBytes()),
          cut ? call.exit() - call.enter() : "",
          cut && call.deadBy() >= 0 ? call.deadBy() - call.enter() : "",
          tree.taskName(),
          interrupts.isEmpty() ? "" : interrupts.element().selfPc());
    }

    @Override
    public void exit(CallNode call, int depth) {
      if (call.kind() == TreeKind.INTERRUPT) {
        interrupts.pop();
      }
    }

    @Override
    public void anomaly(AnomalyRow anomaly, int depth) {}
  }
}
