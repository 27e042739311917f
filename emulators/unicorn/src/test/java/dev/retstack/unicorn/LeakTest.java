package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What is opened is given back. */
class LeakTest {
  private static final long GROWTH_MAX_KIB = 24 << 10; // an engine that has run holds over 0.3 MiB
  private static final int ENGINES = 300;
  private static final int BATCH = 50;

  @Test
  @EnabledOnOs(OS.LINUX)
  void threeHundredEnginesLeaveNothing() {
    int open = Unicorn.openEngines();
    int hooks = Unicorn.liveHooks();
    cycle(); // so that the heap and the allocator's own pools have their size
    long before = residentKib();
    for (int i = 0; i < ENGINES / BATCH; i++) {
      cycle();
    }
    checkGrowth(before);
    assertThat(Unicorn.openEngines()).isEqualTo(open);
    assertThat(Unicorn.liveHooks()).isEqualTo(hooks);
  }

  /** The check above is one that can fail. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void canaryTheSameEnginesLeftOpenAreNoticed() {
    List<Unicorn> leaked = new ArrayList<>();
    try (Arena arena = Arena.ofShared()) {
      cycle();
      long before = residentKib();
      int hooks = Unicorn.liveHooks();
      try {
        for (int i = 0; i < ENGINES; i++) {
          leaked.add(run(arena));
        }
        assertThat(Unicorn.liveHooks()).isEqualTo(hooks + 4 * leaked.size());
        assertThatThrownBy(() -> checkGrowth(before)).isInstanceOf(AssertionError.class);
      } finally {
        leaked.forEach(Unicorn::close);
      }
    }
  }

  private static void cycle() {
    List<Unicorn> engines = new ArrayList<>();
    try (Arena arena = Arena.ofShared()) {
      for (int i = 0; i < BATCH; i++) {
        engines.add(run(arena));
      }
      engines.forEach(Unicorn::close);
    }
  }

  /** Opens an engine with every resource there is, and runs it. */
  private static Unicorn run(Arena arena) {
    Unicorn uc = X86.load("ff c0             inc %eax");
    uc.mem_map_ptr(0x100000, arena.allocate(0x10000, 0x1000), UcConst.UC_PROT_ALL);
    uc.ctl_tlb_mode(UcConst.UC_TLB_VIRTUAL);
    uc.hook_add_tlb_fill(
        (address, type, result) -> {
          result.set(address, UcConst.UC_PROT_READ | UcConst.UC_PROT_EXEC);
          return true;
        });
    uc.hook_add_block((address, size) -> {}, 1, 0);
    uc.hook_add_code((address, size) -> {}, 1, 0);
    uc.hook_add_intr(number -> {});
    uc.context_save(uc.context_alloc());
    uc.reg_read_batch(new int[] {X86Const.UC_X86_REG_RAX}, new long[1]);
    X86.run(uc, 2);
    return uc;
  }

  private static void checkGrowth(long before) {
    assertThat(residentKib() - before).as("growth of RSS in KiB").isLessThan(GROWTH_MAX_KIB);
  }

  private static long residentKib() {
    System.gc();
    try {
      return Files.readAllLines(Path.of("/proc/self/status")).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .map(line -> line.replaceAll("\\D", ""))
          .mapToLong(Long::parseLong)
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
