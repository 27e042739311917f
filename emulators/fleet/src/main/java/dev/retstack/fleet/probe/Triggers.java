package dev.retstack.fleet.probe;

import dev.retstack.fleet.probe.site.SiteRules;
import dev.retstack.fleet.settings.PatternSubject;
import dev.retstack.fleet.settings.Trigger;
import dev.retstack.schema.record.Mark;
import java.util.List;

/** What is done when functions are entered, and how many more times. */
public final class Triggers {
  private final SiteRules rules;
  private final List<Trigger> triggers;
  private final int[] left;

  public Triggers(SiteRules rules) {
    this.rules = rules;
    triggers = rules.settings().triggers();
    left = triggers.stream().mapToInt(Trigger::limit).toArray();
  }

  /**
   * A function is about to be entered.
   *
   * @param time of the entry
   */
  public void fire(long selfPc, long time, Probe probe) {
    PatternSubject function = rules.subject(selfPc);
    for (int i = 0; i < left.length; i++) {
      Trigger trigger = triggers.get(i);
      if (left[i] != 0
          && trigger.pattern().matches(function)
          && act(trigger, function, time, probe)) {
        left[i] -= left[i] > 0 ? 1 : 0; // UNLIMITED is below 0
      }
    }
  }

  /** False where there was nothing to do: that is not counted. */
  private boolean act(Trigger trigger, PatternSubject function, long time, Probe probe) {
    return switch (trigger.action()) {
      case TRACEON -> pause(false, Mark.TRACEON, function, time, probe);
      case TRACEOFF -> pause(true, Mark.TRACEOFF, function, time, probe);
      case SNAPSHOT -> mark(Mark.SNAPSHOT, function, time, probe);
      case STACKTRACE -> mark(Mark.STACKTRACE, function, time, probe);
      case ENABLE_EVENT -> event(trigger, true);
      case DISABLE_EVENT -> event(trigger, false);
    };
  }

  private static boolean pause(
      boolean value, Mark mark, PatternSubject function, long time, Probe probe) {
    if (probe.isPaused() == value) {
      return false;
    }
    probe.pause(value);
    return mark(mark, function, time, probe);
  }

  private static boolean mark(Mark mark, PatternSubject function, long time, Probe probe) {
    probe.mark(mark, function.site(), time, 0);
    return true;
  }

  private boolean event(Trigger trigger, boolean value) {
    rules.events().set(trigger.event().orElseThrow(), value);
    return true;
  }
}
