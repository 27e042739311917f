package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls at the wrong time or from the wrong thread are refused; the right ones work. */
class LifeCycleTest {
  @Test
  void closingTwiceIsOnceAndAClosedEngineRefusesEverything() {
    int open = Unicorn.openEngines();
    int hooks = Unicorn.liveHooks();
    Unicorn uc = X86.open();
    Hook hook = uc.hook_add_intr(number -> {});
    assertThat(Unicorn.openEngines()).isEqualTo(open + 1);
    assertThat(Unicorn.liveHooks()).isEqualTo(hooks + 1);
    uc.close();
    uc.close();
    assertThat(Unicorn.openEngines()).isEqualTo(open);
    assertThat(Unicorn.liveHooks()).isEqualTo(hooks);

    List<Runnable> calls =
        List.of(
            () -> uc.emu_start(0, 0),
            uc::emu_stop,
            () -> uc.mem_map(0, 4096, 7),
            () -> uc.mem_read(0, new byte[1]),
            () -> uc.reg_read(X86Const.UC_X86_REG_RAX),
            () -> uc.reg_write(X86Const.UC_X86_REG_RAX, 0),
            uc::context_alloc,
            () -> uc.hook_add_intr(number -> {}),
            () -> uc.hook_del(hook),
            uc::ctl_flush_tb,
            () -> uc.query(UcConst.UC_QUERY_ARCH));
    for (Runnable call : calls) {
      assertThatThrownBy(call::run)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("engine is closed");
    }
  }

  @Test
  void failedOpenLeavesNothingOpen() {
    int open = Unicorn.openEngines();
    assertThatThrownBy(() -> Unicorn.open(99, 0))
        .isInstanceOfSatisfying(
            UnicornException.class, e -> assertThat(e.error()).isEqualTo(UcError.ARCH));
    assertThat(Unicorn.openEngines()).isEqualTo(open);
  }

  @Test
  @SuppressWarnings("try") // close is what is tested
  void closeAndStartInsideAHookAreRefused() {
    try (Unicorn uc = X86.load("90                nop")) {
      Hook close = uc.hook_add_code((address, size) -> uc.close(), 1, 0);
      assertThatThrownBy(() -> X86.run(uc, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("close inside a hook");
      uc.hook_del(close);
      Hook start = uc.hook_add_code((address, size) -> X86.run(uc, 1), 1, 0);
      assertThatThrownBy(() -> X86.run(uc, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("emu_start inside a hook");
      uc.hook_del(start);
      X86.run(uc, 1);
    }
  }

  @Test
  void stopOfAnIdleEngineDoesNothing() {
    try (Unicorn uc = X86.load("ff c0             inc %eax")) {
      uc.emu_stop();
      X86.run(uc, 2);
      assertThat(uc.reg_read(X86Const.UC_X86_REG_RAX)).isEqualTo(1);
    }
  }

  @Test
  void whileAnEngineRunsOtherThreadsAreRefused() throws Exception {
    CountDownLatch inHook = new CountDownLatch(1);
    CountDownLatch tried = new CountDownLatch(1);
    try (Unicorn uc = X86.load("ff c0             inc %eax");
        ExecutorService thread = Executors.newSingleThreadExecutor()) {
      uc.hook_add_code(
          (address, size) -> {
            inHook.countDown();
            awaitUninterrupted(tried);
          },
          1,
          0);
      Future<?> run = thread.submit(() -> X86.run(uc, 2));
      inHook.await();
      try {
        List<Runnable> calls =
            List.of(
                uc::close,
                uc::emu_stop,
                () -> X86.run(uc, 2),
                () -> uc.reg_read(X86Const.UC_X86_REG_RAX),
                () -> uc.mem_write(X86.DATA, new byte[1]),
                uc::ctl_flush_tlb);
        for (Runnable call : calls) {
          assertThatThrownBy(call::run)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("engine runs on thread");
        }
      } finally {
        tried.countDown();
      }
      run.get();
      assertThat(uc.reg_read(X86Const.UC_X86_REG_RAX)).isEqualTo(1);
    }
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @EnumSource
  void engineMovesBetweenThreadsFromSliceToSlice(GuestProgram program) throws Exception {
    int[] left = new int[1];
    boolean[] stopped = {true};
    try (Unicorn uc = program.load();
        ExecutorService one = Executors.newSingleThreadExecutor();
        ExecutorService two = Executors.newSingleThreadExecutor()) {
      uc.hook_add_block(
          (address, size) -> {
            if (left[0]-- == 0) {
              stopped[0] = true;
              uc.emu_stop();
            }
          },
          1,
          0);
      long pc = GuestProgram.CODE;
      int slices = 0;
      while (stopped[0]) {
        stopped[0] = false;
        left[0] = 50;
        long from = pc;
        ExecutorService thread = slices++ % 2 == 0 ? one : two;
        pc =
            thread
                .submit(
                    () -> {
                      uc.emu_start(from, program.stop);
                      return uc.reg_read(program.pc);
                    })
                .get();
      }
      assertThat(slices).isGreaterThan(50);
      assertThat(uc.reg_read(program.result)).isEqualTo(GuestProgram.expected());
    }
  }
}
