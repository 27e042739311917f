package dev.retstack.fleet.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.memory.Ram;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Programs that use more pages than the engine's TLB has room for when it begins. */
class WorkingSetTest {
  private static final int PAGES = 0x800;

  /** Stores to the first word of every page, a0 times; returns 7. */
  private static final int[] ROUNDS = {
    0, // lui a0, rounds
    0x00c5_5513, // srli a0,a0,12
    0x1234_05b7, // 1: lui a1,0x12340
    0x12b4_0637, // lui a2,0x12b40
    0x0000_16b7, // lui a3,1
    0x0005_a023, // 2: sw zero,0(a1)
    0x00d5_85b3, // add a1,a1,a3
    0xfec5_9ce3, // bne a1,a2,2b
    0xfff5_0513, // addi a0,a0,-1
    0xfe05_12e3, // bnez a0,1b
    0x0070_0513, // li a0,7
    0x0000_8067, // ret
  };

  @Test
  void pagesAreLookedUpUntilTheTlbHoldsThemAndNoMore() {
    long some = lookUps(60);
    long more = lookUps(240);
    assertThat(some).isGreaterThan(PAGES);
    assertThat(more).isLessThan(some + PAGES);
  }

  private static long lookUps(int rounds) {
    ByteBuffer code = ByteBuffer.allocate(4 * ROUNDS.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int word : ROUNDS) {
      code.putInt(word);
    }
    code.putInt(0, rounds << 12 | 0x537);
    LoadedImage image =
        Zoo.images().stream()
            .filter(i -> i.isa().name().equals("riscv64"))
            .findFirst()
            .orElseThrow();
    CoreOptions options = Run.options().withRam(List.of(new Ram(0x1234_0000, PAGES << 12)));
    try (Core core = Core.open(image, options)) {
      core.engine().mem_write(image.elf().entry(), code.array());
      Core.Slice slice;
      do {
        slice = core.run(3L * PAGES);
      } while (slice != Core.Slice.ENDED);
      assertThat(core.ending().orElseThrow().detail()).isEqualTo("entry point returned 7");
      return core.pageLookUps();
    }
  }
}
