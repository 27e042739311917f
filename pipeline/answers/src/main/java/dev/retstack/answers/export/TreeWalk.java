package dev.retstack.answers.export;

import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.tree.TreeKind;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Walks a call tree in the order of time, with the anomalies of the same core at their place. It
 * uses no thread stack, so depth has no limit.
 */
final class TreeWalk {
  /** Hears what happens, in order. */
  interface Visitor {
    /** A call begins; {@code depth} calls are open around it. */
    void enter(CallNode call, int depth) throws IOException;

    /** A call ends, or nothing more is known of it. */
    void exit(CallNode call, int depth) throws IOException;

    /**
     * Something was found while {@code depth} calls were open; losses that the tree has are not.
     */
    void anomaly(AnomalyRow anomaly, int depth) throws IOException;
  }

  private record Open(CallNode call, Iterator<CallNode> children) {
    Open(CallNode call) {
      this(call, call.children().iterator());
    }
  }

  private final Visitor visitor;
  private final int maxDepth;
  private final Deque<Open> open = new ArrayDeque<>();
  private final Iterator<AnomalyRow> anomalies;
  private AnomalyRow nextAnomaly;

  private TreeWalk(List<AnomalyRow> anomalies, int maxDepth, Visitor visitor) {
    this.visitor = visitor;
    this.maxDepth = maxDepth;
    this.anomalies = anomalies.iterator();
    advanceAnomaly();
  }

  /**
   * Walks one tree.
   *
   * @param anomalies of any cores; those of the tree's core and task are taken
   * @param maxDepth calls at this depth or deeper are left out
   */
  static void walk(CallTree tree, List<AnomalyRow> anomalies, int maxDepth, Visitor visitor)
      throws IOException {
    List<AnomalyRow> own =
        anomalies.stream()
            .filter(
                row ->
                    row.core().equals(tree.core())
                        && row.session().equals(tree.session())
                        && row.task() == tree.task()
                        && row.instance() == tree.instance())
            .filter(notIn(losses(tree, maxDepth)))
            .sorted(Comparator.comparingLong(AnomalyRow::time))
            .toList();
    new TreeWalk(own, maxDepth, visitor).run(tree);
  }

  /** A loss that is shown: its time and its records. */
  private record Shown(long time, long records) {}

  private static Set<Shown> losses(CallTree tree, int maxDepth) {
    Set<Shown> shown = new HashSet<>();
    Deque<Iterator<CallNode>> open = new ArrayDeque<>();
    open.push(tree.roots().iterator());
    while (!open.isEmpty()) {
      if (!open.element().hasNext()) {
        open.pop();
        continue;
      }
      CallNode node = open.element().next();
      if (node.kind() == TreeKind.LOSS) {
        shown.add(new Shown(node.loss().until(), node.loss().records()));
      }
      if (open.size() < maxDepth) {
        open.push(node.children().iterator());
      }
    }
    return shown;
  }

  private static Predicate<AnomalyRow> notIn(Set<Shown> losses) {
    return row ->
        !(row.kind() == AnomalyKind.LOST || row.kind() == AnomalyKind.SEQUENCE_GAP)
            || !losses.contains(new Shown(row.time(), row.count()));
  }

  /** Whether records are missing at this place. */
  static boolean isLoss(AnomalyKind kind) {
    return kind == AnomalyKind.LOST
        || kind == AnomalyKind.SEQUENCE_GAP
        || kind == AnomalyKind.TRUNCATED;
  }

  private void run(CallTree tree) throws IOException {
    for (CallNode root : tree.roots()) {
      enter(root);
      while (!open.isEmpty()) {
        Open top = open.peek();
        if (top.children().hasNext()) {
          enter(top.children().next());
        } else {
          exit(top.call());
        }
      }
    }
    tellAnomaliesBefore(Long.MAX_VALUE);
  }

  private void enter(CallNode call) throws IOException {
    if (open.size() < maxDepth) {
      tellAnomaliesBefore(call.enter());
      tellLossesAt(call.enter());
      visitor.enter(call, open.size());
      open.push(new Open(call));
    }
  }

  private void exit(CallNode call) throws IOException {
    tellAnomaliesBefore(call.exit());
    open.pop();
    visitor.exit(call, open.size());
  }

  /** What was found at the very time of an event was found because of it, and stands after it. */
  private void tellAnomaliesBefore(long time) throws IOException {
    while (nextAnomaly != null && nextAnomaly.time() < time) {
      visitor.anomaly(nextAnomaly, open.size());
      advanceAnomaly();
    }
  }

  /** A loss has the time of the first record after it, and stands before the call that began so. */
  private void tellLossesAt(long time) throws IOException {
    while (nextAnomaly != null && nextAnomaly.time() == time && isLoss(nextAnomaly.kind())) {
      visitor.anomaly(nextAnomaly, open.size());
      advanceAnomaly();
    }
  }

  private void advanceAnomaly() {
    nextAnomaly = anomalies.hasNext() ? anomalies.next() : null;
  }
}
