package dev.retstack.graph.reconstruct;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.util.ArrayDeque;

/** The ret_stacks of a core that are in use, under small numbers; those given back serve again. */
final class StackContexts {
  /** What a stack without frames takes, here and in what is added up for its calls. */
  private static final int BYTES = 900;

  private final ImageTraits traits;
  private final int maxDepth;
  private final FrameBudget budget;
  private final GraphListener listener;
  private final StateBudget.Account account;
  private final IntArrayList free = new IntArrayList(0);
  private final ArrayDeque<TaskReconstructor> spare = new ArrayDeque<>(0);
  private int count;

  StackContexts(
      ImageTraits traits, int maxDepth, GraphListener listener, StateBudget.Account account) {
    this.traits = traits;
    this.maxDepth = maxDepth;
    this.account = account;
    this.budget = new FrameBudget(2 * maxDepth, account);
    this.listener = listener;
  }

  /** Contexts in use. */
  int used() {
    return count - free.size();
  }

  /** Takes the bytes of a context that is opened next; false where there are none. */
  boolean take() {
    return account.take(BYTES);
  }

  /** The same for one that cannot be left out. */
  void charge() {
    account.charge(BYTES);
  }

  /**
   * A context in which nothing was seen, whose bytes were taken.
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
    account.give(BYTES);
    if (spare.isEmpty()) { // interrupts come one after the other
      spare.push(context.calls);
    }
  }
}
