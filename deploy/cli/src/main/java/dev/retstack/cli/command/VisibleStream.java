package dev.retstack.cli.command;

import dev.retstack.schema.wire.Visible;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Passes text on as {@link Visible#lines} shows it. So no text reaches a terminal that the terminal
 * would obey, even if a caller forgot to escape it.
 */
@SuppressWarnings("AnnotateFormatMethod") // PrintStream is not annotated, either
final class VisibleStream extends PrintStream {
  private final PrintStream raw;
  private final Filter filter;

  private VisibleStream(PrintStream raw, Filter filter) {
    super(filter, false, StandardCharsets.UTF_8);
    this.raw = raw;
    this.filter = filter;
  }

  /** A stream that shows what goes into this one. */
  static VisibleStream of(PrintStream stream) {
    return stream instanceof VisibleStream same
        ? same
        : new VisibleStream(stream, new Filter(stream));
  }

  /** The stream below, behind all that was written here. */
  PrintStream raw() {
    try {
      filter.end();
    } catch (IOException e) {
      throw new UncheckedIOException("a stream that prints does not throw", e);
    }
    return raw;
  }

  /** Prints one line: line breaks inside the text are made visible. */
  @Override
  public void println(String line) {
    print(Visible.line(String.valueOf(line)) + "\n");
  }

  /** The format may have lines, the texts that are put into it make none. */
  @Override
  public PrintStream format(Locale locale, String format, Object... arguments) {
    Object[] shown = arguments.clone();
    for (int i = 0; i < shown.length; i++) {
      shown[i] = shown[i] instanceof CharSequence text ? Visible.line(text.toString()) : shown[i];
    }
    return super.format(locale, format, shown);
  }

  @Override
  public PrintStream format(String format, Object... arguments) {
    return format(Locale.ROOT, format, arguments);
  }

  @Override
  public boolean checkError() {
    boolean here = super.checkError(); // flushes, which is where errors come from
    return raw.checkError() || here;
  }

  private static final class Filter extends FilterOutputStream {
    /** The beginning of a character, or a carriage return, of which the rest is yet to come. */
    private byte[] begun = {};

    Filter(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      if (begun.length == 0 && isPlain(bytes, offset, length)) {
        out.write(bytes, offset, length);
        return;
      }
      byte[] all = new byte[begun.length + length];
      System.arraycopy(begun, 0, all, 0, begun.length);
      System.arraycopy(bytes, offset, all, begun.length, length);
      int whole = whole(all);
      begun = Arrays.copyOfRange(all, whole, all.length);
      show(all, whole);
    }

    private void show(byte[] bytes, int length) throws IOException {
      String text = new String(bytes, 0, length, StandardCharsets.UTF_8);
      out.write(Visible.lines(text).getBytes(StandardCharsets.UTF_8));
    }

    private static boolean isPlain(byte[] bytes, int offset, int length) {
      for (int i = offset; i < offset + length; i++) {
        byte b = bytes[i];
        if ((b < ' ' && b != '\n' && b != '\t') || b == 0x7f) { // bytes above 0x7f are negative
          return false;
        }
      }
      return true;
    }

    /** Bytes that can be shown now. */
    private static int whole(byte[] bytes) {
      int last = bytes.length - 1;
      if (last >= 0 && bytes[last] == '\r') {
        return last;
      }
      for (int i = last; i >= 0 && i > last - 4; i--) {
        int b = bytes[i] & 0xff;
        if (b >= 0xc0) {
          int needed = b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : 2;
          return i + needed > bytes.length ? i : bytes.length;
        }
        if (b < 0x80) {
          break;
        }
      }
      return bytes.length;
    }

    /** Shows what was begun as it stands. */
    void end() throws IOException {
      byte[] rest = begun;
      begun = new byte[0];
      show(rest, rest.length);
    }
  }
}
