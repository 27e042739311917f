package dev.retstack.cli.top;

import dev.retstack.cli.command.Terminal;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The window of a terminal, in which each frame takes the place of the last one. What was in it
 * before moves up into the scrollback, of which nothing is ever erased; the last frame stays.
 */
final class Screen {
  /** Rows and columns of a window. */
  record Size(int rows, int columns) {
    /** If neither stty nor the environment has the size. */
    static final Size USUAL = new Size(24, 80);

    /** The size in these words; the usual one if they are no numbers. */
    private static Size of(String rows, String columns) {
      try {
        int lines = Integer.parseInt(rows.strip());
        int width = Integer.parseInt(columns.strip());
        return lines > 0 && width > 0 ? new Size(lines, width) : USUAL;
      } catch (NumberFormatException e) {
        return USUAL;
      }
    }
  }

  private static final String HOME = "\u001b[H";
  private static final String ERASE_LINE = "\u001b[K";
  private static final String ERASE_BELOW = "\u001b[J";

  /** Code points from here on may be as wide as two letters. */
  private static final int WIDE = 0x1100;

  private final Terminal terminal;
  private boolean begun;

  Screen(Terminal terminal) {
    this.terminal = terminal;
  }

  /** How large it is now. */
  Size size() throws InterruptedException {
    try {
      Process stty =
          new ProcessBuilder("stty", "size")
              .redirectInput(ProcessBuilder.Redirect.INHERIT)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String said =
          new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
      int cut = said.indexOf(' ');
      if (stty.waitFor() == 0 && cut > 0) {
        return Size.of(said.substring(0, cut), said.substring(cut));
      }
    } catch (IOException e) {
      // no stty: the environment may have it
    }
    return Size.of(
        Objects.requireNonNullElse(terminal.variable("LINES"), ""),
        Objects.requireNonNullElse(terminal.variable("COLUMNS"), ""));
  }

  /** Shows these lines, as much of them as fits; a line that continues ends in {@code >}. */
  void draw(List<String> lines, Size size) {
    PrintStream raw = terminal.rawOut();
    if (!begun) {
      raw.print("\n".repeat(size.rows()));
      begun = true;
    }
    raw.print(HOME);
    int room = Math.max(1, size.rows() - 1); // the cursor is below the last line
    for (int i = 0; i < Math.min(room, lines.size()); i++) {
      boolean more = i == room - 1 && lines.size() > room;
      terminal.rawOut().print(ERASE_LINE);
      terminal
          .out()
          .print(
              cut(
                      more ? "... %d more lines".formatted(lines.size() - i) : lines.get(i),
                      size.columns())
                  + "\n");
    }
    terminal.rawOut().print(ERASE_BELOW);
    terminal.out().flush();
    terminal.rawOut().flush();
  }

  /** Parts of a sentence in as many lines as it takes. */
  static List<String> wrap(List<String> parts, int columns) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String part : parts) {
      if (!line.isEmpty() && line.length() + part.length() + 3 > columns) {
        lines.add(line + ",");
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : ", ").append(part);
    }
    lines.add(line.toString());
    return lines;
  }

  private static String cut(String line, int columns) {
    int width = 0;
    int end = 0;
    int fits = 0; // where it is cut if there is more of it
    while (end < line.length()) {
      int point = line.codePointAt(end);
      width += point < WIDE ? 1 : 2;
      if (width > columns) {
        return line.substring(0, fits) + ">";
      }
      end += Character.charCount(point);
      fits = width < columns ? end : fits;
    }
    return line;
  }
}
