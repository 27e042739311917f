package dev.retstack.answers.export;

import dev.retstack.answers.table.Line;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.Mark;
import java.io.IOException;
import java.util.List;

/**
 * The call tree in the shape of the kernel's function_graph tracer: time, duration, nested calls;
 * one deeper than 64 says how deep in front. A call that did not simply return says so in a
 * comment; anomalies and losses stand where they were found. A call whose end is unknown has no
 * duration. Arguments stand in the brackets, what was returned behind {@code =}; a function whose
 * return was not seen names its caller behind {@code <-}.
 */
public final class GraphText {
  /** Levels that are indented: a deeper line says its depth, or a recursion fills the disk. */
  private static final int INDENT_MAX = 64;

  private GraphText() {}

  /** Writes all trees, whole. */
  public static void write(List<CallTree> trees, List<AnomalyRow> anomalies, Appendable out)
      throws IOException {
    write(trees, anomalies, Integer.MAX_VALUE, out);
  }

  /**
   * Writes all trees, one after the other.
   *
   * @param maxDepth deepest nesting shown; a call at that depth is shown like one without calls
   */
  public static void write(
      List<CallTree> trees, List<AnomalyRow> anomalies, int maxDepth, Appendable out)
      throws IOException {
    write(trees, _ -> anomalies, maxDepth, out);
  }

  static void write(List<CallTree> trees, GraphView.Found anomalies, int maxDepth, Appendable out)
      throws IOException {
    boolean first = true;
    for (CallTree tree : trees) {
      if (!first) {
        out.append('\n');
      }
      first = false;
      header(tree, out);
      TreeWalk.walk(tree, anomalies.of(tree), maxDepth, new Lines(tree.taskName(), maxDepth, out));
      if (tree.notKept() > 0) {
        Line.write(
            out,
            "# %s counted in the report, beyond the %d kept here"
                .formatted(
                    Count.of(tree.notKept(), "more call is", "more calls are"), tree.kept()));
      }
    }
  }

  private static void header(CallTree tree, Appendable out) throws IOException {
    String unit = Units.column(tree.unit());
    Line.write(
        out,
        "# core %s, task %s, image %s (%s), session %s"
            .formatted(
                tree.core(),
                TaskText.behindTask(tree.taskName()),
                tree.image(),
                tree.isa(),
                tree.session()));
    Line.write(out, "# %10s  %10s |  FUNCTION CALLS".formatted("TIME " + unit, "DUR " + unit));
  }

  /** How a call ended, in the words of all views. */
  static String name(Ending ending) {
    return ending == Ending.TAIL_CALLED ? "TAIL_CALL" : ending.name();
  }

  private record Lines(String task, int maxDepth, Appendable out) implements TreeWalk.Visitor {
    @Override
    public void enter(CallNode call, int depth) throws IOException {
      switch (call.kind()) {
        case CALL -> {
          if (isLeaf(call, depth)) {
            line(call.enter(), duration(call), depth, head(call) + ";" + comment("", call));
          } else {
            line(call.enter(), "", depth, head(call) + " {");
          }
        }
        case FUNCTION ->
            line(
                call.enter(), "", depth, head(call) + "; /* <-" + call.recorded().caller() + " */");
        case SYSTEM_CALL ->
            line(
                call.enter(), duration(call), depth, "sys_" + head(call) + ";" + comment("", call));
        case MARK -> mark(call, depth);
        case INTERRUPT ->
            line(
                call.enter(),
                isLeaf(call, depth) ? duration(call) : "",
                depth,
                isLeaf(call, depth)
                    ? call.function() + ";" + comment("", call)
                    : call.function() + " {");
        case SWITCH -> {
          String until = call.ending() == Ending.RETURNED ? "" : ", until when is unknown";
          line(
              call.enter(),
              duration(call),
              depth,
              "/* " + task + " => " + call.function() + until + " */");
        }
        case LOSS ->
            line(
                call.enter(),
                "",
                depth,
                "/* " + LossText.of(call) + " */" + (isLeaf(call, depth) ? "" : " {"));
      }
    }

    @Override
    public void exit(CallNode call, int depth) throws IOException {
      if (call.kind() == TreeKind.LOSS && !isLeaf(call, depth)) {
        line(call.exit(), "", depth, "} /* what ran besides is unknown */");
      } else if ((call.isCall() || call.kind() == TreeKind.INTERRUPT) && !isLeaf(call, depth)) {
        line(call.exit(), duration(call), depth, "}" + comment(call.function(), call));
      }
    }

    private void mark(CallNode mark, int depth) throws IOException {
      CallNode.Recorded more = mark.recorded();
      String where = more.caller().isEmpty() ? "" : " in " + more.caller();
      String why = more.command() == 0 ? "" : ", command " + more.command();
      line(mark.enter(), "", depth, "/* " + mark.function() + where + why + " */");
      if (mark.function().equals(Mark.STACKTRACE.text())) {
        for (String frame : more.stack()) {
          line(mark.enter(), "", depth, "/*  => " + frame + " */");
        }
      }
    }

    private static String head(CallNode call) {
      return call.function()
          + "("
          + ValueText.list(call.recorded().arguments(), call.recorded().wordBytes())
          + ")";
    }

    /** What there is to say of the end: how, where not by a return, and what was returned. */
    private static String comment(String name, CallNode call) {
      String how = call.ending() == Ending.RETURNED ? "" : name(call.ending());
      how += call.isCall() && call.ending() == Ending.TRUNCATED ? LossText.bounds(call) : "";
      CallNode.Recorded more = call.recorded();
      if (call.kind() == TreeKind.INTERRUPT) {
        return how.isEmpty() ? "" : " /* " + how + " */";
      }
      String value =
          call.isCall()
              ? ValueText.list(more.results(), more.wordBytes())
              : ValueText.result(more.results(), more.wordBytes());
      if (how.isEmpty() && value.isEmpty()) {
        return "";
      }
      String ending = name.isEmpty() || how.isEmpty() ? name + how : name + ": " + how;
      String result = value.isEmpty() ? "" : "= " + value;
      return " /* " + ending + (ending.isEmpty() || result.isEmpty() ? "" : " ") + result + " */";
    }

    @Override
    public void anomaly(AnomalyRow row, int depth) throws IOException {
      if (row.kind() != AnomalyKind.TRUNCATED) { // the calls around it say so
        line(row.time(), "", depth, "/* " + row.kind() + ": " + row.message() + " */");
      }
    }

    private boolean isLeaf(CallNode call, int depth) {
      return call.children().isEmpty() || depth + 1 >= maxDepth;
    }

    private static String duration(CallNode call) {
      return call.ending().finished() ? String.valueOf(call.took()) : "";
    }

    private void line(long time, String duration, int depth, String text) throws IOException {
      String deep = depth > INDENT_MAX ? "/* depth " + depth + " */ " : "";
      String indent = "  ".repeat(Math.min(depth, INDENT_MAX));
      Line.write(out, "  %10d  %10s |  %s".formatted(time, duration, indent + deep + text));
    }
  }
}
