package dev.retstack.answers.view;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.stacks.StackNode;
import dev.retstack.graph.stacks.StackReport;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Stacks with what ran in them, as rows of a tree. The widest nodes are shown, by time or calls.
 * What the others in a node add up to is one row there, so that sums are exact however few rows
 * there are.
 */
public final class StacksView {
  /** Nodes of an answer, unless asked for otherwise: less than a megabyte. */
  public static final int NODES = 10_000;

  private static final int INDENT_MAX = 64;

  private static final Table<Row> TABLE =
      new Table<Row>()
          .number("parent", Row::parent)
          .text("function", Row::function)
          .number("calls", Row::calls)
          .number("total", Row::total)
          .number("self", Row::self)
          .text("in", Row::in)
          .onlyText("stack", row -> "  ".repeat(Math.min(row.depth(), INDENT_MAX)) + row.function())
          .headed("CALLS", "TOTAL", "SELF", "STACK=stack");

  /** Callers of a function, with the calls and the time that they brought. */
  private static final Table<Row> CALLERS =
      new Table<Row>()
          .number("parent", Row::parent)
          .text("function", Row::function)
          .number("calls", Row::calls)
          .number("total", Row::total)
          .onlyText(
              "caller", row -> "  ".repeat(Math.min(row.depth(), INDENT_MAX)) + row.function())
          .headed("CALLS", "TOTAL", "CALLED_BY=caller");

  private record Row(
      int parent,
      int depth,
      String function,
      long calls,
      long total,
      long self,
      Optional<String> in) {}

  /** A node whose row is next. */
  private record Next(StackNode node, int parent, int depth) {}

  private StacksView() {}

  /**
   * Stacks of a trace or job.
   *
   * @param top the node of it that is shown with all that stands in it, if it is there
   * @param callers who called the function of that node, where it is asked for
   * @param most nodes that are shown
   */
  public static Document of(
      StackReport report,
      Optional<StackNode> top,
      Optional<StackNode> callers,
      int most,
      Coverage coverage) {
    StackNode all = report.all();
    Set<StackNode> shown = top.map(node -> widest(node, most)).orElse(Set.of());
    long nodes = top.map(node -> node.inOrder().size()).orElse(0);
    Document document = new Document();
    coverage.addTo(document);
    Units.fields(report.units(), document)
        .field("calls", all.callsBelow())
        .field("total", all.total())
        .field("nodes", nodes)
        .field("nodesLeftOut", nodes - shown.size())
        .field("notKept", report.notKept())
        .line(
            "# %s in %s".formatted(Count.of(all.callsBelow(), "call"), Units.name(report.unit())));
    Units.lines(report.units(), document);
    if (report.notKept() > 0) {
      document.line(
          "# %s left out: the trees are full".formatted(Count.of(report.notKept(), "later call")));
    }
    List<Row> rows = top.map(node -> rows(node, shown, StackNode::calls)).orElse(List.of());
    document.columns("stacks", TABLE, rows).csv(TABLE, rows);
    List<Row> by =
        callers
            .map(node -> rows(node, widest(node, most), StackNode::callsBelow))
            .orElse(List.of());
    document.columns("callers", CALLERS, by);
    others(all, rows, by).addTo(document);
    if (callers.isPresent()) {
      document.text(CALLERS, by).gap();
    }
    return document.text(TABLE, rows);
  }

  private static OtherNames others(StackNode all, List<Row> rows, List<Row> by) {
    Set<String> shown =
        Stream.concat(rows.stream(), by.stream()).map(Row::function).collect(Collectors.toSet());
    return new OtherNames()
        .addAll(all.functions().stream().filter(one -> shown.contains(one.shown())).toList());
  }

  /** The nodes that are widest by time or by calls, {@code most} of them. */
  private static Set<StackNode> widest(StackNode all, int most) {
    double time = Math.max(1, all.total());
    double calls = Math.max(1, all.callsBelow());
    PriorityQueue<StackNode> next =
        new PriorityQueue<>(
            Comparator.comparingDouble(
                    (StackNode one) -> Math.max(one.total() / time, one.callsBelow() / calls))
                .reversed());
    Set<StackNode> shown = Collections.newSetFromMap(new IdentityHashMap<>());
    next.add(all);
    while (!next.isEmpty() && shown.size() < most) {
      StackNode node = next.remove();
      shown.add(node);
      next.addAll(node.below());
    }
    return shown;
  }

  /** Each row behind that of the node that it stands in, the widest first. */
  private static List<Row> rows(
      StackNode all, Set<StackNode> shown, ToLongFunction<StackNode> calls) {
    List<Row> rows = new ArrayList<>();
    Deque<Next> todo = new ArrayDeque<>(List.of(new Next(all, -1, 0)));
    while (!todo.isEmpty()) {
      Next next = todo.pop();
      StackNode node = next.node();
      int at = rows.size();
      int depth = next.depth() + 1;
      rows.add(
          new Row(
              next.parent(),
              next.depth(),
              node.name(),
              calls.applyAsLong(node),
              node.total(),
              node.self(),
              Optional.empty()));
      List<StackNode> below = new ArrayList<>(node.below());
      long left = 0;
      long time = 0;
      for (StackNode one : below) {
        left += shown.contains(one) ? 0 : one.callsBelow();
        time += shown.contains(one) ? 0 : one.total();
      }
      if (left > 0 || time > 0) {
        Optional<String> in = Optional.of("%016x".formatted(node.place()));
        rows.add(new Row(at, depth, StackNode.LEFT_OUT, left, time, time, in));
      }
      below.removeIf(one -> !shown.contains(one));
      below.sort(Comparator.comparingLong(StackNode::total)); // the last is popped first
      below.forEach(one -> todo.push(new Next(one, at, depth)));
    }
    return rows;
  }
}
