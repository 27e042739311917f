package dev.retstack.graph.coverage;

/**
 * A function that can be seen: it has a call site.
 *
 * @param name its symbol, its address in hex where unknown
 * @param address its first byte, or its call site where no symbol tells
 * @param calls how often it was entered
 */
public record FunctionCoverage(String name, long address, long calls) {
  /** Whether it was entered at all. */
  public boolean hit() {
    return calls > 0;
  }
}
