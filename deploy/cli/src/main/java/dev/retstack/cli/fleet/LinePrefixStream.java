package dev.retstack.cli.fleet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Puts a name before each line and passes on only whole lines, so that several cores can share one
 * output. The streams of one output lock it against each other.
 */
public final class LinePrefixStream extends OutputStream {
  /** A line longer than this is passed on in pieces. */
  private static final int LINE_BYTES_MAX = 1 << 16;

  private final OutputStream out;
  private final byte[] prefix;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();

  public LinePrefixStream(OutputStream out, String prefix) {
    this.out = out;
    this.prefix = prefix.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void write(int b) throws IOException {
    line.write(b);
    if (b == '\n' || line.size() == LINE_BYTES_MAX) {
      pass();
    }
  }

  /** Ends a line that was begun; a program's last words often lack the line end. */
  @Override
  public void flush() throws IOException {
    if (line.size() > 0) {
      line.write('\n');
      pass();
    }
    synchronized (out) {
      out.flush();
    }
  }

  private void pass() throws IOException {
    synchronized (out) {
      out.write(prefix);
      line.writeTo(out);
    }
    line.reset();
  }
}
