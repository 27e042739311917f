package dev.retstack.answers.export;

import dev.retstack.answers.table.Line;
import dev.retstack.graph.check.AnomalyMessage;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.totals.ContextKey;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.wire.Visible;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Stacks with their self time, one per line, the input of flame graph tools: {@code image;main;fib
 * 42}. Equal stacks of all cores are one line. The sum of all lines is the time of the outermost
 * calls. A call cut off by a loss has no self time; its callees keep theirs. Time after a loss in
 * which it is unknown what ran belongs to a frame {@code [unknown]}. A stack of more than 128
 * frames keeps its outermost and innermost 64, so that the output grows only with the calls.
 */
public final class FoldedExport {
  /** Stands for the frames between the outermost and the innermost of a stack. */
  public static final String LEFT_OUT = "[frames left out]";

  /**
   * Frames of a stack shown at each of its ends; a recursion would be a line per call and frame.
   */
  public static final int ENDS = 64;

  /** Shortened lines gathered at once. */
  private static final long CHARACTERS_MAX = 16L << 20;

  private FoldedExport() {}

  /**
   * Writes all stacks that have self time, sorted; those of more than twice {@link #ENDS} frames
   * come last, without their middle.
   *
   * @param byTask whether the name of the task is the outermost frame; interrupts stand in one
   *     frame of that name beside the tasks then, and not in what they interrupted
   * @param apart whether stacks of several sessions stand apart: the image says which
   * @param cut whether their trace was cut off: the first line says so, and has no time
   * @return stacks that were shortened
   */
  public static long write(
      List<CallTree> trees, boolean byTask, boolean apart, boolean cut, Appendable out)
      throws IOException {
    if (cut) {
      Line.write(out, "[%s] 0".formatted(AnomalyMessage.CUT));
    }
    Stack root = new Stack("");
    SessionNames names =
        apart ? SessionNames.of(trees.stream().map(CallTree::session)) : new SessionNames(false);
    for (CallTree tree : trees) {
      String image = names.name(tree.image(), tree.session());
      Stack own = (byTask ? root.below(tree.taskName()) : root).below(image);
      Adder adder =
          byTask
              ? new Adder(own, () -> root.below(ContextKey.INTERRUPTS_NAME).below(image))
              : new Adder(own);
      TreeWalk.walk(tree, List.of(), Integer.MAX_VALUE, adder);
    }
    return new Lines(out).write(root);
  }

  private static final class Stack {
    final String frame;
    final Map<String, Stack> below = new TreeMap<>();
    long self;

    Stack(String frame) {
      this.frame = frame;
    }

    Stack below(String function) {
      return below.computeIfAbsent(Visible.line(function).replace(';', ':'), Stack::new);
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

  /** Writes the stacks of a tree, and counts those that were shortened. */
  private static final class Lines {
    private final Appendable out;
    private final List<Stack> path = new ArrayList<>();

    /** Lines without their middle: those that are alike now are one. */
    private final Map<String, Long> shortened = new TreeMap<>();

    private long characters;
    private long count;

    Lines(Appendable out) {
      this.out = out;
    }

    long write(Stack root) throws IOException {
      Deque<Iterator<Stack>> open = new ArrayDeque<>();
      open.push(root.below.values().iterator());
      while (!open.isEmpty()) {
        if (!open.element().hasNext()) {
          open.pop();
          if (!path.isEmpty()) {
            path.removeLast();
          }
          continue;
        }
        Stack stack = open.element().next();
        path.add(stack);
        if (stack.self > 0) {
          line(stack.self);
        }
        open.push(stack.below.values().iterator());
      }
      flush();
      return count;
    }

    private void line(long self) throws IOException {
      if (path.size() <= 2 * ENDS) {
        line(frames(path), self);
        return;
      }
      count++;
      String line =
          String.join(
              ";",
              frames(path.subList(0, ENDS)),
              LEFT_OUT,
              frames(path.subList(path.size() - ENDS, path.size())));
      characters += shortened.merge(line, self, Long::sum) == self ? line.length() : 0;
      if (characters > CHARACTERS_MAX) {
        flush(); // a line may be written twice: readers of this format add them up
      }
    }

    private void flush() throws IOException {
      for (Map.Entry<String, Long> line : shortened.entrySet()) {
        line(line.getKey(), line.getValue());
      }
      shortened.clear();
      characters = 0;
    }

    private void line(String stack, long self) throws IOException {
      Line.write(out, "%s %d".formatted(stack, self));
    }

    private static String frames(List<Stack> stacks) {
      return stacks.stream().map(stack -> stack.frame).collect(Collectors.joining(";"));
    }
  }
}
