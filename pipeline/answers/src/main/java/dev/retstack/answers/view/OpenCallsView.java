package dev.retstack.answers.view;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.report.OpenCallRow;
import java.util.List;
import java.util.Optional;

/** Calls that have not ended. */
public final class OpenCallsView {
  private static final Table<OpenCallRow> CALLS =
      new Table<OpenCallRow>()
          .text("core", OpenCallRow::core)
          .text("session", OpenCallRow::session)
          .text("task", call -> new Table.TaskId(call.task()))
          .number("instance", OpenCallRow::instance)
          .text("taskName", OpenCallRow::taskName)
          .text("function", OpenCallRow::function)
          .text("selfPc", call -> new Table.Hex(call.selfPc()))
          .number("depth", OpenCallRow::depth)
          .number("enter", OpenCallRow::enter)
          .number("openFor", OpenCallRow::openFor)
          .text("unit", OpenCallRow::unit);

  private OpenCallsView() {}

  /**
   * The calls, and how many more are open than these.
   *
   * @param open calls that are open, also those that the trees did not keep
   * @param coverage of a job; empty for a trace
   */
  public static Document of(List<OpenCallRow> calls, long open, Optional<Coverage> coverage) {
    Document document = new Document();
    coverage.ifPresent(of -> of.addTo(document));
    SessionNames names = SessionNames.of(calls.stream().map(OpenCallRow::session));
    Table<OpenCallRow> named =
        CALLS
            .onlyText("coreName", call -> names.name(call.core(), call.session()))
            .headed(
                "CORE=coreName",
                "TASK=taskName",
                "DEPTH",
                "ENTER",
                "OPEN FOR=openFor",
                "UNIT",
                "FUNCTION");
    return document
        .field("open", open)
        .table("calls", named, calls)
        .line(
            "%s, %s"
                .formatted(
                    Count.of(open, "call is open", "calls are open"),
                    Count.of(calls.size(), "is shown", "are shown")));
  }
}
