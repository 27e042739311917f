package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Functions that copy their return address and return by the original (guest/realign) are entered
 * at their first instruction, where there is no copy yet: so none misses its exit.
 */
class RealignTest {
  private static final Path REALIGN = Zoo.GUEST.resolve("realign");
  private static final String PROGRAM = "realign";

  static Stream<String> variants() throws IOException {
    try (Stream<Path> files = Files.list(REALIGN.resolve("expected"))) {
      return files
          .map(f -> f.getFileName().toString().replace(".missed", ""))
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void sitesOfFunctionsThatCopyAreMarkedAndNoOthers(String variant) throws IOException {
    LoadedImage image = committed(variant);
    assertThat(marked(image)).isEqualTo(copying(variant));
    assertThat(image.conventions()).hasSize(1);
    assertThat(image.toSchema().getCopiedReturns()).isEqualTo(image.copiedReturns()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("variants")
  void noExitIsMissed(String variant) throws IOException {
    LoadedImage image = committed(variant);
    Run run = Run.of(image, PROGRAM);
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    assertThat(run.overruns() + run.unhijackable()).isZero();
    assertThat(run.counts())
        .isEqualTo(Counter.count(image, run.counts().keySet(), PROGRAM))
        .hasSize(9);
    assertThat(withoutExit(run)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("variants")
  void theProgramDoesWhatItDoesUntraced(String variant) throws IOException {
    LoadedImage image = committed(variant);
    Run untraced = Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {}, PROGRAM);
    assertThat(Run.of(image, PROGRAM).ending()).isEqualTo(untraced.ending());
  }

  @Test
  void todaysCompilerIsSeenThroughAsWell(@TempDir Path folder) throws Exception {
    Assumptions.assumeTrue(
        GuestCompiler.installed("x86_64-linux-gnu-gcc"), "skipped: no x86_64-linux-gnu-gcc");
    String said = GuestScript.build(Zoo.GUEST, "--realign", folder.toString());
    for (String variant : variants().toList()) {
      Path file = folder.resolve("realign-" + variant + ".elf");
      if (Files.exists(file)) {
        LoadedImage image = LoadedImage.load(file);
        Run run = Run.of(image, PROGRAM);
        assertThat(run.ending().detail()).as(variant).isEqualTo("exited with code 0");
        assertThat(withoutExit(run)).as(variant).isEmpty();
      } else {
        assertThat(said).contains("skipped").contains(variant);
      }
    }
  }

  private static LoadedImage committed(String variant) throws IOException {
    return LoadedImage.load(REALIGN.resolve("images/realign-" + variant + ".elf"));
  }

  private static Set<String> copying(String variant) throws IOException {
    return new TreeSet<>(
        Files.readAllLines(REALIGN.resolve("expected").resolve(variant + ".missed")));
  }

  private static Set<String> marked(LoadedImage image) {
    return image.conventions().stream()
        .flatMap(convention -> convention.sites().stream())
        .filter(site -> site.facts().copied() && site.ahead())
        .map(site -> image.elf().functionAt(site.address()).orElseThrow().name())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Functions of whose calls one or more has no exit. */
  private static Set<String> withoutExit(Run run) {
    Set<String> names = new TreeSet<>();
    RecordBatch r = run.records();
    long[] open = new long[64];
    int depth = 0;
    for (int i = 0; i <= r.size(); i++) {
      boolean exit = i < r.size() && r.kind[i] == RecordBatch.EXIT;
      int live = i == r.size() ? 0 : r.depth[i] + (exit ? 1 : 0);
      while (depth > live) {
        names.add(run.image().elf().functionAt(open[--depth]).orElseThrow().name());
      }
      if (exit) {
        depth--;
      } else if (i < r.size()) {
        open[depth++] = r.selfPc[i];
      }
    }
    return names;
  }
}
