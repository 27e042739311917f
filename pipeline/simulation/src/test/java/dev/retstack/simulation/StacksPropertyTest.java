package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.export.FoldedExport;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.TaskChoice;
import dev.retstack.graph.report.UnitGroups;
import dev.retstack.graph.stacks.StackNode;
import dev.retstack.graph.stacks.StackReport;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.wire.Visible;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Stacks that calls were added to as they ended are those of the complete call trees. */
class StacksPropertyTest {
  private static final UnitGroups.Choice UNITS = new UnitGroups().choose(Optional.empty());

  private static final int CALLS = 1 << 22;

  @Test
  void stacksAreThoseOfTheCompleteCallTree() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          boolean contexts = random.nextBoolean();
          GraphState complete = state(GraphLimits.DEFAULT.withTreeCallsPerCore(CALLS));
          GraphState folded = state(GraphLimits.DEFAULT.withStacks(32 << random.nextInt(12)));
          Faults faults = random.nextInt(4) == 0 ? Faults.none(seed) : Faults.any(random);
          List<ModelCore> cores =
              contexts ? ContextPropertyTest.cores(random) : Cores.any(random, 3, 20);
          for (ModelCore core : cores) {
            for (ModelChunk chunk : faults.deliver(core, 40).chunks()) {
              Subject.of(complete).apply(chunk);
              Subject.of(folded).apply(chunk);
            }
          }
          same(folded, complete);
        });
  }

  private static GraphState state(GraphLimits limits) {
    return new GraphState(limits);
  }

  private static void same(GraphState folded, GraphState complete) {
    List<CallTree> trees = ReportBuilder.of(complete).trees();
    for (boolean byTask : new boolean[] {false, true}) {
      StackNode.Apart apart = byTask ? StackNode.Apart.TASK : StackNode.Apart.NONE;
      StackNode all = StackReport.of(folded.cores(), UNITS, TaskChoice.ALL, apart, true).all();
      StackNode whole = StackReport.of(complete.cores(), UNITS, TaskChoice.ALL, apart, true).all();
      assertThat(lines(whole, byTask)).isEqualTo(exported(trees, byTask));
      assertThat(whole.callsBelow()).isEqualTo(calls(trees));
      assertThat(all.callsBelow()).isEqualTo(whole.callsBelow());
      assertThat(all.total()).isEqualTo(whole.total());
      oneFunction(whole);
      if (all.inOrder().stream().noneMatch(one -> one.node().isLeftOut())) {
        assertThat(lines(all, byTask)).isEqualTo(lines(whole, byTask));
        assertThat(counts(all)).isEqualTo(counts(whole));
      }
    }
  }

  /** The calls of a function as one, as a walk through all nodes finds them. */
  private static void oneFunction(StackNode all) {
    List<StackNode.Placed> nodes = all.inOrder();
    String function = nodes.getLast().node().name();
    Map<String, List<Long>> callers = new TreeMap<>();
    long below = 0;
    for (StackNode.Placed placed : nodes.subList(1, nodes.size())) {
      StackNode node = placed.node();
      assertThat(all.at(node.place())).containsSame(node);
      StringBuilder path = new StringBuilder();
      boolean isOutermost = node.name().equals(function);
      for (int at = placed.parent(); at > 0; at = nodes.get(at).parent()) {
        path.append(nodes.get(at).node().name()).append(';');
        isOutermost &= !nodes.get(at).node().name().equals(function);
      }
      if (isOutermost) {
        callers.merge(
            path.toString(),
            List.of(node.calls(), node.total()),
            (one, other) -> List.of(one.get(0) + other.get(0), one.get(1) + other.get(1)));
        below += node.callsBelow();
      }
    }
    StackNode callees = all.callees(function);
    assertThat(callees.callsBelow()).isEqualTo(below);
    assertThat(List.of(callees.calls(), callees.total()))
        .isEqualTo(
            List.of(
                callers.values().stream().mapToLong(List::getFirst).sum(),
                callers.values().stream().mapToLong(List::getLast).sum()));
    callers.values().removeIf(List.of(0L, 0L)::equals); // a loss in which nothing ran
    assertThat(brought(all.callers(function), "")).isEqualTo(callers);
  }

  private static Map<String, List<Long>> brought(StackNode caller, String path) {
    Map<String, List<Long>> all = new TreeMap<>();
    if (caller.calls() > 0 || caller.self() > 0) {
      all.put(path, List.of(caller.calls(), caller.self()));
    }
    caller.below().forEach(one -> all.putAll(brought(one, path + one.name() + ';')));
    return all;
  }

  private static List<List<Object>> counts(StackNode all) {
    List<List<Object>> counts = new ArrayList<>();
    for (StackNode.Placed one : all.inOrder()) {
      StackNode node = one.node();
      counts.add(List.of(one.parent(), node.name(), node.calls(), node.self(), node.total()));
    }
    return counts;
  }

  private static long calls(List<CallTree> trees) {
    long calls = 0;
    Deque<CallNode> todo = new ArrayDeque<>();
    trees.forEach(tree -> todo.addAll(tree.roots()));
    while (!todo.isEmpty()) {
      CallNode call = todo.remove();
      calls +=
          switch (call.kind()) {
            case CALL, FUNCTION, SYSTEM_CALL, INTERRUPT -> 1;
            case LOSS, MARK, SWITCH -> 0;
          };
      todo.addAll(call.children());
    }
    return calls;
  }

  /** Self time by stack. */
  private static Map<String, Long> lines(StackNode all, boolean byTask) {
    Map<String, Long> lines = new TreeMap<>();
    List<StackNode.Placed> nodes = all.inOrder();
    List<List<String>> paths = new ArrayList<>();
    for (StackNode.Placed placed : nodes) {
      List<String> path = new ArrayList<>();
      if (placed.parent() >= 0) {
        path.addAll(paths.get(placed.parent()));
        path.add(Visible.line(placed.node().name()).replace(';', ':'));
      }
      paths.add(path);
      path = new ArrayList<>(path);
      path.add(Math.min(path.size(), byTask ? 1 : 0), ModelCore.image().name());
      if (placed.node().self() > 0) {
        lines.merge(shortened(path), placed.node().self(), Long::sum);
      }
    }
    return lines;
  }

  private static String shortened(List<String> path) {
    int size = path.size();
    return size <= 2 * FoldedExport.ENDS
        ? String.join(";", path)
        : String.join(";", path.subList(0, FoldedExport.ENDS))
            + ";"
            + FoldedExport.LEFT_OUT
            + ";"
            + String.join(";", path.subList(size - FoldedExport.ENDS, size));
  }

  private static Map<String, Long> exported(List<CallTree> trees, boolean byTask) {
    StringBuilder text = new StringBuilder();
    try {
      FoldedExport.write(trees, byTask, true, false, text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Map<String, Long> lines = new TreeMap<>();
    text.toString()
        .lines()
        .forEach(
            line -> {
              int end = line.lastIndexOf(' ');
              lines.merge(
                  line.substring(0, end), Long.parseLong(line.substring(end + 1)), Long::sum);
            });
    return lines;
  }
}
