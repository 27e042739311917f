package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** NOTICE names, with its licence, all that the command runs with. */
class NoticeTest {
  /** A jar of Maven's local repository: .../group/artifact/version/artifact-version.jar. */
  private static final Pattern JAR = Pattern.compile("(.+)/([^/]+)/([^/]+)/\\2-\\3[^/]*\\.jar");

  private static final Pattern ENTRY = Pattern.compile("  ([\\w.-]+):([\\w.-]+)");

  @Test
  void namesEveryRuntimeDependencyAndNoOther() throws IOException {
    List<String> lines = Files.readAllLines(Repository.root().resolve("NOTICE"));
    TreeSet<String> named =
        lines.stream()
            .map(ENTRY::matcher)
            .filter(entry -> entry.matches())
            .map(entry -> entry.group(1) + ":" + entry.group(2))
            .collect(Collectors.toCollection(TreeSet::new));
    TreeSet<String> wanted =
        Pattern.compile(":")
            .splitAsStream(runtimeClasspath())
            .map(JAR::matcher)
            .filter(jar -> jar.matches())
            .map(jar -> entryOf(named, jar.group(1).replace('/', '.'), jar.group(2)))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(wanted).hasSizeGreaterThan(50).isEqualTo(named);
  }

  /** The repository's folder stands in front of the group: that ends with the group's name. */
  private static String entryOf(Set<String> named, String place, String artifact) {
    return named.stream()
        .filter(entry -> entry.endsWith(":" + artifact))
        .filter(entry -> place.endsWith("." + entry.substring(0, entry.indexOf(':'))))
        .findFirst()
        .orElse(place + ":" + artifact);
  }

  private static String runtimeClasspath() throws IOException {
    try (InputStream in = NoticeTest.class.getResourceAsStream("/runtime-classpath")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
    }
  }
}
