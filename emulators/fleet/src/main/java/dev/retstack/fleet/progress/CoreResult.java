package dev.retstack.fleet.progress;

import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.schema.CoreEnd;
import java.util.List;
import java.util.SortedMap;

/**
 * What became of a core.
 *
 * @param name of the core
 * @param ending how it ended
 * @param instructions executed
 * @param records sent
 * @param overruns entries refused because ret_stack was full
 * @param unhijackable entries left alone
 * @param leftAlone the first few of their functions, by name
 * @param abandoned calls that were forgotten though they may return yet
 * @param unsupported system calls that the program asked for in vain, with counts
 * @param lacks what else it asked for in vain, a line each: limits, files
 * @param undelivered why the end of its stream did not reach the sink; empty where it did
 */
public record CoreResult(
    String name,
    CoreEnding ending,
    long instructions,
    long records,
    long overruns,
    long unhijackable,
    List<String> leftAlone,
    long abandoned,
    SortedMap<String, Long> unsupported,
    List<String> lacks,
    String undelivered) {

  /** True where more than one call in a hundred is not in the trace. */
  public boolean muchUntraced() {
    return unhijackable > 0 && 100 * unhijackable > records / 2 + unhijackable;
  }

  /** True where the program ended by itself with code 0 and its whole stream was taken. */
  public boolean ok() {
    return ending.end() == CoreEnd.HALTED && ending.exitCode() == 0 && undelivered.isEmpty();
  }
}
