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
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Documents are easy to read in a terminal; documents and comments use the common word. */
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

  /** Words of comments alone: documents quote messages that have them. */
  private static final Map<String, String> COMMENT_WORDS =
      Map.of(
          "told|tells?", "says, shows, reports, distinguishes",
          "going on|went on", "continues",
          "^(the same|it is told|it goes on|one begins)[.,;]", "a sentence with a subject",
          "^(those|that) of [a-z]+ [a-z]+[.,;]", "a sentence with a subject",
          "^the same (with|without|for|in|as)", "these settings with, a copy with");

  /** Folders whose comments use the common word: all modules. */
  private static final List<String> MODULES = List.of("schemas", "emulators", "pipeline", "deploy");

  private static final Pattern COMMENT =
      Pattern.compile(
          "\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\n])*+'"
              + "|(?<block>/\\*.*?\\*/)|(?<line>//[^\n]*(?:\n\\s*//[^\n]*)*+)",
          Pattern.DOTALL);

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
      find(WORDS, document, text, found);
    }
    assertThat(found).isEmpty();
  }

  @Test
  void commentsUseTheCommonWord() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path source : sources()) {
      for (Matcher m = COMMENT.matcher(Files.readString(source)); m.find(); ) {
        String comment = m.group("block") == null ? m.group("line") : m.group("block");
        if (comment != null) {
          String text = text(comment);
          find(WORDS, source, text, found);
          find(COMMENT_WORDS, source, text, found);
        }
      }
    }
    assertThat(found).isEmpty();
  }

  /** Prose of a comment; code spans, links, quotations and names of parameters are free. */
  private static String text(String comment) {
    return comment
        .replaceAll("(?m)^\\s*(/\\*+|\\*+/?|//+)|\\*+/$", " ")
        .replaceAll("(?s)\\{@\\w+ [^}]*}|`[^`]*`|\"[^\"]*\"|@param \\w+", "_")
        .replaceAll("\\s+", " ")
        .strip();
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (String module : MODULES) {
      try (Stream<Path> files = Files.walk(Repository.root().resolve(module))) {
        files
            .filter(file -> file.toString().matches(".*/src/main/.*\\.(java|js|c|h)"))
            .forEach(sources::add);
      }
    }
    assertThat(sources).hasSizeGreaterThan(100);
    return sources;
  }

  private static void find(Map<String, String> words, Path file, String text, List<String> found) {
    for (Map.Entry<String, String> word : words.entrySet()) {
      String key = word.getKey();
      Pattern pattern = Pattern.compile(key.startsWith("^") ? key : "\\b(" + key + ")\\b");
      for (Matcher m = pattern.matcher(text.toLowerCase(Locale.ROOT)); m.find(); ) {
        String around = text.substring(Math.max(0, m.start() - 40), m.end());
        found.add(Repository.root().relativize(file) + ": ..." + around + " → " + word.getValue());
      }
    }
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
