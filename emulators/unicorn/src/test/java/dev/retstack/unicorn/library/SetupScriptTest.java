package dev.retstack.unicorn.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.unicorn.Unicorn;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code deploy/setup.sh} does without a network. */
class SetupScriptTest {
  private static final Path SCRIPT = Path.of("../../deploy/setup.sh");

  /** What the script calls. */
  private static final List<String> USED =
      List.of(
          "bash sh cat cut grep tr uname id mktemp rm sed tail awk readlink dirname apt-get"
              .split(" ", -1));

  /** What stands for a tool: a compiler that links everything, and a pip. */
  private static final String TOOL =
      "case $1 in -dumpversion) echo 12 ;; -x | -m32) cat >/dev/null ;; esac";

  private static final String[] RUN_AND_TEST = {"run", "test"};

  @TempDir private Path directory;
  private Path cache;

  private final List<Path> farms = new ArrayList<>();

  /** How the script ended and what it said. */
  private record Result(int exit, String said) {}

  @BeforeEach
  void cache() throws IOException {
    cache = Files.createDirectories(directory.resolve("cache"));
  }

  private Result run(Map<String, String> environment, String... arguments) throws Exception {
    ProcessBuilder script = new ProcessBuilder("bash", SCRIPT.toString());
    script.command().addAll(List.of(arguments));
    script.environment().remove(LibraryLocator.ENVIRONMENT);
    script.environment().put("XDG_CACHE_HOME", cache.toString());
    script.environment().putAll(environment);
    Process process = script.redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Result(process.waitFor(), said);
  }

  /** Puts commands that fail before those of the system. */
  private Map<String, String> failing(String... commands) throws IOException {
    Path bin = Files.createDirectories(directory.resolve("bin"));
    for (String command : commands) {
      executable(bin.resolve(command), "echo broken >&2\nexit 1");
    }
    return Map.of("PATH", bin + ":" + System.getenv("PATH"));
  }

  @Test
  void unknownThingIsAUsageError() throws Exception {
    assertThat(run(Map.of(), "coffee"))
        .isEqualTo(
            new Result(
                2,
                "retstack: usage: deploy/setup.sh jdk | libunicorn | run | test | compiler | missing\n"));
  }

  @Test
  void jdkIsPrintedAndOneThatIsNamedGoesFirst() throws Exception {
    String home = System.getProperty("java.home");
    assertThat(run(Map.of("JAVA_HOME", home), "jdk")).isEqualTo(new Result(0, home + "\n"));
  }

  @Test
  void otherJdkThatIsNamedIsPassedOver() throws Exception {
    Path old = Files.createDirectories(directory.resolve("jdk17/bin"));
    assertThat(Files.createFile(old.resolve("javac")).toFile().setExecutable(true)).isTrue();
    Files.writeString(directory.resolve("jdk17/release"), "JAVA_VERSION=\"17.0.2\"\n");
    String path = System.getProperty("java.home") + "/bin:" + System.getenv("PATH");
    Result result =
        run(Map.of("JAVA_HOME", directory.resolve("jdk17").toString(), "PATH", path), "jdk");
    assertThat(result.exit()).isZero();
    assertThat(Files.readString(Path.of(result.said().strip(), "release")))
        .contains("JAVA_VERSION=\"25");
  }

  @Test
  void whereTheLibraryIsThereNothingIsDoneOrSaid() throws Exception {
    haveLibrary();
    assertThat(run(failing("python3", "pip3"), "libunicorn")).isEqualTo(new Result(0, ""));
    String named = Unicorn.library().path().toString();
    assertThat(run(Map.of(LibraryLocator.ENVIRONMENT, named), "libunicorn"))
        .isEqualTo(new Result(0, ""));
  }

  private void haveLibrary() throws IOException {
    Path home = Files.createDirectories(cache.resolve("retstack/unicorn-2.1.4/include"));
    Files.createFile(home.resolveSibling("libunicorn.so.2"));
  }

