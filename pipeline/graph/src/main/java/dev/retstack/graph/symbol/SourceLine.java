package dev.retstack.graph.symbol;

/**
 * Where a function begins in its source.
 *
 * @param file as the compiler named it, with folders; empty where it is not known
 * @param line from 1; 0 where it is not known
 */
public record SourceLine(String file, int line) {
  /** Line of a function whose image has no line for it. */
  public static final SourceLine NONE = new SourceLine("", 0);

  /** True where the image has the line. */
  public boolean isKnown() {
    return line > 0;
  }

  /** As compilers and editors write it: {@code src/main.c:12}; empty where it is not known. */
  public String text() {
    return isKnown() ? file + ":" + line : "";
  }
}
