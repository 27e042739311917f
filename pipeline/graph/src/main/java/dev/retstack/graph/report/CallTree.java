package dev.retstack.graph.report;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.report.CallNode.Recorded;
import dev.retstack.graph.symbol.SourceLine;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.RecordedValues;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.schema.record.Mark;
import dev.retstack.schema.record.SignalContext;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The calls of one task of one core as they were nested. After a tail call the new function stands
 * beside the one that called it, since that one had ended.
 *
 * @param task id of the task, as its records say; 0 for the core's first
 * @param instance which of the tasks of that id, from 1
 * @param taskName as {@link CoreGraph#taskName}
 * @param roots outermost calls, and what happened beside them
 * @param kept rows in the trees of the core
 * @param notKept further calls, beyond the limit per core; in the last tree of the core
 */
public record CallTree(
    String session,
    String core,
    long task,
    int instance,
    String taskName,
    String image,
    String isa,
    ClockUnit unit,
    List<CallNode> roots,
    long kept,
    long notKept) {

  private record Task(long id, int instance) {}

  private record Copied(CallNode node, Consumer<CallNode> into) {}

  /**
   * What happened in a time: all calls that had begun by its end and not ended before its
   * beginning.
   *
   * @param from first time, in the unit of the core
   * @param to last time; the same as {@code from} for the calls that were open then
   */
  public CallTree within(long from, long to) {
    List<CallNode> chosen = new ArrayList<>();
    Deque<Copied> todo = new ArrayDeque<>();
    roots.forEach(root -> todo.add(new Copied(root, chosen::add)));
    while (!todo.isEmpty()) {
      Copied next = todo.remove();
      if (next.node().enter() <= to && next.node().exit() >= from) {
        CallNode copy = next.node().alone();
        next.into().accept(copy);
        next.node().children().forEach(child -> todo.add(new Copied(child, copy::add)));
      }
    }
    return new CallTree(
        session, core, task, instance, taskName, image, isa, unit, chosen, kept, notKept);
  }

  CallTree notKept(long calls) {
    return new CallTree(
        session, core, task, instance, taskName, image, isa, unit, roots, kept, calls);
  }

  /** Chooses trees; the last chosen one of a core counts the calls that its others did not keep. */
  public static List<CallTree> only(List<CallTree> trees, Predicate<CallTree> wanted) {
    List<CallTree> chosen = new ArrayList<>();
    for (CallTree tree : trees) {
      if (wanted.test(tree)) {
        chosen.add(tree);
      } else if (tree.notKept > 0
          && !chosen.isEmpty()
          && chosen.getLast().core.equals(tree.core)
          && chosen.getLast().session.equals(tree.session)) {
        chosen.set(chosen.size() - 1, chosen.getLast().notKept(tree.notKept));
      }
    }
    return chosen;
  }

  /** The trees of a core's tasks, in the order in which they appeared. */
  static List<CallTree> of(CoreGraph core) {
    CallTreeLog log = core.tree();
    Map<Task, List<CallNode>> roots = new LinkedHashMap<>();
    CallNode[] nodes = new CallNode[log.size()];
    Nodes names = new Nodes(core);
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] = names.node(i);
      if (log.parent(i) < 0) {
        roots
            .computeIfAbsent(new Task(log.task(i), log.instance(i)), _ -> new ArrayList<>())
            .add(nodes[i]);
      } else {
        nodes[log.parent(i)].add(nodes[i]);
      }
    }
    return trees(core, roots);
  }

  /** The trees of a core's tasks without their calls. */
  static List<CallTree> heads(CoreGraph core) {
    CallTreeLog log = core.tree();
    Map<Task, List<CallNode>> tasks = new LinkedHashMap<>();
    for (int i = 0; i < log.size(); i++) {
      if (log.parent(i) < 0) {
        tasks.putIfAbsent(new Task(log.task(i), log.instance(i)), List.of());
      }
    }
    return trees(core, tasks);
  }

  /** Whether they are of one task of one core. */
  boolean isOf(CallTree other) {
    return task == other.task
        && instance == other.instance
        && core.equals(other.core)
        && session.equals(other.session);
  }

  private static List<CallTree> trees(CoreGraph core, Map<Task, List<CallNode>> roots) {
    if (roots.isEmpty()) {
      roots.put(new Task(0, 1), List.of());
    }
    List<CallTree> trees = new ArrayList<>();
    roots.forEach(
        (task, calls) -> {
          boolean last = trees.size() == roots.size() - 1;
          trees.add(
              new CallTree(
                  core.key().session(),
                  core.key().core(),
                  task.id(),
                  task.instance(),
                  core.taskName(task.id(), task.instance()),
                  core.image().name(),
                  core.image().isa(),
                  core.unit(),
                  calls,
                  core.tree().size(),
                  last ? core.stats().get(Stat.TREE_CALLS_NOT_KEPT) : 0));
        });
    return trees;
  }

  /** Makes the nodes of a call tree of its rows: finds names, and says what the values mean. */
  private static final class Nodes {
    private final CoreGraph core;
    private final CallTreeLog log;
    private final ImageInfo image;
    private final long now;
    private final Int2ObjectMap<CoreGraph.OpenRow> open;
    private final Long2ObjectMap<FunctionName> functions = new Long2ObjectOpenHashMap<>();
    private final Long2ObjectMap<SourceLine> sources = new Long2ObjectOpenHashMap<>();

    Nodes(CoreGraph core) {
      this.core = core;
      this.log = core.tree();
      this.image = core.image();
      this.now = core.progress().time();
      this.open = core.openRows();
    }

    CallNode node(int row) {
      Ending ending = log.ending(row);
      long exit = log.exit(row);
      long notRun = log.notRun(row);
      long leftOut = log.leftOut(row);
      if (ending == Ending.OPEN) {
        CoreGraph.OpenRow call = open.getOrDefault(row, CoreGraph.OpenRow.UNKNOWN);
        boolean doubtful = call.lostSince() >= 0;
        ending = doubtful ? Ending.TRUNCATED : ending;
        exit = doubtful ? call.lostSince() : now;
        notRun = doubtful ? 0 : call.notRun();
        leftOut = doubtful ? 0 : call.leftOut();
      }
      return new CallNode(
          log.kind(row),
          name(row),
          source(row),
          log.kind(row) == TreeKind.CALL || log.kind(row) == TreeKind.FUNCTION
              ? image.in(log.selfPc(row))
              : log.selfPc(row),
          log.enter(row),
          exit,
          ending,
          log.deadBy(row),
          notRun,
          leftOut,
          recorded(row));
    }

    private SourceLine source(int row) {
      return switch (log.kind(row)) {
        case CALL, FUNCTION -> sources.computeIfAbsent(log.selfPc(row), image.names()::source);
        case SYSTEM_CALL, MARK, LOSS, INTERRUPT, SWITCH -> SourceLine.NONE;
      };
    }

    private FunctionName name(int row) {
      return switch (log.kind(row)) {
        case CALL, FUNCTION -> functions.computeIfAbsent(log.selfPc(row), image.names()::function);
        case SYSTEM_CALL, MARK, LOSS, INTERRUPT, SWITCH -> new FunctionName(text(row));
      };
    }

    private String text(int row) {
      return switch (log.kind(row)) {
        case CALL, FUNCTION -> name(row).shown();
        case SYSTEM_CALL -> SystemCallRows.name(image.systemCalls(), log.selfPc(row));
        case MARK -> Mark.text(at(log.arguments(row).values(), 0));
        case LOSS -> log.loss(row).kind().name();
        case INTERRUPT -> SignalContext.text(log.selfPc(row));
        case SWITCH -> core.taskName(log.selfPc(row), (int) at(log.arguments(row).values(), 1));
      };
    }

    private Recorded recorded(int row) {
      RecordedValues arguments = log.arguments(row);
      RecordedValues results = log.results(row);
      TreeKind kind = log.kind(row);
      if (kind == TreeKind.MARK) {
        LongList all = arguments.values();
        return new Recorded(
            RecordedValues.NONE,
            RecordedValues.NONE,
            image.wordBytes(),
            log.selfPc(row) == 0 ? "" : image.names().name(log.selfPc(row)),
            at(all, 1),
            names(all.subList(Math.min(2, all.size()), all.size())),
            Optional.empty());
      }
      if (kind == TreeKind.LOSS) {
        return new Recorded(
            RecordedValues.NONE,
            RecordedValues.NONE,
            image.wordBytes(),
            "",
            0,
            List.of(),
            Optional.of(log.loss(row)));
      }
      if (kind == TreeKind.FUNCTION) {
        String caller = image.names().name(at(results.values(), 0));
        return new Recorded(
            arguments,
            RecordedValues.NONE,
            image.wordBytes(),
            caller,
            0,
            List.of(),
            Optional.empty());
      }
      if (arguments.isEmpty() && results.isEmpty()) {
        return Recorded.NOTHING;
      }
      return new Recorded(
          arguments, results, image.wordBytes(), "", 0, List.of(), Optional.empty());
    }

    private static long at(LongList values, int index) {
      return index < values.size() ? values.getLong(index) : 0;
    }

    private List<String> names(LongList stack) {
      return stack.longStream().mapToObj(image.names()::name).toList();
    }
  }
}
