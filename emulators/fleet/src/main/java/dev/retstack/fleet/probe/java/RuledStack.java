package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.site.SiteRules;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.landing.LandingPage;

/** The ret_stack of one context, and what the settings ask of its frames. */
final class RuledStack extends RetStack {
  private static final int NONE = -1;

  final LateEntries late;

  /** Index of the frame of a graph function below which all is recorded. */
  private int graphBase = NONE;

  /** No frames. */
  RuledStack(int limit, TraceSettings settings, Up up, long nearest) {
    super(limit, LandingPage.SLOTS, up, nearest);
    late = new LateEntries(this);
    late.follow(settings.minDuration());
  }

  @Override
  public int visible() {
    return isHidden() ? size() - 1 : size();
  }

  @Override
  public int recorded() {
    return late.recorded(visible());
  }

  /** True while what is called leaves no records. */
  boolean isHidden() {
    return size() > 0 && isHidden(size() - 1);
  }

  /** From here on other settings count. */
  void follow(SiteRules rules) {
    late.follow(rules.settings().minDuration());
    forgetSlots();
    graphBase = NONE;
    for (int i = 0; i < size() && graphBase == NONE; i++) {
      if ((rules.of(selfPc(i)) & SiteRules.GRAPH) != 0 && !isHidden(i)) {
        graphBase = i;
      }
    }
  }

  /** True where the settings say that a frame pushed now is none. */
  boolean ignores(int flags, TraceSettings settings) {
    int index = size();
    if (graphBase >= index) {
      graphBase = NONE;
    }
    boolean outside =
        graphBase == NONE
            && !settings.graphFunctions().isEmpty()
            // what is hidden is hidden outside of the graph as well
            && (flags & (SiteRules.GRAPH | SiteRules.HIDE)) == 0;
    int deepest = settings.maxDepth();
    return isHidden() || outside || (deepest > 0 && index >= deepest);
  }

  /** Says what a new frame is for beside its exit, by its flags; true where it has no records. */
  boolean hides(int frame, int flags, SiteRules rules) {
    if ((flags & SiteRules.HIDE) != 0) {
      hide(frame);
      return true;
    }
    if ((flags & SiteRules.RETURN) != 0) {
      wantReturn(frame, rules.returnFormat(selfPc(frame)));
    }
    return false;
  }

  /** The frame on top opens the graph where none is open. */
  void openGraph(TraceSettings settings) {
    if (graphBase == NONE && !settings.graphFunctions().isEmpty()) {
      graphBase = size() - 1;
    }
  }
}