  /** pip takes it from a folder: a wheel of the right name and version with other bytes. */
  @Test
  void aWheelThatIsNotThePinnedOneIsRefusedBeforeItIsUnpacked() throws Exception {
    Path wheels = Files.createDirectories(directory.resolve("wheels"));
    String about = "unicorn-2.1.4.dist-info/";
    try (ZipOutputStream wheel =
        new ZipOutputStream(
            Files.newOutputStream(wheels.resolve("unicorn-2.1.4-py3-none-any.whl")))) {
      entry(wheel, about + "METADATA", "Metadata-Version: 2.1\nName: unicorn\nVersion: 2.1.4\n");
      entry(
          wheel, about + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
      entry(wheel, about + "RECORD", "");
      entry(wheel, "unicorn/lib/libunicorn.so.2", "not it");
      entry(wheel, "unicorn/include/unicorn.h", "");
    }
    Result result =
        run(Map.of("PIP_NO_INDEX", "1", "PIP_FIND_LINKS", wheels.toString()), "libunicorn");
    assumeFalse(result.said().contains("no libunicorn: pip"), result.said());
    assertThat(result.exit()).isEqualTo(4);
    assertThat(result.said())
        .contains("unicorn-2.1.4-py3-none-any.whl is not the pinned one: its SHA-256 is ")
        .contains("set RETSTACK_LIBUNICORN");
    assertThat(cache.resolve("retstack")).isEmptyDirectory();
  }

  private static void entry(ZipOutputStream wheel, String name, String text) throws IOException {
    wheel.putNextEntry(new ZipEntry(name));
    wheel.write(text.getBytes(StandardCharsets.UTF_8));
    wheel.closeEntry();
  }

  @Test
  void onAPlatformWithoutAPinNothingIsFetched() throws Exception {
    Map<String, String> other = failing("python3", "pip3");
    script("uname", "case $1 in -m) echo pdp11 ;; *) echo Linux ;; esac");
    Result result = run(other, "libunicorn");
    assertThat(result.exit()).isEqualTo(4);
    assertThat(result.said())
        .contains("no pinned libunicorn for linux-pdp11: set RETSTACK_LIBUNICORN");
  }

  @Test
  void anotherSystemThanLinuxIsNamed() throws Exception {
    Map<String, String> other = failing("python3");
    script("uname", "echo SunOS");
    assertThat(run(other, "libunicorn"))
        .isEqualTo(
            new Result(
                4,
                "retstack: retstack runs on Linux only, and this is SunOS:"
                    + " use a virtual machine or a container with Linux\n"));
  }

  /** A line of {@code deploy/packages} for this machine, but for the version of the compiler. */
  record Needed(String packages, List<String> check) {
    @Override
    public String toString() {
      return packages;
    }
  }

  static Stream<Needed> needed() throws IOException {
    return Files.readAllLines(SCRIPT.resolveSibling("packages")).stream()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("\\s*\\|\\s*", -1))
        .filter(
            parts ->
                parts[0].startsWith("x86_64:")
                    ? System.getProperty("os.arch").equals("amd64")
                    : !parts[0].contains(":"))
        .map(parts -> new Needed(parts[1].strip(), List.of(parts[2].strip().split("\\s+", -1))));
  }

  @Test
  void aCompilerIsThereIfItLinks() throws Exception {
    Path real = Path.of("/usr/bin/gcc");
    assumeTrue(Files.exists(real), "skipped: no gcc");
    assertThat(run(Map.of("CC", real.toString()), "compiler")).isEqualTo(new Result(0, ""));
    Path other = directory.resolve("bin/cc");
    Files.createDirectories(other.getParent());
    script("cc", "exec " + real + " -nostdlib -nostartfiles -lnothing \"$@\"");
    assertThat(run(Map.of("CC", other.toString()), "compiler")).isEqualTo(new Result(1, ""));
  }

  /** Each tool is hidden in turn: its packages are named, and those of no other. */
  @ParameterizedTest
  @MethodSource("needed")
  void aToolThatIsMissingIsNamedByItsPackages(Needed tool) throws Exception {
    if (!tool.check().equals(List.of("pip"))) {
      haveLibrary();
    }
    Set<String> hidden =
        switch (tool.check().getFirst()) {
          case "links" -> Set.of(tool.check().get(1));
          case "command" -> Set.of(tool.check().getLast());
          default -> Set.of("python3", "pip3");
        };
    boolean byOption = tool.check().size() > 2 && tool.check().get(2).startsWith("-m");
    Path farm = farm(byOption ? Set.of() : hidden);
    if (byOption) { // a compiler that makes programs for one word size
      executable(farm.resolve("gcc"), "case $1 in -m32) exit 1 ;; esac\n" + TOOL);
    }
    assertThat(wouldInstall(farm))
        .as("hidden: %s", hidden)
        .containsExactly(tool.packages().replace("@gcc@", "12").split(" ", -1));
  }

