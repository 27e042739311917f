package dev.retstack.answers.table;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;

/** Something that can be written in every form. */
@FunctionalInterface
public interface Rendering {
  /** Writes it in one form. Names in it do nothing to a terminal or a spreadsheet. */
  void write(Format form, Writer out) throws IOException;

  /** What is written in one form. */
  default String as(Format form) {
    StringWriter out = new StringWriter();
    try {
      write(form, out);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot happen in memory", e);
    }
    return out.toString();
  }
}
