package dev.retstack.graph.report;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.symbol.SourceLine;

/**
 * Totals of one function over the cores of a report, or of one of its sessions. Durations are in
 * the report's unit.
 *
 * @param session whose calls these are, where a report has several; empty where it has one, or adds
 *     them up
 * @param name its symbol, or its address in hex where unknown
 * @param address first byte of the symbol, or selfPc where unknown; unsigned
 * @param selfPc address by which its records know it
 * @param image file name of the image
 * @param imageId build-id of the image
 * @param source where it begins in its source
 * @param calls entries seen
 * @param finished calls whose duration is known; min, max and avg are over these
 * @param total time in the function and below, recursion counted once
 * @param sum durations of all finished calls, recursive ones included
 * @param self time in the function itself
 * @param min shortest finished call, 0 where none
 * @param max longest finished call, 0 where none
 * @param wall time from begin to end of its calls, also that for which their task was switched out;
 *     recursion counted once
 */
public record FunctionRow(
    String session,
    String name,
    long address,
    long selfPc,
    String image,
    String imageId,
    String isa,
    SourceLine source,
    long calls,
    long finished,
    long total,
    long sum,
    long self,
    long min,
    long max,
    long wall) {

  /** What two rows of one function add up to. */
  public FunctionRow plus(FunctionRow other) {
    return new FunctionRow(
        session,
        name,
        address,
        selfPc,
        image,
        imageId,
        isa,
        source,
        Saturating.sum(calls, other.calls),
        Saturating.sum(finished, other.finished),
        Saturating.sum(total, other.total),
        Saturating.sum(sum, other.sum),
        Saturating.sum(self, other.self),
        least(min, finished, other.min, other.finished),
        Math.max(max, other.max),
        Saturating.sum(wall, other.wall));
  }

  /** The shorter of two shortest calls, of which one side may have none. */
  static long least(long min, long finished, long otherMin, long otherFinished) {
    if (finished == 0) {
      return otherMin;
    }
    return otherFinished == 0 ? min : Math.min(min, otherMin);
  }

  /** Time per finished call, 0 where none. */
  public double avg() {
    return finished == 0 ? 0 : (double) sum / finished;
  }
}
