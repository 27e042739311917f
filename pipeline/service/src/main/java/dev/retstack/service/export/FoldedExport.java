package dev.retstack.service.export;

import dev.retstack.graph.aggregate.ContextKey;
import dev.retstack.graph.aggregate.TreeKind;
import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Stacks with their self time, one per line, the input of flame graph tools: {@code image;main;fib
 * 42}. Equal stacks of all cores are one line. The sum of all lines is the time of the outermost
 * calls; a call cut off by a loss has no time of its own, what it called keeps its. Time after a
 * loss in which it is unknown what ran is that of a frame {@code [unknown]}.
 */
public final class FoldedExport {
  private FoldedExport() {}

  /** Writes all stacks that have time of their own, sorted. */
  public static void write(List<CallTree> trees, Appendable out) throws IOException {
    write(trees, false, out);
  }

  /**
   * Writes all stacks that have time of their own, sorted.
   *
   * @param byTask whether the name of the task is the outermost frame; interrupts stand in one
   *     frame of that name beside the tasks then, and not in what they interrupted
   */
  public static void write(List<CallTree> trees, boolean byTask, Appendable out)
      throws IOException {
    Stack root = new Stack("");
    for (CallTree tree : trees) {
      Stack own = (byTask ? root.below(tree.taskName()) : root).below(tree.image());
      Adder adder =
          byTask
              ? new Adder(own, () -> root.below(ContextKey.INTERRUPTS_NAME).below(tree.image()))
              : new Adder(own);
      TreeWalk.walk(tree, List.of(), Integer.MAX_VALUE, adder);
    }
    write(root, out);
  }

  private static final class Stack {
    final String frame;
    final Map<String, Stack> below = new TreeMap<>();
    long self;

    Stack(String frame) {
      this.frame = frame;
    }

    Stack below(String function) {
      return below.computeIfAbsent(function.replace(';', ':'), Stack::new);
    }
  }

  private static final class Adder implements TreeWalk.Visitor {
    private final Deque<Stack> open = new ArrayDeque<>();

    /** Where interrupts begin; empty where it is in what they interrupted. */
    private final Optional<Supplier<Stack>> interrupts;

    Adder(Stack image) {
      this.interrupts = Optional.empty();
      open.push(image);
    }

    Adder(Stack image, Supplier<Stack> interrupts) {
      this.interrupts = Optional.of(interrupts);
      open.push(image);
    }

    @Override
    public void enter(CallNode call, int depth) {
      if (!hasTime(call)) {
        return;
      }
      boolean apart = call.kind() == TreeKind.INTERRUPT && interrupts.isPresent();
      Stack around = apart ? interrupts.get().get() : open.element();
      open.push(around.below(frame(call)));
    }

    private static String frame(CallNode call) {
      if (call.kind() == TreeKind.LOSS) {
        return PerfettoExport.UNKNOWN;
      }
      boolean system = call.kind() == TreeKind.SYSTEM_CALL;
      return system ? "sys_" + call.function() : call.function();
    }

    private static boolean hasTime(CallNode node) {
      return node.kind() == TreeKind.CALL
          || node.kind() == TreeKind.SYSTEM_CALL
          || node.kind() == TreeKind.INTERRUPT
          || node.kind() == TreeKind.LOSS;
    }

    @Override
    public void exit(CallNode call, int depth) {
      if (!hasTime(call)) {
        return;
      }
      Stack stack = open.pop();
      if (call.ending() != Ending.TRUNCATED) {
        long below = 0;
        for (CallNode child : call.children()) {
          boolean own = hasTime(child) && child.kind() != TreeKind.INTERRUPT;
          below += own ? child.ran() : 0;
        }
        stack.self += Math.max(0, call.ran() - below);
      }
    }

    @Override
    public void anomaly(AnomalyRow anomaly, int depth) {}
  }

  private record Cursor(Iterator<Stack> next, int length) {}

  private static void write(Stack root, Appendable out) throws IOException {
    StringBuilder path = new StringBuilder();
    Deque<Cursor> open = new ArrayDeque<>();
    open.push(new Cursor(root.below.values().iterator(), 0));
    while (!open.isEmpty()) {
      Cursor top = open.element();
      path.setLength(top.length());
      if (!top.next().hasNext()) {
        open.pop();
        continue;
      }
      Stack stack = top.next().next();
      path.append(path.isEmpty() ? "" : ";").append(stack.frame);
      if (stack.self > 0) {
        out.append(path).append(' ').append(String.valueOf(stack.self)).append('\n');
      }
      open.push(new Cursor(stack.below.values().iterator(), path.length()));
    }
  }
}
