package dev.retstack.cli.result;

import dev.retstack.graph.input.Grouping;
import java.util.Map;
import picocli.CommandLine.Option;

/** Whether images of one program are shown together. */
public final class GroupOption {
  @Option(
      names = "--by-image",
      description =
          "Show each image of a program separately. Without it, a function has one row for all of"
              + " them: files are of one program if their names are equal up to the name of their"
              + " ISA, as in zoo-arm.elf and zoo-s390x.elf.")
  private boolean byImage;

  /** What a row is. */
  public Grouping rows() {
    return byImage ? Grouping.BY_IMAGE : Grouping.GROUPS;
  }

  /** Request parameters that ask a pipeline for the same rows. */
  public Map<String, String> parameters() {
    return parameters(rows());
  }

  static Map<String, String> parameters(Grouping rows) {
    return Map.of("rows", rows.text());
  }
}
