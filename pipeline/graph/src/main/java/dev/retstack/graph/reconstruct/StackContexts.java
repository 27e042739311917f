package dev.retstack.graph.reconstruct;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.ArrayDeque;

/** The ret_stacks of a core that are in use, under small numbers; those given back serve again. */
final class StackContexts {
  private final ImageTraits traits;
  private final int maxDepth;
  private final FrameBudget budget;
  private final GraphListener listener;
  private final IntArrayList free = new IntArrayList(0);
  private final ArrayDeque<TaskReconstructor> spare = new ArrayDeque<>(0);
  private int count;

  StackContexts(ImageTraits traits, int maxDepth, GraphListener listener) {
    this.traits = traits;
    this.maxDepth = maxDepth;
    this.budget = new FrameBudget(2 * maxDepth);
    this.listener = listener;
  }

  /** Contexts in use. */
  int used() {
    return count - free.size();
  }

  /**
   * A context in which nothing was seen.
   *
   * @param frames in its ret_stack, negative where that is unknown
   */
  StackContext open(int frames) {
    int handle = free.isEmpty() ? count++ : free.popInt();
    TaskReconstructor calls = spare.poll();
    if (calls == null) {
      calls = new TaskReconstructor(traits, maxDepth, budget, listener);
    }
    calls.begin(frames);
    return new StackContext(handle, calls);
  }

  /** Takes back a context that is over. */
  void close(StackContext context) {
    listener.closed(context);
    free.push(context.handle());
    context.calls.stack().release();
    if (spare.isEmpty()) { // interrupts come one after the other
      spare.push(context.calls);
    }
  }
}
