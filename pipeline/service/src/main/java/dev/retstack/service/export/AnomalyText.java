package dev.retstack.service.export;

import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.AnomalySum;
import java.io.IOException;
import java.util.List;

/**
 * Anomalies as the kernel prints its warnings: a block each, with both values and the stack; those
 * of which no row is shown in a line each.
 */
public final class AnomalyText {
  private static final String CUT = "------------[ cut here ]------------";

  private AnomalyText() {}

  /** Writes all blocks, or a line that says there are none. */
  public static void write(List<AnomalySum> anomalies, Appendable out) throws IOException {
    if (anomalies.isEmpty()) {
      Line.write(out, "# no anomalies");
    }
    for (AnomalySum sum : anomalies) {
      if (!sum.sampled()) {
        line(sum, out);
      } else {
        block(sum, out);
      }
    }
  }

  private static void line(AnomalySum sum, Appendable out) throws IOException {
    AnomalyRow row = sum.sample();
    Line.write(
        out,
        "# %s: %s %d times%s%s: %s"
            .formatted(
                row.severity(),
                row.kind(),
                sum.times(),
                sum.count() == sum.times() ? "" : " (count %d)".formatted(sum.count()),
                row.function().isEmpty()
                    ? sum.groups() == 1 ? "" : " at %d places".formatted(sum.groups())
                    : " in %s%s"
                        .formatted(
                            row.function(), sum.place().isEmpty() ? "" : " at " + sum.place()),
                row.message()));
  }

  private static void block(AnomalySum sum, Appendable out) throws IOException {
    AnomalyRow row = sum.sample();
    Line.write(out, CUT);
    Line.write(
        out,
        "%s: %s on core %s (%s), task %s, time %d"
            .formatted(
                row.severity(),
                row.kind(),
                row.core(),
                row.isa(),
                TaskText.behindTask(row.taskName()),
                row.time()));
    Line.write(out, "  %s".formatted(row.message()));
    if (sum.times() > 1) {
      Line.write(
          out,
          "  %d times (count %d) on %s in %s until time %d; %d kept with time and stack"
              .formatted(
                  sum.times(),
                  sum.count(),
                  sum.cores() == 1 ? "1 core" : sum.cores() + " cores",
                  sum.tasks() == 1 ? "1 task" : sum.tasks() + " tasks",
                  sum.last(),
                  sum.kept()));
    }
    if (isMismatch(row)) {
      Line.write(out, "  expected %s".formatted(Units.hex(row.expected())));
      Line.write(out, "  received %s".formatted(Units.hex(row.received())));
    }
    if (!row.stack().isEmpty()) {
      Line.write(out, "  Call trace:");
      for (String frame : row.stack()) {
        Line.write(out, "   %s".formatted(frame));
      }
    }
    Line.write(out, "  likely: %s".formatted(row.kind().cause()));
    Line.write(out, "  to do: %s".formatted(row.kind().cure()));
    Line.write(out, "---[ end trace ]---");
  }

  private static boolean isMismatch(AnomalyRow row) {
    return switch (row.kind()) {
      case FRAME_POINTER_MISMATCH,
          RETURN_ADDRESS_MISMATCH,
          MISPLACED_EXIT,
          MISSED_EXIT,
          STACK_SMASHED ->
          true;
      case FAULTED, TAIL_CALL, UNWOUND, STACK_SWITCH, OVERRUN, LOST, SEQUENCE_GAP, TRUNCATED ->
          false;
    };
  }
}
