package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Rules that class files do not show: what may stand in a source file. */
class SourceRulesTest {
  private static final Path ROOT = Repository.root();

  /** Names of the ISAs as a {@code switch} or a comparison would spell them. */
  private static final Pattern ISA_NAME =
      Pattern.compile(
          "\"(x86_64|i386|aarch64|arm|riscv(32|64)|ppc(32|64|64le)?|s390x|mips(el|64)?|m68k|sparc)\"");

  /** Refuses a foreign machine by its name: words for a message, nothing is decided by them. */
  private static final Path NAMES_ELF_MACHINES = Path.of("fleet/loader/Elf.java");

  @Test
  void noSwitchOnTheIsaOutsideItsPackage() throws IOException {
    List<String> offenders = new ArrayList<>();
    for (Path file : mainSources()) {
      if (!file.toString().contains("/fleet/isa/") && !file.endsWith(NAMES_ELF_MACHINES)) {
        int number = 0;
        for (String line : Files.readAllLines(file)) {
          number++;
          boolean text = line.strip().startsWith("*") || line.strip().startsWith("//");
          if (!text && ISA_NAME.matcher(line).find()) {
            offenders.add(ROOT.relativize(file) + ":" + number + " " + line.strip());
          }
        }
      }
    }
    assertThat(offenders).as("an ISA is data: ask the ABI card").isEmpty();
  }

  @Test
  void testsNeitherSleepNorMockNorStandAside() throws IOException {
    Pattern forbidden =
        Pattern.compile("Thread\\.sleep\\(|@Disabled\\b|org\\.mockito|TimeUnit\\.\\w+\\.sleep");
    List<String> offenders = new ArrayList<>();
    for (Path file : sources("src/test/java")) {
      if (!file.endsWith("SourceRulesTest.java")
          && forbidden.matcher(Files.readString(file)).find()) {
        offenders.add(ROOT.relativize(file).toString());
      }
    }
    assertThat(offenders).isEmpty();
  }

  @Test
  void nothingIsLeftForLater() throws IOException {
    Pattern unfinished = Pattern.compile("\\b(TODO|FIXME|XXX)\\b");
    List<String> offenders = new ArrayList<>();
    for (Path file : mainSources()) {
      if (unfinished.matcher(Files.readString(file)).find()) {
        offenders.add(ROOT.relativize(file).toString());
      }
    }
    assertThat(offenders).isEmpty();
  }

  @Test
  void everyFolderSaysWhatItIs() {
    for (String folder :
        List.of(
            ".",
            "schemas",
            "emulators",
            "emulators/unicorn",
            "emulators/guest",
            "emulators/fleet",
            "pipeline",
            "pipeline/graph",
            "pipeline/service",
            "pipeline/simulation",
            "deploy",
            "deploy/benchmarks",
            "deploy/cli")) {
      assertThat(ROOT.resolve(folder).resolve("README.md")).exists();
    }
  }

  private static List<Path> mainSources() throws IOException {
    return sources("src/main/java");
  }

  private static List<Path> sources(String kind) throws IOException {
    List<Path> found = new ArrayList<>();
    for (String part : List.of("schemas", "emulators", "pipeline", "deploy")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(part))) {
        files
            .filter(file -> file.toString().contains("/" + kind + "/"))
            .filter(file -> file.toString().endsWith(".java"))
            .forEach(found::add);
      }
    }
    assertThat(found).isNotEmpty();
    return found;
  }
}
