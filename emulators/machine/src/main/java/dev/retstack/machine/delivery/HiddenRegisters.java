package dev.retstack.machine.delivery;

import dev.retstack.unicorn.CpuState;
import dev.retstack.unicorn.Unicorn;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Registers that a handler may change and that the engine has no names for, such as vectors and the
 * carry of ppc64: the whole state of the processor is kept beside each frame. A frame of the
 * program's making has none.
 */
final class HiddenRegisters {
  /** More frames than this are of handlers that were left by longjmp: the oldest is dropped. */
  private static final int MOST = 256;

  private final Unicorn engine;
  private final boolean kept;
  private final Map<Long, CpuState> byFrame = new LinkedHashMap<>();
  private final Deque<CpuState> free = new ArrayDeque<>();

  /**
   * @param kept false where the engine has names for all
   */
  HiddenRegisters(Unicorn engine, boolean kept) {
    this.engine = engine;
    this.kept = kept;
  }

  /** A handler with this frame begins. */
  void save(long frame) {
    if (!kept) {
      return;
    }
    CpuState state = byFrame.remove(frame);
    if (state == null && byFrame.size() == MOST) {
      state = byFrame.remove(byFrame.keySet().iterator().next());
    }
    if (state == null) {
      state = free.isEmpty() ? engine.context_alloc() : free.pop();
    }
    engine.context_save(state);
    byFrame.put(frame, state);
  }

  /** Restores all registers when a handler returns. */
  void restore(long frame) {
    CpuState state = byFrame.remove(frame);
    if (state != null) {
      engine.context_restore(state);
      free.push(state);
    }
  }
}
