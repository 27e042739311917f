package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Seeds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The committed guest images, trees and counts are what their sources make, wherever the compilers
 * are installed. Each script ends with 1 on any difference and lists what it had to skip. Some
 * images are rebuilt, chosen anew each time; with {@code -Dretstack.guests=all} every one.
 */
class GuestSourcesTest {
  private static final int REBUILT = 6;

  @Test
  void imagesAreWhatTheSourcesMake() throws IOException, InterruptedException {
    List<String> variants = committed();
    if (!System.getProperty("retstack.guests", "").equals("all")) {
      long seed = Seeds.fresh();
      System.out.println("seed of the rebuilt images: " + seed);
      Collections.shuffle(variants, new Random(seed));
      variants = variants.subList(0, REBUILT);
    }
    check("build.sh --check " + String.join(" ", variants));
  }

  @ParameterizedTest
  @ValueSource(strings = {"tools/expected-trees.sh", "tools/check-sites.sh"})
  void treesAndSitesAreWhatTheSourcesMake(String command) throws IOException, InterruptedException {
    check(command);
  }

  private static List<String> committed() throws IOException, InterruptedException {
    String suffix = " committed";
    return run("build.sh --list")
        .lines()
        .filter(line -> line.endsWith(suffix))
        .map(line -> line.substring(0, line.length() - suffix.length()))
        .collect(Collectors.toCollection(ArrayList::new));
  }

  private static void check(String command) throws IOException, InterruptedException {
    assertThat(run(command)).containsAnyOf("same:", "good:", "skipped:");
  }

  private static String run(String command) throws IOException, InterruptedException {
    Path guest = Repository.root().resolve("emulators/guest");
    Process script =
        new ProcessBuilder("bash", "-c", "./" + command)
            .directory(guest.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(script.waitFor()).as(command + ":\n" + said).isZero();
    return said;
  }
}
