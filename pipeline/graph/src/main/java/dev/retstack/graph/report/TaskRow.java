package dev.retstack.graph.report;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.TracedTask;
import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.tree.Ending;
import java.util.ArrayList;
import java.util.List;

/**
 * A task of a core. Calls in interrupts are not included. If records of the core are missing, the
 * task may have run in that time: only what is certain is shown.
 *
 * @param id as TASK records say it, unsigned
 * @param instance which of the tasks of that id, from 1
 * @param name that of the program with the id, symbol+offset of the id, else "task" and the id
 * @param entries calls seen to begin; with {@code adopted} the sum of the six behind it
 * @param adopted calls that began in a loss and are known from a keyframe
 * @param switches times that the core came back to it
 * @param ran time for which it ran, interrupts left out
 * @param over whether it ended
 * @param records records taken while it ran, those in interrupts on top of it included
 * @param cut whether it was not over where its trace was cut off
 * @param losses where records of its core are missing that may be of it: not those from before it
 *     began or after it ended
 * @param mayBeUntraced calls of its core known to have made no records; whose they were is not
 *     known
 */
public record TaskRow(
    long id,
    int instance,
    String name,
    long entries,
    long adopted,
    long returned,
    long tailCalled,
    long unwound,
    long ended,
    long truncated,
    long open,
    long switches,
    long ran,
    boolean over,
    long records,
    boolean cut,
    List<Loss> losses,
    long mayBeUntraced) {

  public TaskRow {
    losses = List.copyOf(losses);
  }

  /** Records missing that may be of it: no more are. */
  public long mayMiss() {
    long sum = 0;
    for (Loss loss : losses) {
      sum = Saturating.sum(sum, loss.records());
    }
    return sum;
  }

  /** Received of all records that may be its own, in percent: it is at least as complete. */
  public double completeness() {
    return Report.completeness(records, mayMiss(), mayBeUntraced, cut);
  }

  /**
   * The tasks of a core in the order in which they appeared; none where it has one alone.
   *
   * @param cut whether the core had not ended where its trace was cut off
   */
  static List<TaskRow> of(CoreGraph core, boolean cut) {
    List<TaskRow> rows = new ArrayList<>();
    for (TracedTask t : core.progress().tasks()) {
      rows.add(
          new TaskRow(
              t.id(),
              t.instance(),
              core.taskName(t.id(), t.instance()),
              t.entries(),
              t.adopted(),
              t.ended(Ending.RETURNED),
              t.ended(Ending.TAIL_CALLED),
              t.ended(Ending.UNWOUND),
              t.ended(Ending.ENDED),
              t.ended(Ending.TRUNCATED),
              t.open(),
              t.switches(),
              t.ran(core.progress().time()),
              t.isOver(),
              t.records(),
              cut && !t.isOver(),
              core.losses().rows().stream().filter(t::mayMiss).toList(),
              core.stats().untraced()));
    }
    boolean alone = rows.size() == 1 && rows.get(0).id() == 0 && rows.get(0).instance() == 1;
    return alone ? List.of() : List.copyOf(rows);
  }
}
