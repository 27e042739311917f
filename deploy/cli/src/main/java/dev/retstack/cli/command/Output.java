package dev.retstack.cli.command;

import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.Rendering;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes a result as text, JSON or CSV to a stream that stays open, or to a file. */
public final class Output {
  /** Something that writes. */
  public interface Body {
    void write(Writer out) throws IOException;
  }

  private Output() {}

  /** Writes what is shown, in one form. */
  public static void write(OutputStream stream, Format form, Rendering shown) throws IOException {
    write(stream, out -> shown.write(form, out));
  }

  /** Writes into a file, or into the stream if the file is {@code -}. */
  public static void to(Path file, OutputStream stream, Body body) throws IOException {
    if (file.toString().equals("-")) {
      write(stream, body);
      return;
    }
    try (OutputStream out = Files.newOutputStream(file)) {
      write(out, body);
    } catch (IOException e) {
      throw FileTrouble.writing(file, e);
    }
  }

  /** Writes into the stream. */
  public static void write(OutputStream stream, Body body) throws IOException {
    Writer writer = new BufferedWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8));
    body.write(writer);
    writer.flush();
  }
}
