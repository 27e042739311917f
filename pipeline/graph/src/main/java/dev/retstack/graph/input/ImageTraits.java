package dev.retstack.graph.input;

import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.Arrays;
import java.util.Collections;

/**
 * What reconstruction must know about an image and its calling convention.
 *
 * @param fpCheck whether fp at exit must equal fp at entry
 * @param retpCheck whether retp at exit follows from the stack pointer and must equal the entry's
 * @param handlerStart first address of the return_to_handler slots, unsigned
 * @param handlerEnd one past the last; equal to the start where there are none
 * @param copiedReturns selfPc of the functions whose exits are missed, because they return by
 *     another slot than the hijacked one
 */
public record ImageTraits(
    boolean fpCheck,
    boolean retpCheck,
    long handlerStart,
    long handlerEnd,
    LongList copiedReturns) {

  /** Sorts the list. */
  public ImageTraits {
    long[] sorted = copiedReturns.toLongArray();
    Arrays.sort(sorted);
    copiedReturns = LongImmutableList.of(sorted);
  }

  /** Traits of an image whose functions all return by the slot that is hijacked. */
  public ImageTraits(boolean fpCheck, boolean retpCheck, long handlerStart, long handlerEnd) {
    this(fpCheck, retpCheck, handlerStart, handlerEnd, LongImmutableList.of());
  }

  /** Whether the address is a hijacked return address. */
  public boolean isHandler(long address) {
    return Long.compareUnsigned(address - handlerStart, handlerEnd - handlerStart) < 0;
  }

  /** Whether the exits of a function are missed. */
  public boolean missesExits(long selfPc) {
    return !copiedReturns.isEmpty() && Collections.binarySearch(copiedReturns, selfPc) >= 0;
  }
}
