package dev.retstack.machine.delivery;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import dev.retstack.machine.isa.Isa;
import dev.retstack.unicorn.CpuState;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Has the engine forget an exception that a signal handler handles. It remembers one until an
 * interrupt table of the guest is used, which there is none of, and would take the next for a
 * double fault. No register reaches it. So the saved state is changed: the place which held "none"
 * in a new engine, and holds the exception now.
 */
final class RememberedException {
  private static final int NONE = -1;
  private static final int UNKNOWN = -1;

  private final Unicorn engine;
  private final Isa isa;
  private final Set<Integer> remembered;
  private long place = UNKNOWN;

  RememberedException(Unicorn engine, Isa isa) {
    this.engine = engine;
    this.isa = isa;
    remembered = isa.syscalls().signals().remembered();
  }

  /** Between two runs: the exception of a number is over. */
  void forget(int exception) {
    if (!remembered.contains(exception)) {
      return;
    }
    try (CpuState now = engine.context_alloc()) {
      engine.context_save(now);
      place = place == UNKNOWN ? find(now.bytes(), exception) : place;
      now.bytes().set(JAVA_INT_UNALIGNED, place, NONE);
      engine.context_restore(now);
    }
  }

  private long find(MemorySegment now, int exception) {
    try (Unicorn fresh = Unicorn.open(isa.engine().arch(), isa.engine().mode());
        CpuState first = fresh.context_alloc()) {
      fresh.context_save(first);
      return find(first.bytes(), now, exception);
    }
  }

  private static long find(MemorySegment first, MemorySegment now, int exception) {
    long found = UNKNOWN;
    for (long at = 0; at + Integer.BYTES <= now.byteSize(); at += Integer.BYTES) {
      if (first.get(JAVA_INT_UNALIGNED, at) == NONE
          && now.get(JAVA_INT_UNALIGNED, at) == exception) {
        if (found != UNKNOWN) {
          throw new IllegalStateException(
              "exception %d in two places of the engine's state, 0x%x and 0x%x"
                  .formatted(exception, found, at));
        }
        found = at;
      }
    }
    if (found == UNKNOWN) {
      throw new IllegalStateException(
          "exception %d in no place of the engine's state".formatted(exception));
    }
    return found;
  }
}
