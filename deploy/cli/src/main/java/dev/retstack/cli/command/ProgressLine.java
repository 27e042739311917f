package dev.retstack.cli.command;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.graph.check.Count;
import dev.retstack.schema.wire.Visible;
import java.math.BigDecimal;
import java.util.Objects;

/**
 * Shows the progress of a long task: one line that is overwritten on a terminal, and a plain line
 * from time to time elsewhere. A short task shows nothing.
 */
public final class ProgressLine implements AutoCloseable {
  private static final long PATIENCE_NANOS = 2_000_000_000L;
  private static final String VARIABLE = "RETSTACK_PROGRESS";
  private static final String ERASE = "\r\u001b[K";

  private final Terminal terminal;
  private final long plainNanos;
  private final long start = System.nanoTime();
  private String last = "";
  private long shown;
  private boolean open;

  /**
   * Opens a line that shows nothing yet.
   *
   * @throws CommandException if RETSTACK_PROGRESS, seconds between plain lines, is no such number
   */
  public ProgressLine(Terminal terminal) {
    this.terminal = terminal;
    String seconds = Objects.requireNonNullElse(terminal.variable(VARIABLE), "5");
    try {
      plainNanos = new BigDecimal(seconds).movePointRight(9).longValueExact();
    } catch (ArithmeticException | NumberFormatException e) {
      throw noTime(seconds);
    }
    if (plainNanos <= 0) {
      throw noTime(seconds);
    }
  }

  private static CommandException noTime(String seconds) {
    return CommandException.usage(
        "%s: seconds between lines of progress, such as 0.5 or 60, not \"%s\""
            .formatted(VARIABLE, seconds));
  }

  /** Says where it stands now. */
  public synchronized void show(String text) {
    last = text;
    long now = System.nanoTime();
    if (now - start < Math.min(PATIENCE_NANOS, plainNanos)) {
      return;
    }
    if (terminal.interactive()) {
      terminal.rawErr().print(ERASE);
      terminal.err().print("retstack: " + Visible.line(text));
      terminal.err().flush();
      open = true;
    } else if (shown == 0 || now - shown >= plainNanos) {
      terminal.note(text);
      shown = now;
    }
  }

  /** Says how many records and chunks are done so far; {@code done} is what was done to them. */
  public TraceReplay.Progress chunks(String done) {
    return (chunks, records) ->
        show(
            "%s in %s %s"
                .formatted(Count.grouped(records, "record"), Count.grouped(chunks, "chunk"), done));
  }

  /** Says where it stood last, on a line that stays: it was stopped. */
  public synchronized void noteStopped() {
    if (!last.isEmpty()) {
      note("stopped: " + last);
    }
  }

  /** Writes a sentence that stays on a separate line. */
  public synchronized void note(String text) {
    close();
    open = false;
    terminal.note(text);
  }

  /** Takes the line away. */
  @Override
  public synchronized void close() {
    if (open) {
      terminal.rawErr().print(ERASE);
      terminal.err().flush();
    }
  }
}
