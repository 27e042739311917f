package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.Ending;

/**
 * A call that finished, for those who publish it.
 *
 * @param task guest thread of execution on the core; in an interrupt, the one that it interrupted
 * @param instance which of the tasks of that id, from 1
 * @param interrupt whether it ran in an interrupt on top of the task
 * @param callerPc selfPc of the caller, 0 where unknown or none
 * @param level known open calls above it
 * @param self what it certainly ran itself, without the calls below it
 * @param lost records of the core known to be missing between enter and exit
 */
public record FinishedCall(
    CoreKey core,
    ImageInfo image,
    long task,
    int instance,
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
      CoreGraph core, ContextCalls on, int slot, long now, long self, Ending ending) {
    long enter = on.calls.entered(slot);
    return new FinishedCall(
        core.key(),
        core.image(),
        on.task,
        on.instance,
        on.interrupt,
        on.calls.selfPc(slot),
        on.calls.callerPc(slot),
        on.calls.level(slot),
        enter,
        now,
        self,
        core.losses().since(enter),
        ending);
  }

  /** Name of its task; empty for the first one of a core, where there may be no other. */
  public String taskName() {
    return task == 0 && instance == 1 ? "" : image.taskName(task, instance);
  }
}
