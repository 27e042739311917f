package dev.retstack.graph.report;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.CoreReconstructor;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.tree.Ending;
import java.util.List;

/**
 * The position of a core.
 *
 * @param records records received, of any kind
 * @param lost records known to be missing
 * @param untraced calls known to have made no records
 * @param entries calls seen to begin; with {@code adopted} the sum of the six behind it
 * @param adopted calls that began in a loss and are known from a keyframe
 * @param time its clock as last seen
 * @param end RUNNING, or why it ended
 * @param endDetail exit code or fault in words
 * @param cut whether it had not ended where its trace was cut off
 * @param losses where records are missing, in order; they add up to {@code lost}
 * @param tasks in the order in which they appeared; none where the core has one alone
 * @param interrupts by number
 */
public record CoreRow(
    String session,
    String core,
    String image,
    String imageId,
    String isa,
    long records,
    long lost,
    long untraced,
    long entries,
    long adopted,
    long returned,
    long tailCalled,
    long unwound,
    long ended,
    long truncated,
    long open,
    long time,
    CoreEnd end,
    String endDetail,
    boolean cut,
    List<Loss> losses,
    List<TaskRow> tasks,
    List<InterruptRow> interrupts) {

  public CoreRow {
    losses = List.copyOf(losses);
    tasks = List.copyOf(tasks);
    interrupts = List.copyOf(interrupts);
  }

  /** Whether nothing of it is known to be missing. */
  public boolean isWhole() {
    return losses.isEmpty() && untraced == 0 && !cut;
  }

  static CoreRow of(CoreGraph core, boolean cut) {
    CoreReconstructor p = core.progress();
    boolean isCut = cut && p.end() == CoreEnd.RUNNING;
    return new CoreRow(
        core.key().session(),
        core.key().core(),
        core.image().name(),
        core.image().id(),
        core.image().isa(),
        p.records(),
        p.lost(),
        core.stats().untraced(),
        p.entries(),
        p.adopted(),
        p.ended(Ending.RETURNED),
        p.ended(Ending.TAIL_CALLED),
        p.ended(Ending.UNWOUND),
        p.ended(Ending.ENDED),
        p.ended(Ending.TRUNCATED),
        p.open(),
        p.time(),
        p.end(),
        p.endDetail(),
        isCut,
        core.losses().rows(),
        TaskRow.of(core, isCut),
        InterruptRow.of(core));
  }

  /** See {@link Report#completeness(long, long, long, boolean)}. */
  public double completeness() {
    return Report.completeness(records, lost, untraced, cut);
  }
}
