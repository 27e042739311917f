package dev.retstack.graph.report;

import dev.retstack.graph.input.Grouping;
import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.symbol.SourceLine;
import dev.retstack.schema.record.FunctionName;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * Totals of one function over the cores of a report, or of one of its sessions. Durations are in
 * the report's unit. The row of a group is that of a function in several images of a program; what
 * these have not in common is empty, or 0.
 *
 * @param session whose calls these are, where a report has several; empty where it has one, or adds
 *     them up
 * @param function its symbol with its other names, or its address in hex where unknown; of a group
 *     the names that it has in any image
 * @param address first byte of the symbol, or selfPc where unknown; unsigned
 * @param selfPc address by which its records know it
 * @param image file name of the image
 * @param imageId build-id of the image
 * @param program in which the name is this function alone; empty where there is none
 * @param images that it was called in
 * @param isas of these images
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
    FunctionName function,
    long address,
    long selfPc,
    String image,
    String imageId,
    String isa,
    String program,
    int images,
    int isas,
    SourceLine source,
    long calls,
    long finished,
    long total,
    long sum,
    long self,
    long min,
    long max,
    long wall) {

  /** The name that is shown. */
  public String name() {
    return function.shown();
  }

  /** Rows of separate images, where each function of a program is joined. */
  public static Stream<FunctionRow> grouped(Collection<FunctionRow> rows) {
    return Grouping.join(rows, FunctionRow::key, FunctionRow::joined);
  }

  private Object key() {
    return program.isEmpty()
        ? List.of(session, imageId, selfPc)
        : List.of(session, program, name());
  }

  private static FunctionRow joined(List<FunctionRow> group) {
    FunctionRow sum = group.stream().reduce(FunctionRow::plus).orElseThrow();
    int images = Grouping.distinct(group, FunctionRow::imageId);
    return new FunctionRow(
        sum.session,
        group.stream()
            .map(row -> row.function.others())
            .reduce(sum.function, FunctionName::and, (a, _) -> a),
        images == 1 ? sum.address : 0,
        Grouping.common(group, FunctionRow::selfPc, 0L),
        images == 1 ? sum.image : "",
        images == 1 ? sum.imageId : "",
        Grouping.common(group, FunctionRow::isa, ""),
        sum.program,
        images,
        Grouping.distinct(group, FunctionRow::isa),
        Grouping.common(group, FunctionRow::source, SourceLine.NONE),
        sum.calls,
        sum.finished,
        sum.total,
        sum.sum,
        sum.self,
        sum.min,
        sum.max,
        sum.wall);
  }

  /** This row without its session, to be added up with rows of other sessions. */
  public FunctionRow ofAllSessions() {
    return new FunctionRow(
        "", function, address, selfPc, image, imageId, isa, program, images, isas, source, calls,
        finished, total, sum, self, min, max, wall);
  }

  /** What two rows of one function add up to. */
  public FunctionRow plus(FunctionRow other) {
    return new FunctionRow(
        session,
        function,
        address,
        selfPc,
        image,
        imageId,
        isa,
        program,
        images,
        isas,
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
