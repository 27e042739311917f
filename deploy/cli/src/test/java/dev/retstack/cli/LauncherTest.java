package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.house.Repository;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The launcher in a checkout that was built: copied, moved, without a home, by another user. Its
 * jars are links to the classes under test.
 */
class LauncherTest {
  private static final String NOBODY = "65534";

  @TempDir private Path dir;
  private Path checkout;

  /** How a line of bash ended and what it said. */
  private record Said(int code, String text) {}

  @BeforeEach
  void build() throws IOException {
    checkout = dir.resolve("a check out");
    BuiltCheckout.make(
        checkout,
        Stream.of(System.getProperty("java.class.path").split(":", -1)).map(Path::of).toList());
  }

  private Said bash(String line) throws Exception {
    ProcessBuilder builder = new ProcessBuilder("bash", "-c", line);
    builder.directory(checkout.toFile()).redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Said(process.waitFor(), text);
  }

  private void versionIsPrinted(String line) throws Exception {
    Said said = bash(line);
    assertThat(said.text()).startsWith("retstack 0.").hasLineCount(2);
    assertThat(said.code()).isZero();
  }

  @Test
  void aCheckoutThatIsMovedRunsItsOwnJars() throws Exception {
    Path moved = Files.move(checkout, dir.resolve("it's moved"));
    checkout = moved;
    // the link stands for a jar, which would have come along
    Files.delete(moved.resolve("deploy/cli/target/retstack-cli.jar"));
    Files.createSymbolicLink(
        moved.resolve("deploy/cli/target/retstack-cli.jar"), Path.of("lib/0.jar"));
    versionIsPrinted("./retstack --version");
  }

  @Test
  void noHomeIsNeeded() throws Exception {
    versionIsPrinted("unset HOME XDG_CACHE_HOME; ./retstack --version");
    versionIsPrinted("unset XDG_CACHE_HOME; HOME=/proc/nowhere ./retstack --version");
  }

  @Test
  void aShellThatIgnoresBrokenPipesSeesNoError() throws Exception {
    versionIsPrinted("trap '' PIPE; ./retstack --version | cat");
  }

  @Test
  void withoutAJdkTheCommandsThatInstallOneAreNamed() throws Exception {
    // the folders where a JDK lies are not for this shell to see
    String hide = "for d in /usr/lib/jvm /opt; do mount -t tmpfs none $d || exit 99; done; ";
    String line =
        "JAVA_HOME= HOME=/proc/nowhere PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
            + " ./retstack ";
    Said said = bash("unshare -rm bash -c '" + hide + line + "doctor'");
    assumeTrue(!said.text().contains("unshare failed") && said.code() != 99, said.text());
    assertThat(said.code()).isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(said.text())
        .startsWith("retstack: no JDK 25: searched JAVA_HOME, /usr/lib/jvm")
        .contains("apt-get install -y temurin-25-jdk");
  }

  /** A built checkout is for everyone to run, and says why it cannot be built again. */
  @Test
  void anotherUserRunsWhatIsBuiltAndIsToldWhatIsStale() throws Exception {
    assumeTrue(System.getProperty("user.name").equals("root"), "only root becomes another user");
    for (Path folder = checkout; folder.startsWith(dir); folder = folder.getParent()) {
      assertThat(folder.toFile().setExecutable(true, false)).isTrue();
      assertThat(folder.toFile().setReadable(true, false)).isTrue();
    }
    String user = "setpriv --reuid " + NOBODY + " --regid " + NOBODY + " --clear-groups ";
    Said readable = bash(user + "head -c 1 " + Repository.root().resolve("pom.xml"));
    assumeTrue(readable.code() == 0, "this checkout is not for others to read");
    versionIsPrinted(user + "./retstack --version");

    Files.setLastModifiedTime(
        checkout.resolve("pom.xml"), FileTime.from(Instant.now().plusSeconds(60)));
    Said said = bash(user + "./retstack --version");
    assertThat(said.code()).isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(said.text())
        .isEqualTo(
            "retstack: cannot build: %s is not for nobody to write: let its owner run ./retstack --version once after each change, or copy it to a folder that you may write to%n"
                .formatted(checkout));
  }

  @Test
  void whatToRunNextIsQuotedForTheShell() throws Exception {
    String trace = "my trace's $HOME.avro";
    assertThat(Verb.command("report", "a.avro")).endsWith(" report a.avro");
    Said said = bash("printf '%s\\n' " + Verb.command("report", trace));
    assertThat(said.text().lines().skip(1)).containsExactly("report", trace);
  }
}
