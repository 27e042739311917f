package dev.retstack.answers.table;

import dev.retstack.schema.wire.Visible;
import java.io.IOException;

/** How every line of text outside tables is written. */
public final class Line {
  private Line() {}

  /** Writes one line. It stays one, and does nothing to a terminal, whatever names are in it. */
  public static void write(Appendable out, String text) throws IOException {
    out.append(Visible.line(text)).append('\n');
  }
}
