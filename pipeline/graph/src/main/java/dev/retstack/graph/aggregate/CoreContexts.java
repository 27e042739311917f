package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.CoreReconstructor;
import dev.retstack.graph.reconstruct.CoreTask;
import dev.retstack.graph.reconstruct.StackContext;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What is added up on the ret_stacks of a core, and which of them is at hand. Open calls are
 * counted for the stack at hand alone, since recursion counts once per stack: they are taken back
 * where it is left, and where a chunk ends, which takes as many steps as calls are open.
 */
final class CoreContexts {
  private final CallTreeLog tree;
  private final OpenCounts open;

  /** By handle. */
  private final List<ContextCalls> contexts = new ArrayList<>(1);

  /** What stands for the stack where a task is not kept. */
  private final ContextCalls none;

  private ContextCalls context;

  /** The stack at hand, null where it is not kept. */
  private StackContext stack;

  /** Row of the interrupt of which the stack comes next, or none. */
  private int base = CallTreeLog.NONE;

  /**
   * No stack so far.
   *
   * @param open all zero whenever no chunk of a core is being taken
   */
  CoreContexts(CallTreeLog tree, OpenCounts open) {
    this.tree = tree;
    this.open = open;
    this.none = new ContextCalls(tree, 0, 1, false);
    this.context = none;
  }

  /** What is added up on the stack at hand. */
  ContextCalls context() {
    return context;
  }

  StackContext stack() {
    return stack;
  }

  /** The stack that comes next is that of an interrupt with this row. */
  void setBase(int row) {
    base = row;
  }

  /** A chunk of this core is taken: its open calls are those that count. */
  void begin() {
    for (int slot = 0; stack != null && slot < stack.slots(); slot++) {
      if (stack.isOpen(slot) && context.calls.arc(slot) >= 0) {
        open.open(context.calls.arc(slot), context.calls.function(slot));
      }
    }
  }

  /** The chunk is taken: another core may be next. */
  void rest() {
    leave();
  }

  /** The stack is at hand; false where it was already. */
  boolean resume(StackContext next) {
    ContextCalls state = next.handle() < contexts.size() ? contexts.get(next.handle()) : null;
    if (state == null) {
      state = ContextCalls.of(tree, next);
      state.losses.setBase(base);
      base = CallTreeLog.NONE;
      set(next, state);
    }
    if (state == context) {
      return false;
    }
    leave();
    context = state;
    stack = next;
    begin();
    return true;
  }

  private void leave() {
    for (int slot = 0; stack != null && slot < stack.slots(); slot++) {
      if (stack.isOpen(slot) && context.calls.arc(slot) >= 0) {
        open.close(context.calls.arc(slot), context.calls.function(slot));
      }
    }
  }

  private void set(StackContext of, ContextCalls state) {
    while (contexts.size() <= of.handle()) {
      contexts.add(null);
    }
    contexts.set(of.handle(), state);
  }

  /** No stack that is kept is at hand. */
  void nowhere() {
    leave();
    stack = null;
    context = none;
  }

  /** The stack is over, no call is open on it. */
  void close(StackContext over) {
    if (stack == over) {
      nowhere();
    }
    set(over, null);
  }

  /** The open calls by their rows, as they stand now. */
  Int2ObjectMap<CoreGraph.OpenRow> openRows(CoreReconstructor progress, TimeRules rules) {
    Int2ObjectMap<CoreGraph.OpenRow> rows = new Int2ObjectOpenHashMap<>();
    long now = progress.time();
    for (CoreTask task : progress.tasks()) {
      for (StackContext c : task.stacks()) {
        OpenCalls calls = contexts.get(c.handle()).calls;
        long notRun = c.elsewhere(now);
        long leftOut = rules.leftOut(c.away(now), c.interrupts(now), c.unsure(now));
        for (int slot = 0; slot < c.slots(); slot++) {
          if (c.isOpen(slot) && calls.treeCall(slot) >= 0) {
            rows.put(calls.treeCall(slot), calls.open(slot, c.lostSince(), notRun, leftOut));
          }
        }
      }
    }
    return rows;
  }

  void writeTo(DataOutput out, CoreReconstructor progress) throws IOException {
    for (CoreTask task : progress.tasks()) {
      for (StackContext c : task.stacks()) {
        contexts.get(c.handle()).writeTo(out, c.slots());
      }
    }
    none.writeTo(out, 0);
  }

  /** Reads what {@link #writeTo} wrote; the reconstruction and the tree are complete already. */
  void readFrom(DataInput in, CoreReconstructor progress, CallProfile written, CallProfile profile)
      throws IOException {
    contexts.clear();
    for (CoreTask task : progress.tasks()) {
      for (StackContext c : task.stacks()) {
        ContextCalls state = ContextCalls.of(tree, c);
        state.readFrom(in, c, written, profile, tree.size());
        set(c, state);
      }
    }
    none.readNone(in, tree.size());
    stack = null;
    context = none;
  }
}
