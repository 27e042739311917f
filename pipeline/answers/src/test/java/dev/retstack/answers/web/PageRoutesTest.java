package dev.retstack.answers.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The files of the pages stand alone: all are served, and none reads data as markup. */
class PageRoutesTest {
  private static final Pattern IMPORTED = Pattern.compile("(?m)^import .*\"([^\"]+)\";$");
  private static final Pattern MARKUP =
      Pattern.compile(
          "innerHTML|outerHTML|insertAdjacentHTML|document\\.write|DOMParser|createContextualFragment"
              + "|\\beval\\(|new Function|srcdoc|https?://");

  private static Path folder() throws URISyntaxException {
    return Path.of(Objects.requireNonNull(PageRoutes.class.getResource("app.js")).toURI())
        .getParent();
  }

  @Test
  void everyFileOfTheFolderIsServed() throws Exception {
    try (Stream<Path> files = Files.list(folder())) {
      assertThat(
              files
                  .filter(Files::isRegularFile)
                  .map(file -> file.getFileName().toString())
                  .filter(name -> !name.endsWith(".class") && !name.equals("index.html")))
          .containsExactlyInAnyOrderElementsOf(PageRoutes.FILES);
    }
  }

  @Test
  void modulesNameEachOtherAndNothingElse() throws Exception {
    int imports = 0;
    for (String name : PageRoutes.FILES) {
      Matcher matcher = IMPORTED.matcher(read(name));
      while (matcher.find()) {
        imports++;
        assertThat(matcher.group(1)).as(name).startsWith("./");
        assertThat(
                PageRoutes.FILES.contains(matcher.group(1).substring(2))
                    || PageRoutes.LIBRARY.contains(matcher.group(1).substring(2)))
            .as("%s imports %s", name, matcher.group(1))
            .isTrue();
      }
    }
    assertThat(imports).isGreaterThan(20);
  }

  /** Else a browser learns of a module only once it has read the one that imports it. */
  @Test
  void theIndexNamesAllModulesThatTheFirstPictureNeeds() throws Exception {
    Set<String> needed = new TreeSet<>();
    Deque<String> open = new ArrayDeque<>(List.of("app.js"));
    while (!open.isEmpty()) {
      String name = open.pop();
      if (needed.add(name)) {
        IMPORTED
            .matcher(read(name))
            .results()
            .forEach(found -> open.push(found.group(1).substring(2)));
      }
    }
    assertThat(PageRoutes.modules()).containsExactlyInAnyOrderElementsOf(needed);
  }

  @Test
  void noFileReadsDataAsMarkupOrNamesAnotherServer() throws Exception {
    long bytes = 0;
    for (String name : PageRoutes.FILES) {
      String text = read(name).replace("http://www.w3.org/2000/svg", "");
      bytes += text.length();
      assertThat(MARKUP.matcher(text).results().map(found -> name + ": " + found.group()))
          .isEmpty();
    }
    for (String name : PageRoutes.LIBRARY) {
      try (InputStream in =
          PageRoutes.class.getResourceAsStream(PageRoutes.LIBRARY_FOLDER + name)) {
        String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        bytes += text.length();
        assertThat(MARKUP.matcher(text).results().map(MatchResult::group))
            .as("%s names servers in its comments alone", name)
            .allMatch(found -> found.endsWith("://"));
      }
    }
    assertThat(bytes).as("bytes of all files").isLessThan(500_000);
    assertThat(MARKUP.matcher("x.innerHTML = name").find()).isTrue();
  }

  private static String read(String name) throws IOException, URISyntaxException {
    return Files.readString(folder().resolve(name));
  }
}
