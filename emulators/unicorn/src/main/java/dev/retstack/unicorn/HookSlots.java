package dev.retstack.unicorn;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * The live Java hooks of the process. C holds a slot's token as user data, never a Java address. A
 * token that outlives its hook finds nothing; a freed stub would crash.
 */
final class HookSlots {
  /** A hook and the engine it serves. */
  static final class Slot {
    final Unicorn engine;
    final Object callback;
    final TlbEntry tlbEntry = new TlbEntry();
    private final long token;

    private Slot(Unicorn engine, Object callback, long token) {
      this.engine = engine;
      this.callback = callback;
      this.token = token;
    }

    long token() {
      return token;
    }
  }

  private static final ArrayDeque<Integer> FREE = new ArrayDeque<>();
  private static volatile Slot[] slots = new Slot[64];
  private static int used;
  private static int live;
  private static long generation;

  private HookSlots() {}

  /** Makes a slot. Its token has the index in the low half and a generation in the high half. */
  static synchronized Slot add(Unicorn engine, Object callback) {
    Integer free = FREE.poll();
    int index = free != null ? free : used++;
    Slot[] table = index < slots.length ? slots : Arrays.copyOf(slots, 2 * slots.length);
    Slot slot = new Slot(engine, callback, ++generation << Integer.SIZE | index);
    table[index] = slot;
    slots = table; // publishes the element too
    live++;
    return slot;
  }

  /** Ends a slot. */
  static synchronized void remove(Slot slot) {
    int index = (int) slot.token();
    if (slots[index] == slot) {
      slots[index] = null;
      FREE.add(index);
      live--;
    }
  }

  /** Returns the slot of a token, or null if it has ended. */
  static Slot get(long token) {
    Slot slot = slots[(int) token];
    return slot != null && slot.token == token ? slot : null;
  }

  static synchronized int live() {
    return live;
  }
}
