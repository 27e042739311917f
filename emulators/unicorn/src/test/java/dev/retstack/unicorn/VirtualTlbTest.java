package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The virtual TLB with pages that are writable or executable, never both. */
class VirtualTlbTest {
  private static final long PAGE = 0x1000;
  private static final long DATA = 0x30000;
  private static final int RX = UcConst.UC_PROT_READ | UcConst.UC_PROT_EXEC;
  private static final int RW = UcConst.UC_PROT_READ | UcConst.UC_PROT_WRITE;

  private final Map<Long, Integer> pages = new HashMap<>(Map.of(0x10000L, RX, 0x20000L, RW));
  private int fills;

  private Unicorn load(GuestProgram program) {
    Unicorn uc = program.load();
    uc.mem_map(DATA, PAGE, UcConst.UC_PROT_ALL);
    uc.ctl_tlb_mode(UcConst.UC_TLB_VIRTUAL);
    uc.hook_add_tlb_fill(
        (address, type, result) -> {
          fills++;
          int perms = pages.getOrDefault(address & -PAGE, 0);
          result.set(address, perms);
          return switch (type) {
            case UcConst.UC_MEM_READ -> (perms & UcConst.UC_PROT_READ) != 0;
            case UcConst.UC_MEM_WRITE -> (perms & UcConst.UC_PROT_WRITE) != 0;
            case UcConst.UC_MEM_FETCH -> (perms & UcConst.UC_PROT_EXEC) != 0;
            default -> throw new AssertionError(type);
          };
        });
    return uc;
  }

  @ParameterizedTest
  @EnumSource
  void programRunsWithAFewFills(GuestProgram program) {
    try (Unicorn uc = load(program)) {
      uc.emu_start(GuestProgram.CODE, program.stop);
      assertThat(uc.reg_read(program.result)).isEqualTo(GuestProgram.expected());
      assertThat(fills).isBetween(1, 4);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "X86_64,  90 c7 00 05 00 00 00, 1, 7", // nop; movl $5,(%rax)
    "AARCH64, 1f 20 03 d5 00 00 00 f9, 4, 8", // nop; str x0,[x0]
    "RISCV64, 13 00 00 00 23 30 a5 00, 4, 8" // nop; sd a0,0(a0)
  })
  void refusedStoreEndsWithItsExactPcUntilThePermissionChangesAndTheTlbIsFlushed(
      GuestProgram program, String hex, int store, int end) {
    byte[] code = java.util.HexFormat.ofDelimiter(" ").parseHex(hex);
    try (Unicorn uc = load(program)) {
      uc.mem_write(GuestProgram.CODE, code);
      uc.reg_write(program.result, DATA + 0x80);
      pages.put(DATA, UcConst.UC_PROT_READ);
      refused(uc, end);
      assertThat(uc.reg_read(program.pc)).isEqualTo(GuestProgram.CODE + store);

      pages.put(DATA, RW);
      uc.ctl_flush_tlb();
      uc.emu_start(GuestProgram.CODE, GuestProgram.CODE + end);
      byte[] stored = new byte[1];
      uc.mem_read(DATA + 0x80, stored);
      assertThat(stored[0]).isNotZero();

      pages.put(DATA, UcConst.UC_PROT_READ);
      uc.emu_start(GuestProgram.CODE, GuestProgram.CODE + end); // the old answer is still in use
      uc.ctl_flush_tlb();
      refused(uc, end);
    }
  }

  private static void refused(Unicorn uc, int end) {
    assertThatThrownBy(() -> uc.emu_start(GuestProgram.CODE, GuestProgram.CODE + end))
        .isInstanceOfSatisfying(
            UnicornException.class, e -> assertThat(e.error()).isEqualTo(UcError.EXCEPTION));
  }

  /** To forget translations is to look their pages up: the hook is entered within itself. */
  @Test
  void aHookMayForgetTranslationsBeforeItAnswers() {
    GuestProgram program = GuestProgram.X86_64; // it calls by its stack: a page beside that of code
    int[] depth = {0, 0};
    try (Unicorn uc = program.load()) {
      uc.ctl_tlb_mode(UcConst.UC_TLB_VIRTUAL);
      uc.hook_add_tlb_fill(
          (address, type, result) -> {
            depth[1] = Math.max(depth[1], ++depth[0]);
            if (type != UcConst.UC_MEM_FETCH) {
              uc.ctl_flush_tlb();
              uc.ctl_remove_cache(GuestProgram.CODE, GuestProgram.CODE + PAGE);
            }
            depth[0]--;
            result.set(address, pages.get(address & -PAGE));
            return true;
          });
      uc.emu_start(GuestProgram.CODE, program.stop);
      assertThat(uc.reg_read(program.result)).isEqualTo(GuestProgram.expected());
    }
    assertThat(depth[1]).isGreaterThan(1);
  }
}
