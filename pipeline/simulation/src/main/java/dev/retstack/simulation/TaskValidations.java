package dev.retstack.simulation;

import static dev.retstack.simulation.Validations.equal;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.TracedTask;
import dev.retstack.graph.totals.InterruptTotals;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.TaskName;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.ModelProgram;
import dev.retstack.simulation.model.ModelTask;
import dev.retstack.simulation.model.TrueCall;
import dev.retstack.simulation.model.TrueInterrupt;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What must hold between the tasks and interrupts of a graph and the truth. */
final class TaskValidations {
  private TaskValidations() {}

  /** Without faults: every task with its name, every interrupt. */
  static void identical(CoreGraph graph, ModelProgram program) {
    long now = graph.progress().time();
    Map<String, String> tasks = new TreeMap<>();
    for (TracedTask task : graph.progress().tasks()) {
      tasks.put(
          task.id() + "/" + task.instance(),
          "%s: %d entries, %d returned, %d unwound, %d ended, %d open, ran %d"
              .formatted(
                  graph.taskName(task.id(), task.instance()),
                  task.entries(),
                  task.ended(Ending.RETURNED),
                  task.ended(Ending.UNWOUND),
                  task.ended(Ending.ENDED),
                  task.open(),
                  task.ran(now)));
    }
    Map<String, String> truth = new TreeMap<>();
    for (ModelTask task : program.allTasks) {
      List<TrueCall> own =
          program.calls.stream()
              .filter(c -> c.interrupt == null && c.task == task.id && c.instance == task.instance)
              .toList();
      truth.put(
          task.id + "/" + task.instance,
          "%s: %d entries, %d returned, %d unwound, %d ended, %d open, ran %d"
              .formatted(
                  named(program, task),
                  own.size(),
                  count(own, Ending.RETURNED),
                  count(own, Ending.UNWOUND),
                  count(own, Ending.ENDED),
                  count(own, Ending.OPEN),
                  task.ran - (task.id == 0 && task.instance == 1 ? before(program) : 0)));
    }
    equal("tasks", truth, tasks);
    interrupts(graph, program);
  }

  /** A name that the program gave, and the id; of the second task of an id the number, too. */
  private static String named(ModelProgram program, ModelTask task) {
    TaskName name = program.names.getOrDefault(task.id, TaskName.NONE);
    String text = name.isEmpty() ? "task " + task.id : name.text() + "-" + task.id;
    return task.instance == 1 ? text : text + " (" + task.instance + ")";
  }

  /** Time that passed before the first record, which nobody saw. */
  private static long before(ModelProgram program) {
    return program.records().isEmpty() ? 0 : program.records().getFirst()[1] - program.start();
  }

  private static long count(List<TrueCall> calls, Ending ending) {
    return calls.stream().filter(call -> call.ending == ending).count();
  }

  private static void interrupts(CoreGraph graph, ModelProgram program) {
    Map<Long, InterruptTotals.Totals> truth = new TreeMap<>();
    for (TrueInterrupt i : program.interrupts) {
      boolean ended = i.ending == Ending.RETURNED;
      long ran = ended ? i.ran : 0;
      truth.merge(
          i.number,
          new InterruptTotals.Totals(1, ended ? 1 : 0, ran, ran),
          InterruptTotals.Totals::plus);
    }
    Map<Long, InterruptTotals.Totals> found = new TreeMap<>();
    for (long number : graph.interrupts().numbers()) {
      found.put(number, graph.interrupts().get(number));
    }
    equal("interrupts", truth, found);
  }

  /** An interrupt came then, in that call; a task was switched out then, and in again. */
  static void rowIsTrue(String what, CallTreeLog tree, int row, ModelCore core) {
    boolean over = tree.ending(row) == Ending.RETURNED;
    if (tree.kind(row) == TreeKind.SWITCH) {
      Long in = core.program().switches.get(tree.enter(row));
      if (over) {
        equal(what + ", switched in", in, tree.exit(row));
      }
      return;
    }
    Optional<TrueInterrupt> truth =
        core.program().interrupts.stream().filter(i -> i.enter == tree.enter(row)).findFirst();
    equal(what + ", an interrupt", truth.map(i -> i.number), Optional.of(tree.selfPc(row)));
    TrueInterrupt interrupt = truth.orElseThrow();
    if (over) {
      equal(what + " exit", interrupt.exit, tree.exit(row));
      equal(what + " ending", interrupt.ending, tree.ending(row));
    }
    int parent = tree.parent(row);
    if (parent >= 0 && tree.kind(parent) == TreeKind.CALL) {
      TrueCall around = interrupt.parent;
      equal(what + " parent", around == null ? -1 : around.enter, tree.enter(parent));
    }
  }

  /** A call that stands in no other was made by the task of its row. */
  static void rootIsTrue(String what, CallTreeLog tree, int row, TrueCall call) {
    if (tree.parent(row) < 0) {
      equal(what + " task", call.task, tree.task(row));
    }
  }
}
