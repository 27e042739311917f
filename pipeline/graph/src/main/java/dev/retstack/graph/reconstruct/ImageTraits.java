package dev.retstack.graph.reconstruct;

/**
 * What reconstruction must know of an image and its calling convention.
 *
 * @param fpCheck whether fp at exit must equal fp at entry
 * @param retpCheck whether retp at exit is foretold by the stack pointer and must equal the entry's
 * @param handlerStart first address of the return_to_handler slots, unsigned
 * @param handlerEnd one past the last; equal to the start where there are none
 */
public record ImageTraits(boolean fpCheck, boolean retpCheck, long handlerStart, long handlerEnd) {

  /** Whether the address is a hijacked return address. */
  public boolean isHandler(long address) {
    return Long.compareUnsigned(address - handlerStart, handlerEnd - handlerStart) < 0;
  }
}
