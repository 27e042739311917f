package dev.retstack.graph.calls;

import dev.retstack.graph.input.CallerPcs;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.schema.record.RecordBatch;
import java.util.NoSuchElementException;
import java.util.function.Predicate;

/**
 * A defect planted in what the calls of a core add up to; all else is the product's own. Where a
 * chosen core calls a chosen function, it throws what a defect may throw, each in turn.
 */
public final class Breaking implements AutoCloseable {
  private int thrown;

  private Breaking() {}

  /**
   * Breaks cores until it is closed.
   *
   * @param cores which of them
   * @param address throws where a call of this function begins
   */
  public static Breaking of(Predicate<CoreKey> cores, long address) {
    Breaking breaking = new Breaking();
    CoreGraph.accountsOf =
        (core, callers) ->
            cores.test(core.key())
                ? breaking.new Throwing(core, callers, address)
                : new CallAccounts(core, callers);
    return breaking;
  }

  private final class Throwing extends CallAccounts {
    private final long address;

    Throwing(CoreGraph core, CallerPcs callers, long address) {
      super(core, callers);
      this.address = address;
    }

    /** None: one by one. */
    @Override
    int linked(ShadowStack on, RecordBatch batch, int first, int room) {
      return first;
    }

    @Override
    void entered(ShadowStack on, int slot, int parent, int caller, long selfPc, long time) {
      if (selfPc == address) {
        fail(thrown++);
      }
      super.entered(on, slot, parent, caller, selfPc, time);
    }

    private static void fail(int how) {
      switch (how % 4) {
        case 0 -> throw new NoSuchElementException();
        case 1 -> throw new IndexOutOfBoundsException();
        case 2 -> throw new StackOverflowError();
        default -> throw new AssertionError();
      }
    }
  }

  /** How often it threw. */
  public int thrown() {
    return thrown;
  }

  @Override
  public void close() {
    CoreGraph.accountsOf = CallAccounts::new;
  }
}
