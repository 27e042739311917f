package dev.retstack.graph.coverage;

import dev.retstack.graph.symbol.SourceLine;

/**
 * A function that can be seen: it has a call site.
 *
 * @param name its symbol, its address in hex where unknown
 * @param address its first byte, or its call site where no symbol covers it
 * @param source where it begins in its source
 * @param calls how often it was entered
 */
public record FunctionCoverage(String name, long address, SourceLine source, long calls) {
  /** Whether it was entered at all. */
  public boolean hit() {
    return calls > 0;
  }
}
