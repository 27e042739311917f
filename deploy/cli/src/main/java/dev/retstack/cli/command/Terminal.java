package dev.retstack.cli.command;

import java.io.BufferedOutputStream;
import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/**
 * Where a verb speaks. Data goes to {@code out}, notes and progress to {@code err}; both are UTF-8,
 * {@code out} is buffered and flushed when the verb ends.
 *
 * @param out data: what another program may read
 * @param err notes for a human
 * @param interactive true where a human watches, so that a progress line may be written over
 * @param environment the process environment
 */
public record Terminal(
    PrintStream out, PrintStream err, boolean interactive, Map<String, String> environment) {
  private static final int BUFFER_BYTES = 1 << 16;

  /** What names may do to a terminal is shown instead. */
  public Terminal {
    out = VisibleStream.of(out);
    err = VisibleStream.of(err);
  }

  /** Standard output and standard error of this process. */
  public static Terminal system() {
    // null where the JVM was started with the older console (jdk.console)
    boolean watched = Optional.ofNullable(System.console()).map(Console::isTerminal).orElse(false);
    return new Terminal(
        stream(new FileOutputStream(FileDescriptor.out), false),
        stream(new FileOutputStream(FileDescriptor.err), true),
        watched && !"dumb".equals(System.getenv("TERM")),
        System.getenv());
  }

  /** Standard output as it is: for colours of ours, a program's output, and binary data. */
  public PrintStream rawOut() {
    return ((VisibleStream) out).raw();
  }

  /** Standard error as it is. */
  public PrintStream rawErr() {
    return ((VisibleStream) err).raw();
  }

  /** Writes a sentence for the user on a separate line; further lines of it are indented. */
  public void note(String message) {
    out.flush();
    err.print("retstack: " + message.replaceAll("\\R(?!  )", "\n  ") + "\n");
  }

  /** The value of an environment variable, or null where it is unset or empty. */
  public String variable(String name) {
    String value = environment.get(name);
    return value == null || value.isEmpty() ? null : value;
  }

  private static PrintStream stream(OutputStream to, boolean flushLines) {
    return new PrintStream(
        new BufferedOutputStream(to, BUFFER_BYTES), flushLines, StandardCharsets.UTF_8);
  }
}
