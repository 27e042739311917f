package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.loader.LoadedImage;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Differential: the tree that blocks and the stack pointer tell is the one that the sources make,
 * which {@link ZooTest} compares with the records of the probes. Some programs of each image,
 * chosen anew each time ({@link SeededRounds}); with {@code -Dretstack.blocks=all} every one.
 */
class BlockOracleTest {
  private static final int PROGRAMS = 2;

  static Stream<LoadedImage> images() {
    return Zoo.images().stream();
  }

  @ParameterizedTest
  @MethodSource("images")
  void blocksTellTheTreeThatTheSourcesMake(LoadedImage image) {
    boolean all = System.getProperty("retstack.blocks", "").equals("all");
    SeededRounds.run(
        image,
        all ? Zoo.programs(image).size() : PROGRAMS,
        (program, _) -> {
          List<String> expected =
              Zoo.tree(new Zoo.Case(image, program)).lines().stream()
                  .map(line -> line.replace(" !fp", ""))
                  .toList();
          BlockOracle.Told told = BlockOracle.watch(image, Zoo.counts(program).keySet(), program);
          assertThat(told.run().ending().exitCode()).isZero();
          assertThat(told.tree().lines()).isEqualTo(expected);
        });
  }
}
