package dev.retstack.cli.command;

import dev.retstack.answers.table.Format;
import picocli.CommandLine.Option;

/** {@code --format}. */
public final class FormatOption {
  @Option(
      names = "--format",
      defaultValue = "text",
      paramLabel = "FORMAT",
      description = "text (default), json or csv.")
  private Format format;

  /** What the user asked for. */
  public Format format() {
    return format;
  }
}
