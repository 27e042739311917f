package dev.retstack.answers.view;

import dev.retstack.answers.search.CallSearch;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.graph.check.Count;

/** Where the calls are that a search found, in the order in which they begin. */
public final class HitsView {
  private static final Table<CallSearch.Hit> TABLE =
      new Table<CallSearch.Hit>()
          .text("core", hit -> hit.core().core())
          .text("session", hit -> hit.core().session())
          .text("task", hit -> new Table.TaskId(hit.line().task()))
          .number("instance", hit -> hit.line().instance())
          .number("interrupts", hit -> hit.line().interrupts())
          .number("depth", hit -> hit.line().depth())
          .text("function", CallSearch.Hit::function)
          .number("enter", CallSearch.Hit::enter)
          .number("exit", CallSearch.Hit::exit)
          .number("calls", CallSearch.Hit::calls)
          .headed("CALLS", "ENTER", "EXIT", "DEPTH", "TASK", "CORE", "FUNCTION");

  private HitsView() {}

  /**
   * What a search found.
   *
   * @param columns whether JSON has the rows column by column
   */
  public static Document of(CallSearch.Found found, boolean columns) {
    Document document =
        new Document()
            .field("calls", found.calls())
            .field("functions", found.functions())
            .field("stretch", found.stretch())
            .line(
                "# %s of %s"
                    .formatted(
                        Count.of(found.calls(), "call"), Count.of(found.functions(), "function")));
    if (found.stretch() > 1) {
      document.line(
          "# the first call of each %,d of time stands for the others there"
              .formatted(found.stretch()));
    }
    return (columns
            ? document.columns("hits", TABLE, found.hits())
            : document.rows("hits", TABLE, found.hits()))
        .csv(TABLE, found.hits())
        .text(TABLE, found.hits());
  }
}
