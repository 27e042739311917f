package dev.retstack.cli.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.web.PageRoutes;
import dev.retstack.cli.Ran;
import dev.retstack.cli.house.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pictures of the documents show the pages of this checkout. With {@code
 * -Dretstack.pictures.write} they are taken anew, of a job that runs.
 */
@Timeout(300)
class PagePicturesTest {
  private static final Path ANSWERS = Repository.root().resolve("pipeline/answers");
  private static final Path FOLDER = ANSWERS.resolve("pages");

  /** The hash of the files of the pages of which they were taken. */
  private static final Path VERSION = FOLDER.resolve("version.txt");

  private static final String ZOO = "zoo-x86_64-fentry";
  private static final String RTOS = "rtos-arm-mcount";

  /**
   * A picture.
   *
   * @param there true when the page shows what it is about
   */
  private record Picture(String name, String address, String there) {
    /** A picture of a page that has such elements. */
    static Picture of(String name, String address, String css) {
      return new Picture(name, address, "document.querySelector('%s') !== null".formatted(css));
    }
  }

  private static final List<Picture> PICTURES =
      List.of(
          new Picture(
              "timeline",
              "/?page=timeline&core=" + RTOS + "-0&from=0&to=20000",
              "performance.getEntriesByName('step-fine').length > 0"),
          Picture.of("functions", "/?page=functions&core=" + ZOO + "-0", "main tbody tr td"),
          Picture.of("anomalies", "/?page=anomalies", "main article"),
          Picture.of("calls", "/?page=calls&core=" + ZOO + "-0&from=1000&to=3000", "main pre"),
          Picture.of("fleet", "/?page=fleet&sort=-rate", "main tbody td:nth-child(3):not(:empty)"),
          Picture.of("flame", "/?page=flame&core=" + RTOS + "-0", ".stage canvas[data-boxes]"),
          Picture.of(
              "compare",
              "/?page=compare&core=" + ZOO + "-0&core2=zoo-riscv64-mcount-0",
              "main tbody tr td"),
          Picture.of(
              "control",
              "/?page=control&args=w200_00%3F&target=isa%3Driscv64",
              "table[aria-label=Preview] tbody tr td"));

  @Test
  void picturesAreOfThesePages(@TempDir Path dir) throws Exception {
    String version = new PageRoutes().version();
    if (System.getProperty("retstack.pictures.write") != null) {
      take(dir);
      Files.writeString(VERSION, version + "\n");
    }
    assertThat(Files.readString(VERSION).strip())
        .as(
            "the pages have changed: look at them, then ./retstack test -pl deploy/cli -am"
                + " -Dtest=PagePicturesTest -Dsurefire.failIfNoSpecifiedTests=false"
                + " -Dretstack.pictures.write")
        .isEqualTo(version);
    String text = Files.readString(ANSWERS.resolve("HTTP.md"));
    for (Picture picture : PICTURES) {
      assertThat(FOLDER.resolve(picture.name + ".webp")).isNotEmptyFile();
      assertThat(text).contains("(pages/" + picture.name + ".webp)");
    }
  }

  private static void take(Path dir) throws Exception {
    Files.createDirectories(FOLDER);
    try (CommandedFleet fleet = new CommandedFleet(dir, "pictures");
        Browser browser = Browser.open(fleet.pipeline().httpUri())) {
      emulate(fleet, "--image", ZOO, "--image", "zoo-riscv64-mcount");
      emulate(
          fleet,
          "--image",
          RTOS,
          "--timer",
          "900:rtos_interrupt",
          "--timer",
          "7100:rtos_interrupt",
          "--task-variable",
          "rtos_current",
          "--",
          "rtos");
      fleet.pipeline().awaitCoresEnded(3).toCompletableFuture().join();
      for (Picture picture : PICTURES) {
        browser.go(picture.address);
        browser.until(picture.name, () -> (Boolean) browser.script("return " + picture.there));
        browser.picture(FOLDER.resolve(picture.name + ".webp"));
      }
    }
  }

  private static void emulate(CommandedFleet fleet, String... words) throws IOException {
    List<String> all = new ArrayList<>(List.of("emulate"));
    all.addAll(List.of("--bootstrap", fleet.bootstrap(), "--prefix", "pictures"));
    all.addAll(List.of(words));
    Ran.well(all.toArray(String[]::new));
  }
}
