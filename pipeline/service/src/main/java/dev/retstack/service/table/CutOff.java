package dev.retstack.service.table;

import dev.retstack.graph.check.AnomalyMessage;

/** That a trace was cut off, and so less than complete, ahead of all that is shown of it. */
public final class CutOff {
  /** The first line of text. */
  public static final String LINE = "# " + AnomalyMessage.CUT;

  private CutOff() {}

  /**
   * The document, behind that.
   *
   * @param cut whether the trace was cut off
   */
  public static Document ahead(boolean cut, Document shown) {
    return cut ? shown.ahead(LINE, "cut", true) : shown;
  }
}
