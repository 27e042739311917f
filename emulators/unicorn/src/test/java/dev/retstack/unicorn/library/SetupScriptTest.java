package dev.retstack.unicorn.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.retstack.unicorn.Unicorn;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What {@code deploy/setup.sh} does without a network. */
@DisabledOnOs(OS.WINDOWS)
class SetupScriptTest {
  private static final Path SCRIPT = Path.of("../../deploy/setup.sh");

  @TempDir private Path directory;
  private Path cache;

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
      Path file = Files.writeString(bin.resolve(command), "#!/bin/sh\necho broken >&2\nexit 1\n");
      assertThat(file.toFile().setExecutable(true)).isTrue();
    }
    return Map.of("PATH", bin + ":" + System.getenv("PATH"));
  }

  @Test
  void unknownThingIsAUsageError() throws Exception {
    assertThat(run(Map.of(), "coffee"))
        .isEqualTo(new Result(2, "retstack: usage: deploy/setup.sh libunicorn | jdk\n"));
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
    Path home = Files.createDirectories(cache.resolve("retstack/unicorn-2.1.4/include"));
    Files.createFile(home.resolveSibling("libunicorn.so.2"));
    Files.createFile(home.resolveSibling("libunicorn.2.dylib"));
    assertThat(run(failing("python3", "pip3"), "libunicorn")).isEqualTo(new Result(0, ""));
    String named = Unicorn.library().path().toString();
    assertThat(run(Map.of(LibraryLocator.ENVIRONMENT, named), "libunicorn"))
        .isEqualTo(new Result(0, ""));
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
    Files.writeString(directory.resolve("bin/uname"), "#!/bin/sh\necho SunOS\n");
    assertThat(directory.resolve("bin/uname").toFile().setExecutable(true)).isTrue();
    Result result = run(other, "libunicorn");
    assertThat(result.exit()).isEqualTo(4);
    assertThat(result.said())
        .contains("no pinned libunicorn for sunos-sunos: set RETSTACK_LIBUNICORN");
  }

  @Test
  void failureShowsPipsWordsTellsTheCureAndLeavesNothingBehind() throws Exception {
    Result result = run(failing("python3", "pip3"), "libunicorn");
    assertThat(result.exit()).isEqualTo(4);
    assertThat(result.said())
        .contains("broken")
        .contains("no libunicorn: pip could not fetch unicorn==2.1.4")
        .contains("set RETSTACK_LIBUNICORN");
    assertThat(cache.resolve("retstack")).isEmptyDirectory();
  }
}
