package dev.retstack.graph.report;

import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.limits.Saturating;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * Totals of the calls from one function to another; the fields are those of {@link FunctionRow}, of
 * the callee.
 *
 * @param caller name of the caller
 * @param callee name of the callee
 * @param image file name of the callee's image
 * @param callerImage file name of the caller's image
 * @param callerImageId build-id of the caller's image, mostly the same as the callee's
 * @param callerProgram program of the caller's image, as that of the callee's
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
    String callerImage,
    String callerImageId,
    String program,
    String callerProgram,
    int images,
    int isas,
    long calls,
    long finished,
    long total,
    long self,
    long min,
    long max) {

  /** Rows of separate images, where edges between two functions of programs are joined. */
  static Stream<EdgeRow> grouped(Collection<EdgeRow> rows) {
    return Grouping.join(rows, EdgeRow::key, EdgeRow::joined);
  }

  private Object key() {
    return program.isEmpty() || callerProgram.isEmpty()
        ? List.of(session, callerImageId, callerPc, imageId, calleePc)
        : List.of(session, callerProgram, caller, program, callee);
  }

  private static EdgeRow joined(List<EdgeRow> group) {
    EdgeRow sum = group.stream().reduce(EdgeRow::plus).orElseThrow();
    int images = Grouping.distinct(group, EdgeRow::imageId);
    return new EdgeRow(
        sum.session,
        sum.caller,
        sum.callee,
        Grouping.common(group, EdgeRow::callerPc, 0L),
        Grouping.common(group, EdgeRow::calleePc, 0L),
        images == 1 ? sum.image : "",
        images == 1 ? sum.imageId : "",
        Grouping.common(group, EdgeRow::isa, ""),
        Grouping.common(group, EdgeRow::callerImage, ""),
        Grouping.common(group, EdgeRow::callerImageId, ""),
        sum.program,
        sum.callerProgram,
        images,
        Grouping.distinct(group, EdgeRow::isa),
        sum.calls,
        sum.finished,
        sum.total,
        sum.self,
        sum.min,
        sum.max);
  }

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
        callerImage,
        callerImageId,
        program,
        callerProgram,
        images,
        isas,
        Saturating.sum(calls, other.calls),
        Saturating.sum(finished, other.finished),
        Saturating.sum(total, other.total),
        Saturating.sum(self, other.self),
        FunctionRow.least(min, finished, other.min, other.finished),
        Math.max(max, other.max));
  }
}
