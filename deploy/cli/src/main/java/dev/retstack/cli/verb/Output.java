package dev.retstack.cli.verb;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/** Writes text into a stream that stays open. */
final class Output {
  /** Something that writes. */
  interface Body {
    void write(Writer out) throws IOException;
  }

  private Output() {}

  static void write(OutputStream stream, Body body) throws IOException {
    Writer writer = new BufferedWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8));
    body.write(writer);
    writer.flush();
  }
}
