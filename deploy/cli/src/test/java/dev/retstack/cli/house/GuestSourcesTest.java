package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The committed guest images, trees and counts are what their sources make, wherever the compilers
 * are installed. Each script ends with 1 on any difference and lists what it had to skip.
 */
class GuestSourcesTest {
  @ParameterizedTest
  @ValueSource(strings = {"build.sh --check", "tools/expected-trees.sh", "tools/check-sites.sh"})
  void committedFilesAreWhatTheSourcesMake(String command)
      throws IOException, InterruptedException {
    Path guest = Repository.root().resolve("emulators/guest");
    Process script =
        new ProcessBuilder("bash", "-c", "./" + command)
            .directory(guest.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(script.waitFor()).as(command + ":\n" + said).isZero();
    assertThat(said).containsAnyOf("same:", "good:", "skipped:");
  }
}
