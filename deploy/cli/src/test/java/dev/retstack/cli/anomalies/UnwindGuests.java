package dev.retstack.cli.anomalies;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** Programs that leave frames by exceptions and by jumps. */
final class UnwindGuests {
  private UnwindGuests() {}

  /** Compiles them; skips the test where there is no compiler. */
  static List<LoadedImage> build(Path folder) throws IOException, InterruptedException {
    Assumptions.assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/x86_64-linux-gnu-g++")), "skipped: no g++");
    Process build =
        new ProcessBuilder(
                Zoo.GUEST.resolve("unwind/build.sh").toString(), folder.toString(), "x86_64-mcount")
            .redirectErrorStream(true)
            .start();
    String said = new String(build.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(build.waitFor()).as(said).isZero();
    return List.of(
        LoadedImage.load(folder.resolve("exceptions-x86_64-mcount")),
        LoadedImage.load(folder.resolve("jumps-x86_64-mcount")));
  }
}
