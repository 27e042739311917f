package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CpuStateTest {
  private static final long MARK = 0x5ec0de5ec0de0001L;

  @ParameterizedTest
  @EnumSource
  void restoreBringsBackRegistersAndAnotherEngineMayTakeThem(GuestProgram program) {
    try (Unicorn uc = program.load();
        Unicorn other = program.load()) {
      uc.reg_write(program.result, MARK);
      try (CpuState context = uc.context_alloc()) {
        uc.context_save(context);
        uc.emu_start(GuestProgram.CODE, program.stop);
        assertThat(uc.reg_read(program.result)).isEqualTo(GuestProgram.expected());
        uc.context_restore(context);
        other.context_restore(context);
      }
      assertThat(uc.reg_read(program.result)).isEqualTo(MARK);
      assertThat(other.reg_read(program.result)).isEqualTo(MARK);
    }
  }

  /** What no register id reaches is reached through the bytes: how ppc64 gets its MSR.HV. */
  @ParameterizedTest
  @EnumSource
  void bytesOfAContextAreThoseOfTheCpu(GuestProgram program) {
    try (Unicorn uc = program.load();
        CpuState context = uc.context_alloc()) {
      uc.reg_write(program.result, MARK);
      uc.context_save(context);
      MemorySegment bytes = context.bytes();
      int found = 0;
      for (long at = 0; at + Long.BYTES <= bytes.byteSize(); at += Long.BYTES) {
        if (bytes.get(ValueLayout.JAVA_LONG, at) == MARK) {
          bytes.set(ValueLayout.JAVA_LONG, at, MARK + 1);
          found++;
        }
      }
      assertThat(found).isPositive();
      uc.context_restore(context);
      assertThat(uc.reg_read(program.result)).isEqualTo(MARK + 1);
    }
  }

  @Test
  void closedContextIsRefusedAndClosingTwiceIsOnce() {
    try (Unicorn uc = X86.open()) {
      CpuState context = uc.context_alloc();
      MemorySegment bytes = context.bytes();
      context.close();
      context.close();
      assertThatThrownBy(() -> uc.context_save(context))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("context is closed");
      assertThatThrownBy(() -> bytes.get(ValueLayout.JAVA_LONG, 0))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void contextEndsWithItsEngine() {
    CpuState context;
    try (Unicorn uc = X86.open()) {
      context = uc.context_alloc();
      uc.context_save(context);
    }
    assertThatThrownBy(() -> context.bytes().get(ValueLayout.JAVA_LONG, 0))
        .isInstanceOf(IllegalStateException.class);
    context.close();
  }
}
