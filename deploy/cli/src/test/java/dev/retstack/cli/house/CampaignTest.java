package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The long tests in deploy/campaign: each row names what exists, and no long form is left out. */
class CampaignTest {
  private static final Pattern ROW_IN_A_DOCUMENT =
      Pattern.compile("retstack test --campaign ([a-z][a-z-]*)");
  private static final Pattern ROW_IN_A_TEST = Pattern.compile("CAMPAIGN \\+ \"([a-z-]+)\"");
  private static final Pattern READ =
      Pattern.compile("\\(\\s*\"(retstack\\.[a-z.]+)\"\\s*[,)]|named = \"(retstack\\.[a-z.]+)\"");

  /** Properties that make nothing longer: they say what, where, or with which seed. */
  private static final Set<String> OTHERS =
      Set.of(
          "retstack.root",
          "retstack.foreign.path",
          "retstack.sources.only",
          "retstack.seed",
          "retstack.seed.default",
          "retstack.libunicorn",
          "retstack.command",
          "retstack.jmh",
          "retstack.avsc",
          "retstack.golden.write",
          "retstack.pictures.write",
          "retstack.member.options",
          "retstack.soak.cores",
          "retstack.fuzz.first",
          "retstack.hostile.first");

  /** A row. */
  private record Row(String name, String module, String tests, List<String> properties) {
    static Row of(String line) {
      String[] cells = line.split("\\s*\\|\\s*", -1);
      assertThat(cells).as(line).hasSize(6);
      assertThat(Integer.parseInt(cells[1].replaceFirst(" always$", ""))).as(line).isPositive();
      List<String> properties =
          Stream.of(cells[4].split(" "))
              .filter(one -> !one.isEmpty())
              .map(one -> one.replaceFirst("=.+", ""))
              .toList();
      return new Row(cells[0], cells[2], cells[3], properties);
    }
  }

  private static List<Row> rows() throws IOException {
    return Files.readAllLines(Repository.root().resolve("deploy/campaign")).stream()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .map(Row::of)
        .toList();
  }

  @Test
  void everyRowNamesTestsAndPropertiesThatExist() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Row row : rows()) {
      if (row.module().equals(".")) {
        continue;
      }
      List<Path> sources = sources(Repository.root().resolve(row.module()));
      StringBuilder text = new StringBuilder();
      for (String tests : row.tests().split(",", -1)) {
        String[] names = tests.split("#", -1);
        PathMatcher file = FileSystems.getDefault().getPathMatcher("glob:" + names[0] + ".java");
        List<Path> found = sources.stream().filter(one -> file.matches(one.getFileName())).toList();
        if (found.isEmpty()) {
          wrong.add(row.name() + ": " + tests);
        }
        for (Path one : found) {
          if (names.length > 1 && !read(one).contains(" " + names[1] + "(")) {
            wrong.add(row.name() + ": " + tests);
          }
        }
      }
      sources.forEach(one -> text.append(read(one)));
      row.properties().stream()
          .filter(one -> text.indexOf("\"" + one + "\"") < 0)
          .forEach(one -> wrong.add(row.name() + ": " + one));
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void everyLongFormIsARow() throws IOException {
    Set<String> inRows =
        rows().stream().flatMap(row -> row.properties().stream()).collect(Collectors.toSet());
    Set<String> left = new TreeSet<>();
    for (Path source : sources(Repository.root())) {
      if (source.toString().contains("/src/main/")) {
        continue;
      }
      for (Matcher read = READ.matcher(read(source)); read.find(); ) {
        left.add(read.group(1) == null ? read.group(2) : read.group(1));
      }
    }
    left.removeAll(inRows);
    left.removeAll(OTHERS);
    assertThat(left).as("properties that no row of deploy/campaign sets").isEmpty();
  }

  @Test
  void documentsAndTestsNameRowsThatExistAndEveryRowOfChaos() throws IOException {
    Set<String> names = rows().stream().map(Row::name).collect(Collectors.toSet());
    assertThat(names).hasSameSizeAs(rows());
    Set<String> named = new TreeSet<>();
    for (Path document : Repository.documents()) {
      named.addAll(groups(ROW_IN_A_DOCUMENT, read(document)));
    }
    for (Path source : sources(Repository.root())) {
      named.addAll(groups(ROW_IN_A_TEST, read(source)));
    }
    assertThat(names).containsAll(named);
    String readme = read(Repository.root().resolve("deploy/cli/README.md"));
    assertThat(groups(ROW_IN_A_DOCUMENT, readme))
        .containsAll(names.stream().filter(one -> one.startsWith("chaos-")).toList());
  }

  private static List<String> groups(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(MatchResult::group).map(CampaignTest::name).toList();
  }

  /** The last word, without a quote. */
  private static String name(String found) {
    return Arrays.stream(found.split("[ \"]")).reduce((_, last) -> last).orElseThrow();
  }

  /** Java sources; those of the simulation are tests too. */
  private static List<Path> sources(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(one -> one.toString().matches(".*/src/(test|jmh|main)/java/.*\\.java"))
          .toList();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
