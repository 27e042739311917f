package dev.retstack.graph.report;

import dev.retstack.graph.limits.Saturating;

/**
 * Totals of the calls from one function to another; the fields are those of {@link FunctionRow}.
 *
 * @param caller name of the caller
 * @param callee name of the callee
 * @param image file name of the callee's image
 * @param callerImageId build-id of the caller's image, mostly the same as the callee's
 */
public record EdgeRow(
    String session,
    String caller,
    String callee,
    long callerPc,
    long calleePc,
    String image,
    String imageId,
    String isa,
    String callerImageId,
    long calls,
    long finished,
    long total,
    long self,
    long min,
    long max) {

  /** What two rows of one edge add up to. */
  EdgeRow plus(EdgeRow other) {
    return new EdgeRow(
        session,
        caller,
        callee,
        callerPc,
        calleePc,
        image,
        imageId,
        isa,
        callerImageId,
        Saturating.sum(calls, other.calls),
        Saturating.sum(finished, other.finished),
        Saturating.sum(total, other.total),
        Saturating.sum(self, other.self),
        FunctionRow.least(min, finished, other.min, other.finished),
        Math.max(max, other.max));
  }
}
