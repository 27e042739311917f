package dev.retstack.fleet.core;

import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.record.EndDetail;

/**
 * How a core ended.
 *
 * @param end HALTED by itself, FAULTED, or STOPPED from outside
 * @param exitCode of a program that ended by itself or by a signal: 0 where it has none
 * @param detail one line for a human reader
 */
public record CoreEnding(CoreEnd end, int exitCode, String detail) {

  /** True where the program failed; one that was stopped from outside did not. */
  public boolean failed() {
    return end == CoreEnd.FAULTED || exitCode != 0;
  }

  static CoreEnding halted(int exitCode, String detail) {
    return new CoreEnding(CoreEnd.HALTED, exitCode, detail);
  }

  static CoreEnding returned(long result) {
    return halted((int) result, EndDetail.returned((int) result));
  }

  static CoreEnding faulted(String detail) {
    return new CoreEnding(CoreEnd.FAULTED, 0, detail);
  }

  static CoreEnding stopped(String detail) {
    return new CoreEnding(CoreEnd.STOPPED, 0, detail);
  }
}
