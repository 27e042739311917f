package dev.retstack.service.export;

import dev.retstack.graph.report.AnomalyRow;
import java.io.IOException;
import java.util.List;

/** Anomalies as the kernel prints its warnings: a block each, with both values and the stack. */
public final class AnomalyText {
  private static final String CUT = "------------[ cut here ]------------\n";

  private AnomalyText() {}

  /** Writes all blocks, or a line that says there are none. */
  public static void write(List<AnomalyRow> anomalies, Appendable out) throws IOException {
    if (anomalies.isEmpty()) {
      out.append("# no anomalies\n");
    }
    for (AnomalyRow row : anomalies) {
      block(row, out);
    }
  }

  private static void block(AnomalyRow row, Appendable out) throws IOException {
    out.append(CUT);
    out.append(
        "%s: %s on core %s (%s), task %s, time %d\n"
            .formatted(
                row.severity(),
                row.kind(),
                row.core(),
                row.isa(),
                TaskText.behindTask(row.taskName()),
                row.time()));
    out.append("  ").append(row.message()).append('\n');
    if (isMismatch(row)) {
      out.append("  expected ").append(Units.hex(row.expected())).append('\n');
      out.append("  received ").append(Units.hex(row.received())).append('\n');
    }
    if (!row.stack().isEmpty()) {
      out.append("  Call trace:\n");
      for (String frame : row.stack()) {
        out.append("   ").append(frame).append('\n');
      }
    }
    out.append("  likely: ").append(row.kind().cause()).append('\n');
    out.append("  to do: ").append(row.kind().cure()).append('\n');
    out.append("---[ end trace ]---\n");
  }

  private static boolean isMismatch(AnomalyRow row) {
    return switch (row.kind()) {
      case FRAME_POINTER_MISMATCH,
          RETURN_ADDRESS_MISMATCH,
          MISPLACED_EXIT,
          MISSED_EXIT,
          STACK_SMASHED ->
          true;
      case TAIL_CALL, UNWOUND, STACK_SWITCH, OVERRUN, LOST, SEQUENCE_GAP, TRUNCATED -> false;
    };
  }
}
