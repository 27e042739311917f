package dev.retstack.fleet.probe.task;

import java.util.Set;

/** What guest memory says of where one stack may end and another begin. */
@FunctionalInterface
public interface StackRegions {
  /** The smallest region that is known to hold an address. */
  Region at(long address);

  /** True where each stack is of pieces that may lie anywhere (-fsplit-stack). */
  default boolean inPieces() {
    return false;
  }

  /** A signal handler begins. */
  default void handlerBegins() {}

  /** The pieces of a stack: the one that holds an address, and those that led there. */
  default Set<Region> pieces(long address) {
    return Set.of(at(address));
  }

  /**
   * A mapping, or a variable of the image.
   *
   * @param start first address
   * @param end one past the last
   * @param data true for a mapping that holds the image's data: more than a stack may lie there
   */
  record Region(long start, long end, boolean data) {
    public boolean holds(long address) {
      return Long.compareUnsigned(address - start, end - start) < 0;
    }
  }
}
