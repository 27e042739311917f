package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The variadic calls pass every argument whole. */
class ControlsTest {
  /** Above 4 GiB, so that an argument cut to 32 bits would miss. */
  private static final long HIGH = 0x7_1234_5000L;

  @Test
  void valuesThatAreSetAreGot() {
    try (Unicorn uc = Unicorn.open(UcConst.UC_ARCH_ARM, UcConst.UC_MODE_ARM)) {
      uc.ctl_set_cpu_model(ArmConst.UC_CPU_ARM_CORTEX_A15);
      uc.ctl_set_tcg_buffer_size(2 << 20);
      uc.mem_map(0x1000, 0x1000, UcConst.UC_PROT_ALL);
      assertThat(uc.ctl_get_tcg_buffer_size()).isEqualTo(2 << 20);
      assertThat(uc.query(UcConst.UC_QUERY_ARCH)).isEqualTo(UcConst.UC_ARCH_ARM);
      assertThat(uc.query(UcConst.UC_QUERY_MODE)).isEqualTo(UcConst.UC_MODE_ARM);
    }
    try (Unicorn uc = X86.open()) {
      assertThat(uc.ctl_get_page_size()).isEqualTo(4096);
    }
  }

  @Test
  void exitsAbove4GiBEndARun() {
    try (Unicorn uc = X86.open()) {
      uc.mem_map(HIGH, 0x1000, UcConst.UC_PROT_ALL);
      uc.mem_write(HIGH, GuestProgram.assemble("90 90 90 90       nop; nop; nop; nop"));
      uc.ctl_exits_enable();
      uc.ctl_set_exits(HIGH + 2, HIGH + 3);
      uc.emu_start(HIGH, 0);
      assertThat(uc.reg_read(X86Const.UC_X86_REG_RIP)).isEqualTo(HIGH + 2);
      uc.ctl_exits_disable();
      uc.emu_start(HIGH, HIGH + 4);
      assertThat(uc.reg_read(X86Const.UC_X86_REG_RIP)).isEqualTo(HIGH + 4);
    }
  }

  @Test
  void blockIsToldOnlyInsideItsHook() {
    List<TranslationBlock> blocks = new ArrayList<>();
    try (Unicorn uc = X86.load("90 90 eb 00       nop; nop; jmp +0")) {
      assertThatThrownBy(() -> uc.ctl_request_cache(X86.CODE))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("ask in a block hook");
      uc.hook_add_block(
          (address, size) -> {
            if (blocks.isEmpty()) {
              blocks.add(uc.ctl_request_block(address));
              assertThatThrownBy(() -> uc.ctl_request_cache(address + 1))
                  .isInstanceOf(IllegalStateException.class);
            }
          },
          1,
          0);
      X86.run(uc, 4);
      assertThat(blocks).containsExactly(new TranslationBlock(X86.CODE, 3, 4));
      assertThatThrownBy(() -> uc.ctl_request_cache(X86.CODE))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  /**
   * Writing code is not enough; the translation has to go. The block jumps to its end: one that
   * falls into {@code until} is translated anew by each start.
   */
  @ParameterizedTest
  @CsvSource({
    "X86_64,  b8 01 00 00 00 eb 39,    b8 02 00 00 00 eb 39", // mov $1,%eax; jmp .+0x40
    "AARCH64, 20 00 80 52 0f 00 00 14, 40 00 80 52 0f 00 00 14", // mov w0,#1; b .+0x40
    "RISCV64, 13 05 10 00 6f 00 c0 03, 13 05 20 00 6f 00 c0 03" // li a0,1; j .+0x40
  })
  void codePatchedByTheHostRunsAfterItsCacheWasRemoved(
      GuestProgram program, String one, String two) {
    byte[] first = HexFormat.ofDelimiter(" ").parseHex(one);
    byte[] second = HexFormat.ofDelimiter(" ").parseHex(two);
    try (Arena arena = Arena.ofConfined();
        Unicorn uc = program.load()) {
      MemorySegment host = arena.allocate(0x1000, 0x1000);
      uc.mem_map_ptr(HIGH, host, UcConst.UC_PROT_ALL);
      long at = HIGH + 0x100;

      patch(host, first);
      assertThat(run(uc, program, at)).isEqualTo(1);
      patch(host, second);
      assertThat(run(uc, program, at)).as("stale").isEqualTo(1);
      uc.ctl_flush_tlb();
      uc.ctl_remove_cache(at, at + first.length);
      assertThat(run(uc, program, at)).as("removed").isEqualTo(2);

      uc.mem_write(at, first);
      assertThat(run(uc, program, at)).as("stale").isEqualTo(2);
      uc.ctl_flush_tb();
      assertThat(run(uc, program, at)).as("flushed").isEqualTo(1);
    }
  }

  private static void patch(MemorySegment host, byte[] code) {
    MemorySegment.copy(code, 0, host, ValueLayout.JAVA_BYTE, 0x100, code.length);
  }

  private static long run(Unicorn uc, GuestProgram program, long at) {
    uc.emu_start(at, at + 0x40);
    return uc.reg_read(program.result);
  }
}