  /** What {@code setup.sh run test} would install with the commands of a folder, as a user. */
  private List<String> wouldInstall(Path commands) throws Exception {
    Result result =
        run(Map.of("PATH", commands.toString(), "RETSTACK_INSTALL", "no"), RUN_AND_TEST);
    assertThat(result.exit()).as(result.said()).isZero();
    if (result.said().isEmpty()) {
      return List.of();
    }
    assertThat(result.said().lines()).hasSize(1);
    String packages = result.said().strip().replaceFirst(".*(recommends|Debian:) ", "");
    return List.of(packages.split(" ", -1));
  }

  /** JUnit's own folders warn of each link that they delete. */
  @AfterEach
  void deleteFarms() throws IOException {
    for (Path farm : farms) {
      try (Stream<Path> links = Files.list(farm)) {
        for (Path link : links.toList()) {
          Files.delete(link);
        }
      }
      Files.delete(farm);
    }
  }

  /**
   * A folder with links to the commands that the script uses, and the tools of the list but some.
   */
  private Path farm(Set<String> hidden) throws IOException {
    Path farm = Files.createTempDirectory("retstack-commands");
    farms.add(farm);
    Set<String> tools = new TreeSet<>(Set.of("python3", "pip3"));
    needed().map(Needed::check).forEach(check -> tools.addAll(check.subList(1, check.size())));
    tools.removeAll(hidden);
    for (String tool : tools) {
      executable(farm.resolve(tool), TOOL);
    }
    for (String command : USED) {
      for (String folder : System.getenv("PATH").split(":", -1)) {
        Path file = Path.of(folder, command);
        if (Files.isExecutable(file) && !Files.exists(farm.resolve(command))) {
          Files.createSymbolicLink(farm.resolve(command), file);
        }
      }
    }
    return farm;
  }

  /** apt as root: one call for all; if that fails, one for each line, and what failed is named. */
  @Test
  void aPackageThatCannotBeHadKeepsNoOtherAway() throws Exception {
    Map<String, String> environment = new HashMap<>(failing("python3", "pip3", "git", "clang"));
    Path calls = directory.resolve("calls");
    environment.put("RETSTACK_INSTALL", "yes");
    script("id", "echo 0");
    script(
        "apt-get",
        "echo \"$*\" >>"
            + calls
            + "\ncase \"$*\" in *clang*) echo 'E: no such package'; exit 100 ;; esac");
    environment.put(
        "PATH", directory.resolve("bin") + ":" + farm(Set.of("python3", "pip3", "git", "clang")));
    Files.delete(directory.resolve("bin/git"));
    Files.delete(directory.resolve("bin/clang"));
    Result result = run(environment, RUN_AND_TEST);
    assertThat(result.exit()).isZero();
    assertThat(result.said())
        .startsWith("retstack: installing ")
        .contains("python3-pip", "git", "clang", "(--no-install leaves them out)")
        .contains("could not install clang: E: no such package")
        .doesNotContain("could not install git");
    List<String> said = Files.readAllLines(calls);
    assertThat(said.get(0)).endsWith("update");
    assertThat(said.get(1)).contains("--no-remove").contains("git").contains("clang");
    assertThat(said).anyMatch(call -> call.endsWith("--no-remove git"));
  }

  @Test
  void failureShowsPipsWordsTellsTheCureAndLeavesNothingBehind() throws Exception {
    Map<String, String> environment = new HashMap<>(failing("python3", "pip3"));
    environment.put("RETSTACK_INSTALL", "no");
    Result result = run(environment, "libunicorn");
    assertThat(result.exit()).isEqualTo(4);
    assertThat(result.said())
        .contains("broken")
        .contains("no libunicorn: pip could not fetch unicorn==2.1.4")
        .contains("set RETSTACK_LIBUNICORN");
    assertThat(cache.resolve("retstack")).isEmptyDirectory();
  }

  @Test
  void aCacheThatCannotBeWrittenIsNamed() throws Exception {
    Path file = Files.createFile(directory.resolve("file"));
    Result result =
        run(Map.of("XDG_CACHE_HOME", file.toString(), "RETSTACK_INSTALL", "no"), "libunicorn");
    assertThat(result.exit()).isEqualTo(4);
    assertThat(result.said())
        .contains("cannot write to " + file + "/retstack")
        .contains("set XDG_CACHE_HOME to a folder that you may write to");
  }

  private void script(String name, String lines) throws IOException {
    executable(directory.resolve("bin").resolve(name), lines);
  }

  private static void executable(Path file, String lines) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + lines + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }
}
