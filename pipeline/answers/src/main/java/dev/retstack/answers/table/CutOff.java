package dev.retstack.answers.table;

import dev.retstack.graph.check.AnomalyMessage;

/** The notice that a trace was cut off, and so less than complete, ahead of its figures. */
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
