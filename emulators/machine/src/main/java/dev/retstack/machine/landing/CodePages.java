package dev.retstack.machine.landing;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.memory.GuestMemory;
import java.lang.foreign.MemorySegment;

/**
 * Pieces of guest code of equal size, one behind the other, which are made one by one while the
 * core runs. A page is mapped with its first piece.
 */
final class CodePages {
  private final GuestMemory memory;
  private final byte[] idleLoop;
  private final long start;
  private final int shift;

  /** Begins empty; the first will stand at a page's beginning, each in {@code 1 << shift} bytes. */
  CodePages(GuestMemory memory, Isa isa, long start, int shift) {
    this.memory = memory;
    this.idleLoop = isa.stops().idleLoops().getFirst();
    this.start = start;
    this.shift = shift;
  }

  /** Address of a piece, whether it was made or not. */
  long address(int index) {
    return start + ((long) index << shift);
  }

  /**
   * Writes the piece behind those there are. It goes by the host's memory, without telling the
   * engine: nothing of it was ever translated.
   */
  void add(int index, byte[] code) {
    long at = address(index);
    if (at % GuestMemory.PAGE == 0) {
      memory.map(at, GuestMemory.PAGE, GuestMemory.READ | GuestMemory.EXECUTE);
      for (long gap = at; gap < at + GuestMemory.PAGE; gap += idleLoop.length) {
        put(gap, idleLoop);
      }
    }
    put(at, code);
  }

  private void put(long at, byte[] code) {
    memory.host(at, code.length).copyFrom(MemorySegment.ofArray(code));
  }
}
