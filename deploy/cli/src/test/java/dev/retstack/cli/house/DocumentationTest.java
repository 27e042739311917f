package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Main;
import dev.retstack.cli.command.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Documents name what exists: verbs and options of commands, links, and where to change what. */
class DocumentationTest {
  /** Head of the section whose table says where to change what. */
  private static final String CHANGES = "## Where to change what";

  private static final Pattern LINK = Pattern.compile("\\[[^\\]]*]\\(([^)#\\s]*)(#[^)\\s]*)?\\)");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern CLASS_NAME = Pattern.compile("[A-Z]\\w*[a-z]\\w*");
  private static final Pattern PATH = Pattern.compile("[\\w.@-]+(/[\\w.@-]+)*/?");

  /** Verbs that the launcher itself knows. */
  private static final List<String> OF_THE_LAUNCHER = List.of("test");

  @Test
  void everyCommandInADocumentParses() throws IOException {
    List<String> wrong = new ArrayList<>();
    int commands = 0;
    for (Path readme : Repository.documents()) {
      for (String line : shellLines(Files.readString(readme))) {
        String command = retstackCommand(line);
        if (command != null) {
          commands++;
          String error = parse(command);
          if (error != null) {
            wrong.add(Repository.root().relativize(readme) + ": " + line + ": " + error);
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(commands).as("commands found in documents").isPositive();
  }

  @Test
  void everyLinkInADocumentLeadsToAFileAndAHead() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Path document : Repository.documents()) {
      for (Matcher link = LINK.matcher(text(document)); link.find(); ) {
        String place = link.group(1);
        if (!place.contains(":")) {
          Path target = place.isEmpty() ? document : document.resolveSibling(place);
          if (!Files.exists(target) || !hasHead(target, link.group(2))) {
            wrong.add(Repository.root().relativize(document) + ": " + link.group());
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  /** A table's second column names classes, or paths from the folder of its document. */
  @Test
  void everyPlaceWhereToChangeWhatExists() throws IOException {
    Set<String> classes = Repository.classes();
    List<String> wrong = new ArrayList<>();
    int places = 0;
    for (Path document : Repository.documents()) {
      for (String row : rowsOfChanges(Files.readString(document))) {
        String lastCell = row.substring(row.lastIndexOf("| ", row.length() - 3));
        for (Matcher code = CODE.matcher(lastCell); code.find(); ) {
          String place = code.group(1);
          boolean isClass = CLASS_NAME.matcher(place).matches();
          if (isClass || PATH.matcher(place).matches()) {
            places++;
            if (!(isClass && classes.contains(place))
                && !Files.exists(document.resolveSibling(place))) {
              wrong.add(Repository.root().relativize(document) + ": " + place);
            }
          }
        }
      }
    }
    assertThat(wrong).as("neither a class nor a path").isEmpty();
    assertThat(places).as("places named in READMEs").isPositive();
  }

  private static List<String> rowsOfChanges(String markdown) {
    int begin = markdown.indexOf(CHANGES);
    if (begin < 0) {
      return List.of();
    }
    int end = markdown.indexOf("\n## ", begin);
    String section = markdown.substring(begin, end < 0 ? markdown.length() : end);
    return section.lines().filter(line -> line.startsWith("| ")).toList();
  }

  /** True if the document has the head that the anchor names, or if no anchor is named. */
  private static boolean hasHead(Path document, String anchor) throws IOException {
    return anchor == null
        || Files.readAllLines(document).stream()
            .filter(line -> line.startsWith("#"))
            .map(line -> line.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT))
            .map(head -> "#" + head.replaceAll("[^\\w -]", "").replace(' ', '-'))
            .anyMatch(anchor::equals);
  }

  /** A document without its code fences and code spans: brackets in code are not links. */
  private static String text(Path document) throws IOException {
    return Files.readString(document).replaceAll("(?s)```.*?```", "").replaceAll("`[^`\n]*`", "`");
  }

  private static String parse(String command) {
    String[] words = command.split("\\s+");
    if (words.length > 1 && OF_THE_LAUNCHER.contains(words[1])) {
      return null;
    }
    try {
      CommandLine line = Main.commandLine(Terminal.system());
      line.parseArgs(List.of(words).subList(1, words.length).toArray(String[]::new));
      return null;
    } catch (ParameterException e) {
      return e.getMessage();
    }
  }

  /** The command without what a shell does around it; null where it is another program's. */
  private static String retstackCommand(String line) {
    String bare =
        line.replaceFirst("^\\$ ", "")
            .replaceFirst("^([A-Z_]+=\\S+ )+", "")
            .replaceFirst("\\s+#.*$", "")
            .replaceFirst("\\s*(\\||>|&&|&$).*$", "")
            .strip();
    return bare.startsWith("./retstack") || bare.startsWith("retstack ") ? bare : null;
  }

  private static List<String> shellLines(String markdown) {
    List<String> lines = new ArrayList<>();
    boolean inside = false;
    for (String line : markdown.lines().toList()) {
      if (line.strip().startsWith("```")) {
        inside = !inside && line.strip().equals("```sh");
      } else if (inside) {
        lines.add(line.strip());
      }
    }
    return lines;
  }
}
