package dev.retstack.schema.wire;

/**
 * Makes text visible that may contain foreign text: names of programs, cores and sessions. A
 * terminal, an editor or a log reader obeys some characters instead of showing them: escapes,
 * controls, changes of the writing direction, characters without width, half characters. These are
 * escaped: {@code \x1b}, {@code \u202e}. Inside a JSON string they stay the same text, because
 * every character that JSON allows unescaped is written as {@code \}{@code u}.
 */
public final class Visible {
  private Visible() {}

  /** Text that is part of one line: an end of line in it is shown too. */
  public static String line(String text) {
    return shown(text, false);
  }

  /** Text of many lines: their ends, LF or CRLF, and tabs stay. */
  public static String lines(String text) {
    return shown(text, true);
  }

  /** The beginning of a text, with a U+FFFD for each control: short, and harmless on a terminal. */
  public static String cut(String text, int charsMax) {
    String shown = text.length() > charsMax ? text.substring(0, charsMax) : text;
    return shown.replaceAll("\\p{Cntrl}", "\uFFFD");
  }

  /** Whether a character may be printed as it is, inside a line. */
  public static boolean isPlain(int codePoint) {
    if (codePoint < 0x7f) {
      return codePoint >= ' ';
    }
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }

  private static String shown(String text, boolean lines) {
    StringBuilder shown = null; // hardly ever needed
    int from = 0;
    for (int i = 0; i < text.length(); ) {
      char ascii = text.charAt(i); // nearly all are
      if (ascii >= ' ' && ascii < 0x7f) {
        i++;
        continue;
      }
      int codePoint = text.codePointAt(i);
      int next = i + Character.charCount(codePoint);
      boolean end = codePoint == '\r' && next < text.length() && text.charAt(next) == '\n';
      boolean kept = lines && (codePoint == '\n' || codePoint == '\t' || end);
      if (!kept && !isPlain(codePoint)) {
        shown = shown == null ? new StringBuilder(text.length() + 16) : shown;
        shown.append(text, from, i);
        for (int unit = i; unit < next; unit++) {
          shown.append(
              (codePoint < ' ' ? "\\x%02x" : "\\u%04x").formatted((int) text.charAt(unit)));
        }
        from = next;
      }
      i = next;
    }
    return shown == null ? text : shown.append(text, from, text.length()).toString();
  }
}
