package dev.retstack.fleet.probe;

import dev.retstack.fleet.control.TraceSettings;

/** Which frames are none, by settings: outside of the graph functions, too deep, below a hidden. */
final class GraphScope {
  private static final int NONE = -1;

  /** Index of the frame of a graph function below which all is recorded. */
  private int base = NONE;

  /** True where the settings say that the new frame on top of a stack is none. */
  boolean ignores(RetStack stack, TraceSettings settings, int flags) {
    int index = stack.size();
    if (base >= index) {
      base = NONE;
    }
    boolean outside =
        base == NONE
            && !settings.graphFunctions().isEmpty()
            // what is hidden is hidden outside of the graph as well
            && (flags & (SiteRules.GRAPH | SiteRules.HIDE)) == 0;
    int deepest = settings.maxDepth();
    return (index > 0 && stack.isHidden(index - 1)) || outside || (deepest > 0 && index >= deepest);
  }

  /** A frame that is recorded was put on the stack. */
  void opened(int index, TraceSettings settings) {
    if (base == NONE && !settings.graphFunctions().isEmpty()) {
      base = index;
    }
  }

  /** From here on other functions open the graph. */
  void follow(RetStack stack, SiteRules rules) {
    base = NONE;
    for (int i = 0; i < stack.size() && base == NONE; i++) {
      if ((rules.of(stack.selfPc(i)) & SiteRules.GRAPH) != 0 && !stack.isHidden(i)) {
        base = i;
      }
    }
  }
}
