package dev.retstack.fleet.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.LoadedImage;
import java.util.OptionalLong;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Programs of s390x that end by a fault. */
final class S390xRunTest {
  /** The engine tells of a block of no bytes there. */
  @ParameterizedTest
  @EnumSource(names = {"AUTO", "JAVA"})
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void anOddProgramCounterIsAFault(ProbeKind probe) {
    Isa isa = Isas.find("s390x").orElseThrow();
    LoadedImage image = Zoo.image(isa, isa.convention("fentry").orElseThrow());
    CoreOptions options =
        Run.options().withProbe(probe).withEntry(OptionalLong.of(image.elf().entry() + 0x3b));
    Run run = Run.of(image, options, 1_000, core -> {});
    assertThat(run.ending().detail())
        .isEqualTo("cpu exception 3 (program interruption) by pc _start+0x3b (0x10003b)");
  }
}
