package dev.retstack.answers.view;

import dev.retstack.answers.export.TaskText;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.answers.table.Table.Hex;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.AnomalySum;
import java.util.List;

/**
 * Anomalies. As text they look like the kernel's warnings: a block each, with both values and the
 * stack. Anomalies without a kept row have one line each.
 *
 * <p>JSON is an array, a contract kept stable. Counts are exact, see {@link AnomalySum}. {@code
 * core}, {@code task}, {@code time}, {@code expected}, {@code received}, {@code stack} and {@code
 * message} are those of the first kept anomaly; cause and cure are sentences of the kind. In CSV
 * the stack is one field, innermost first, divided by semicolons.
 */
public final class AnomaliesView {
  private static final Table<AnomalySum> SUMS =
      new Table<AnomalySum>()
          .and(
              new Table<AnomalyRow>()
                  .text("kind", AnomalyRow::kind)
                  .text("core", AnomalyRow::core)
                  .text("task", row -> new Table.TaskId(row.task())),
              AnomalySum::sample)
          .text("function", AnomalySum::function)
          .onlyJson(
              "otherNames", sum -> sum.names().others().isEmpty() ? null : sum.names().others())
          .and(
              new Table<AnomalyRow>()
                  .text("expected", row -> new Hex(row.expected()))
                  .text("received", row -> new Hex(row.received()))
                  .number("time", AnomalyRow::time)
                  .text("stack", AnomalyRow::stack)
                  .text("severity", AnomalyRow::severity)
                  .text("caller", AnomalyRow::caller),
              AnomalySum::sample)
          .number("count", AnomalySum::count)
          .and(
              new Table<AnomalyRow>()
                  .text("message", AnomalyRow::message)
                  .text("cause", row -> row.kind().cause())
                  .text("cure", row -> row.kind().cure())
                  .text("taskName", AnomalyRow::taskName)
                  .text("session", AnomalyRow::session),
              AnomalySum::sample)
          .text("place", AnomalySum::place)
          .number("times", AnomalySum::times)
          .number("kept", AnomalySum::kept)
          .number("last", AnomalySum::last)
          .number("cores", AnomalySum::cores)
          .number("images", AnomalySum::images)
          .number("tasks", AnomalySum::tasks)
          .number("groups", AnomalySum::groups);

  private static final String CUT = "------------[ cut here ]------------";

  private AnomaliesView() {}

  /** All of them; text says so where there are none. */
  public static Document of(List<AnomalySum> anomalies) {
    return new Document()
        .rows("", SUMS, anomalies)
        .csv(SUMS, anomalies)
        .text(document -> text(anomalies, document));
  }

  private static void text(List<AnomalySum> anomalies, Document document) {
    if (anomalies.isEmpty()) {
      document.line("# no anomalies");
    }
    SessionNames names =
        SessionNames.of(
            anomalies.stream().map(sum -> sum.sample().session()).filter(one -> !one.isEmpty()));
    for (AnomalySum sum : anomalies) {
      if (sum.sampled()) {
        block(sum, names, document);
      } else {
        line(sum, document);
      }
    }
  }

  private static void line(AnomalySum sum, Document out) {
    AnomalyRow row = sum.sample();
    out.line(
        "# %s: %s %s%s%s: %s"
            .formatted(
                row.severity(),
                row.kind(),
                Count.of(sum.times(), "time"),
                sum.count() == sum.times() ? "" : " (count %d)".formatted(sum.count()),
                (sum.function().isEmpty() ? "" : " in " + sum.function())
                    + (sum.place().isEmpty() ? "" : " at " + sum.place())
                    + (sum.groups() == 1 ? "" : places(sum)),
                row.message()));
  }

  private static void block(AnomalySum sum, SessionNames names, Document out) {
    AnomalyRow row = sum.sample();
    out.line(CUT);
    out.line(
        "%s: %s on core %s (%s), task %s, time %d"
            .formatted(
                row.severity(),
                row.kind(),
                names.name(row.core(), row.session()),
                row.isa(),
                TaskText.behindTask(row.taskName()),
                row.time()));
    out.line("  %s".formatted(row.message()));
    if (sum.times() > 1) {
      out.line(
          "  %s (count %d)%s on %s in %s until time %d; %d kept with time and stack"
              .formatted(
                  Count.of(sum.times(), "time"),
                  sum.count(),
                  sum.groups() == 1 ? "" : places(sum),
                  Count.of(sum.cores(), "core"),
                  Count.of(sum.tasks(), "task"),
                  sum.last(),
                  sum.kept()));
    }
    if (isMismatch(row)) {
      out.line("  expected %s".formatted(Units.hex(row.expected())));
      out.line("  received %s".formatted(Units.hex(row.received())));
    }
    if (!row.stack().isEmpty()) {
      out.line("  Call trace:");
      for (String frame : row.stack()) {
        out.line("   %s".formatted(frame));
      }
    }
    out.line("  likely: %s".formatted(row.kind().cause()));
    out.line("  to do: %s".formatted(row.kind().cure()));
    out.line("---[ end trace ]---");
  }

  private static String places(AnomalySum sum) {
    return " at %d places of %s".formatted(sum.groups(), Count.of(sum.images(), "image"));
  }

  private static boolean isMismatch(AnomalyRow row) {
    return switch (row.kind()) {
      case FRAME_POINTER_MISMATCH,
          RETURN_ADDRESS_MISMATCH,
          MISPLACED_EXIT,
          MISSED_EXIT,
          KEYFRAME_MISMATCH,
          STACK_SMASHED ->
          true;
      case FAULTED, OVERRUN, LOST, SEQUENCE_GAP, TRUNCATED, CUT_TRACE -> false;
    };
  }
}
