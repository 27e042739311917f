package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The committed guest images, trees and counts are what their sources make, wherever the compilers
 * are installed. Each script ends with 1 on any difference and lists what it had to skip. Some
 * images are looked at, chosen anew each time; with {@code -Dretstack.guests=all} every one.
 */
class GuestSourcesTest {
  private static final int CHOSEN = 2;

  @Test
  void imagesAreWhatTheSourcesMake() throws IOException, InterruptedException {
    String variants = String.join(" ", chosen());
    check("build.sh --check " + variants);
    check("tools/check-sites.sh " + variants);
  }

  @Test
  void treesAreWhatTheSourcesMake() throws IOException, InterruptedException {
    check("tools/expected-trees.sh");
  }

  private static List<String> chosen() throws IOException, InterruptedException {
    List<String> variants = committed();
    if (System.getProperty("retstack.guests", "").equals("all")) {
      return variants;
    }
    long seed = Seeds.fresh();
    System.out.println("seed of the images: " + seed);
    Collections.shuffle(variants, new Random(seed));
    return variants.subList(0, CHOSEN);
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
