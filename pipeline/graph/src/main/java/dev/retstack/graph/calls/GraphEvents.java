package dev.retstack.graph.calls;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.pyramid.Line;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.tree.Ending;
import dev.retstack.schema.record.TaskName;

/** Receives calls and anomalies while chunks are applied, for publishers. */
public interface GraphEvents {
  /** What follows was found in this chunk. */
  default void chunk(CoreGraph core, long sequence) {}

  /** Where all calls of this core are put by their times, too; null where nobody asks for that. */
  default Pyramid pyramid(CoreGraph core) {
    return null;
  }

  /**
   * Whether {@link #placed} is to hear of calls of this function. A listener that says so has a
   * threshold of 0, as calls below it are not reported one by one.
   */
  default boolean places(CoreGraph core, long selfPc) {
    return false;
  }

  /** Where a call stood, however it ended; one without a known return has no length. */
  default void placed(CoreGraph core, Line line, long selfPc, long enter, long exit) {}

  /** Smallest duration of which {@link #finished} wants to hear, in the core's unit. */
  long threshold();

  /** A call finished that lasted at least the threshold. */
  void finished(FinishedCall call);

  /**
   * An anomaly of this core was found and kept; beyond the limit per core and kind they are only
   * counted.
   */
  void anomaly(CoreGraph core, Anomaly anomaly);

  /**
   * A call that finished, for publishers.
   *
   * @param task guest thread of execution on the core; in an interrupt, the one that it interrupted
   * @param instance which of the tasks of that id, from 1
   * @param called how the program calls the task
   * @param interrupt whether it ran in an interrupt on top of the task
   * @param callerPc selfPc of the caller, 0 where unknown or none
   * @param level known open calls above it
   * @param self what it certainly ran itself, without the calls below it
   * @param lost records of the core known to be missing between enter and exit
   */
  record FinishedCall(
      CoreKey core,
      ImageInfo image,
      long task,
      int instance,
      TaskName called,
      boolean interrupt,
      long selfPc,
      long callerPc,
      int level,
      long enter,
      long exit,
      long self,
      long lost,
      Ending ending) {

    /** The call in a slot of the stack at hand, which ends now. */
    static FinishedCall of(
        CoreGraph core, ShadowStack on, int slot, long now, long self, Ending ending) {
      long enter = on.frames.enter(slot);
      return new FinishedCall(
          core.key(),
          core.image(),
          on.task().id(),
          on.task().instance(),
          core.progress().taskName(on.task().id()),
          on.isInterrupt(),
          on.frames.selfPc(slot),
          on.frames.callerPc(slot),
          on.frames.level(slot),
          enter,
          now,
          self,
          core.losses().since(enter),
          ending);
    }

    /** Name of its task; empty for the first one of a core without a name. */
    public String taskName() {
      boolean isPlain = task == 0 && instance == 1 && called.isEmpty();
      return isPlain ? "" : image.taskName(task, instance, called);
    }
  }
}
