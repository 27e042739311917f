package dev.retstack.fleet.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.memory.Ram;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A page's first use, by an instruction whose block goes on after it: in the delay slot of a branch
 * the engine would run the first instruction of the target twice, in an IT block it would take the
 * next block's first instruction for a part of that one.
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

  /** Counts in r0 the rounds of a loop; the first instruction of its second block does it. */
  private static final int[] CONDITIONAL_STORES = {
    0x2000, // movs r0,#0
    0x2214, // movs r2,#20
    0xf240, 0x0100, // movw r1,#0
    0xf2c1, 0x2134, // movt r1,#0x1234
    0x2a00, // 1: cmp r2,#0
    0xbf58, // it pl
    0x6008, // strpl r0,[r1]
    0x2aff, // cmp r2,#255
    0xe7ff, // b 2f
    0x3001, // 2: adds r0,#1
    0xf501, 0x5180, // add.w r1,r1,#4096
    0x3a01, // subs r2,#1
    0xd1f5, // bne 1b
    0x4770, // bx lr
  };

  @Test
  void anItBlockIsLeftBehind() {
    LoadedImage thumb =
        Zoo.images().stream()
            .filter(i -> i.elf().secondInstructionSet(i.elf().entry()))
            .findFirst()
            .orElseThrow();
    ByteBuffer code =
        ByteBuffer.allocate(2 * CONDITIONAL_STORES.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int halfword : CONDITIONAL_STORES) {
      code.putShort((short) halfword);
    }
    for (long slice : List.of(1L, 7L, 1_000_000L)) {
      Run run = run(thumb, code.array(), slice);
      assertThat(run.ending().detail()).isEqualTo("entry point returned " + PAGES);
      assertThat(run.instructions()).isEqualTo(4 + 9 * PAGES + 1);
    }
  }

  private static Run run(Isa isa, long slice) {
    LoadedImage image =
        Zoo.images().stream().filter(i -> i.isa().equals(isa)).findFirst().orElseThrow();
    ByteBuffer code = ByteBuffer.allocate(4 * STORES.length).order(isa.order());
    for (int word : STORES) {
      code.putInt(word);
    }
    return run(image, code.array(), slice);
  }

  private static Run run(LoadedImage image, byte[] code, long slice) {
    CoreOptions options = Run.options().withRam(List.of(new Ram(0x1234_0000, 0x2_0000)));
    return Run.of(
        image, options, slice, core -> core.engine().mem_write(image.elf().entry(), code));
  }
}
