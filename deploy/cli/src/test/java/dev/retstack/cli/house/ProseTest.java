package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Documents are easy to read in a terminal, and use the common word. */
class ProseTest {
  private static final int COLUMNS = 120;

  /** Words that read translated, and what to write instead. Code spans and quotations are free. */
  private static final Map<String, String> WORDS =
      Map.ofEntries(
          Map.entry("foretold|foretells?", "predicted"),
          Map.entry("is told|are told|was told|told by", "reported, shown, named"),
          Map.entry("goes on|go on", "continues"),
          Map.entry("(?<!there )is no(?= [a-z]+[.,;:])", "is not a"),
          Map.entry("so many", "N, that many"),
          Map.entry("whoever|nobody who", "the caller, a client, a member"),
          Map.entry("dear", "expensive"),
          Map.entry("of (its|their|his) own", "own, separate"),
          Map.entry("without a word", "silently"),
          Map.entry("mend|mends|mended", "fix"),
          Map.entry("by the hour|unless said otherwise|unless told otherwise", "default: N"));

  @Test
  void linesEndAtColumn120OutsideTablesAndCode() throws IOException {
    List<String> longer = new ArrayList<>();
    for (Path document : Repository.documents()) {
      for (String line : prose(document)) {
        if (line.codePointCount(0, line.length()) > COLUMNS && !line.startsWith("|")) {
          longer.add(Repository.root().relativize(document) + ": " + line);
        }
      }
    }
    assertThat(longer).isEmpty();
  }

  @Test
  void documentsUseTheCommonWord() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path document : Repository.documents()) {
      String text = String.join(" ", prose(document)).replaceAll("`[^`]*`|\"[^\"]*\"", "_");
      for (Map.Entry<String, String> word : WORDS.entrySet()) {
        Pattern pattern = Pattern.compile("\\b(" + word.getKey() + ")\\b");
        for (Matcher m = pattern.matcher(text.toLowerCase(Locale.ROOT)); m.find(); ) {
          String around = text.substring(Math.max(0, m.start() - 40), m.end());
          found.add(
              Repository.root().relativize(document) + ": ..." + around + " → " + word.getValue());
        }
      }
    }
    assertThat(found).isEmpty();
  }

  /** Lines of a document outside its code fences. */
  private static List<String> prose(Path document) throws IOException {
    List<String> lines = new ArrayList<>();
    boolean code = false;
    for (String line : Files.readAllLines(document)) {
      if (line.strip().startsWith("```")) {
        code = !code;
      } else if (!code) {
        lines.add(line);
      }
    }
    return lines;
  }
}
