package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.machine.loader.LoadedImage;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The conformance suite at other levels of optimisation than the committed images. A sample of two
 * ISAs is built and run here; {@code -Dretstack.levels=DIR} runs every image of a folder that
 * {@code emulators/guest/build.sh --levels DIR} made.
 */
class LevelsTest {
  private static final Set<Check> COSTLY = EnumSet.of(Check.SLICES, Check.CLOCK);
  private static final String FOLDER = System.getProperty("retstack.levels", "");

  @ParameterizedTest
  @CsvSource({"riscv32-clang-mcount, O0", "riscv64-mcount-nofp, Os"})
  void aSampleBuiltWithoutOptimisationAndForSizePasses(
      String variant, String level, @TempDir Path folder) throws Exception {
    String said =
        GuestScript.build(
            Zoo.GUEST,
            Map.of("ZOO_LEVELS", level),
            List.of("--levels", folder.toString(), variant));
    assumeTrue(!said.startsWith("skipped: "), said);
    List<LoadedImage> images = Zoo.images(Manifest.of(folder), "");
    assertThat(images).hasSize(1);
    everyCellPasses(images.getFirst(), EachIsa::isOfSome);
  }

  @TestFactory
  Stream<DynamicTest> everyImageOfAFolderPasses() throws Exception {
    assumeTrue(!FOLDER.isEmpty(), "no -Dretstack.levels=DIR");
    return Manifest.of(Path.of(FOLDER)).entries().stream()
        .map(
            entry ->
                DynamicTest.dynamicTest(
                    entry.file(),
                    () ->
                        everyCellPasses(
                            LoadedImage.load(Path.of(FOLDER).resolve(entry.file())), _ -> true)));
  }

  /**
   * All programs pass.
   *
   * @param whole which of them in many slices too, and beside a hook on each instruction
   */
  private static void everyCellPasses(LoadedImage image, Predicate<Zoo.Case> whole) {
    for (String program : Zoo.programs(image)) {
      Zoo.Case zoo = new Zoo.Case(image, program);
      Conformance conformance = new Conformance(zoo);
      assertThat(
              conformance.checks().stream()
                  .filter(check -> whole.test(zoo) || !COSTLY.contains(check))
                  .map(conformance::cell)
                  .filter(Cell::failed))
          .isEmpty();
    }
  }
}
