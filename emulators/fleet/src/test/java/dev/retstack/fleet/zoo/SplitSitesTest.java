package dev.retstack.fleet.zoo;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD;

import dev.retstack.fleet.control.TraceSettings;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.loader.LoadedImage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Sites that the engine's translator runs into, and where a hook makes a block begin: on s390x a
 * jump to the next instruction, here a tail call of the neighbour, ends no block. Once such a site
 * is switched off the program must pass it as any other code.
 */
class SplitSitesTest {
  private static final String TAIL = "tail";
  private static final int MOST_BETWEEN_CHANGES = 300;

  static Stream<Arguments> images() {
    return Zoo.images().stream()
        .filter(image -> image.elf().name().matches("zoo-s390x-.*(nop|patchable)\\.elf"))
        .flatMap(
            image ->
                Stream.of(ProbeKind.JAVA, ProbeKind.NATIVE)
                    .map(probe -> Arguments.of(image, probe)));
  }

  @ParameterizedTest
  @MethodSource("images")
  @Timeout(value = 20, unit = SECONDS, threadMode = SEPARATE_THREAD)
  void aSiteThatWasSplitIsPassedOnceItIsOff(LoadedImage image, ProbeKind probe) {
    Run full = Run.of(image, TAIL);
    for (long step = 10; step < MOST_BETWEEN_CHANGES; step += 30) {
      long between = step;
      int[] changes = {0};
      Run run =
          Run.of(
              image,
              Run.options().withProbe(probe),
              core -> {
                core.trace(TraceSettings.standard().withOn(changes[0]++ % 2 == 0));
                return between;
              },
              TAIL);
      assertThat(run.ending()).isEqualTo(full.ending());
      assertThat(run.output()).isEqualTo(full.output());
      assertThat(run.instructions()).as("virtual time").isEqualTo(full.instructions());
      assertThat(run.records().size()).isLessThan(full.records().size());
    }
  }
}
