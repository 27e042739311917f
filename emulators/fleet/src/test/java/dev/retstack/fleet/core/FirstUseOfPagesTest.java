package dev.retstack.fleet.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.Isas;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A page's first use, by an instruction whose block goes on after it: in the delay slot of a branch
 * the engine would run the first instruction of the target twice.
 */
class FirstUseOfPagesTest {
  private static final int PAGES = 20;

  /** Counts in $2 the rounds of a loop whose delay slot stores to a page not used before. */
  private static final int[] STORES = {
    0x3c05_1234, // lui $5,0x1234
    0x3c06_1235, // lui $6,0x1235
    0x34c6_4000, // ori $6,$6,0x4000
    0x3407_1000, // li $7,4096
    0x0000_1025, // move $2,$0
    0x2442_0001, // 1: addiu $2,$2,1
    0x00a7_2821, // addu $5,$5,$7
    0x14a6_fffd, // bne $5,$6,1b
    0xaca0_0000, // sw $0,0($5)
    0x03e0_0008, // jr $31
    0x0000_0000,
  };

  static Stream<Isa> isas() {
    return Isas.all().stream().filter(isa -> isa.name().startsWith("mips"));
  }

  @ParameterizedTest
  @MethodSource("isas")
  void aDelaySlotIsLeftBehind(Isa isa) {
    for (long slice : List.of(1L, 7L, 1_000_000L)) {
      Run run = run(isa, slice);
      assertThat(run.ending().detail()).isEqualTo("entry point returned " + PAGES);
      assertThat(run.instructions()).isEqualTo(5 + 4 * PAGES + 2);
    }
  }

  private static Run run(Isa isa, long slice) {
    LoadedImage image =
        Zoo.images().stream().filter(i -> i.isa().equals(isa)).findFirst().orElseThrow();
    ByteBuffer code = ByteBuffer.allocate(4 * STORES.length).order(isa.order());
    for (int word : STORES) {
      code.putInt(word);
    }
    CoreOptions options = Run.options().withRam(List.of(new Ram(0x1234_0000, 0x2_0000)));
    return Run.of(
        image, options, slice, core -> core.engine().mem_write(image.elf().entry(), code.array()));
  }
}
