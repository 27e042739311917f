package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RegisterFileTest {
  @ParameterizedTest
  @EnumSource
  void aRegisterHoldsAll64Bits(GuestProgram program) {
    try (Unicorn uc = program.load()) {
      uc.reg_write(program.result, 0xfedcba9876543210L);
      assertThat(uc.reg_read(program.result)).isEqualTo(0xfedcba9876543210L);
    }
  }

  @Test
  void aNarrowRegisterIsZeroExtended() {
    try (Unicorn uc = X86.open()) {
      uc.reg_write(X86Const.UC_X86_REG_RAX, -1);
      assertThat(uc.reg_read(X86Const.UC_X86_REG_EAX)).isEqualTo(0xffffffffL);
      assertThat(uc.reg_read(X86Const.UC_X86_REG_AL)).isEqualTo(0xff);
    }
  }

  @Test
  void batchesLongerThanOneDowncallAgreeWithSingleReads() {
    int[] ids =
        IntStream.rangeClosed(Arm64Const.UC_ARM64_REG_X0, Arm64Const.UC_ARM64_REG_X28).toArray();
    int[] twice = IntStream.concat(IntStream.of(ids), IntStream.of(ids)).toArray();
    long[] values = LongStream.range(0, twice.length).map(i -> ~(i * 0x0101010101L)).toArray();
    try (Unicorn uc = GuestProgram.AARCH64.load()) {
      uc.reg_write_batch(twice, values);
      long[] read = new long[twice.length];
      uc.reg_read_batch(twice, read);
      for (int i = 0; i < twice.length; i++) {
        long last = values[i % ids.length + ids.length]; // the later write of the same register
        assertThat(read[i]).isEqualTo(last).isEqualTo(uc.reg_read(twice[i]));
      }
      assertThatThrownBy(() -> uc.reg_read_batch(ids, new long[1]))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void wideRegistersGoThroughSegmentsOnAndOffHeap() {
    try (Arena arena = Arena.ofConfined();
        Unicorn x86 = X86.open();
        Unicorn arm = GuestProgram.AARCH64.load()) {
      MemorySegment native16 = arena.allocate(16);
      native16.set(ValueLayout.JAVA_LONG, 0, 0x1122334455667788L);
      native16.set(ValueLayout.JAVA_LONG, 8, 0x99aabbccddeeff00L);
      roundTrip(x86, X86Const.UC_X86_REG_XMM3, native16);
      roundTrip(arm, Arm64Const.UC_ARM64_REG_V7, native16);

      byte[] wide = new byte[32];
      new Random(1).nextBytes(wide);
      roundTrip(x86, X86Const.UC_X86_REG_YMM5, MemorySegment.ofArray(wide));

      MemorySegment tooWide = arena.allocate(RegisterFile.WIDEST + 1);
      assertThatThrownBy(() -> x86.reg_read(X86Const.UC_X86_REG_XMM0, tooWide))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  private static void roundTrip(Unicorn uc, int register, MemorySegment value) {
    uc.reg_write(register, value);
    MemorySegment read = MemorySegment.ofArray(new byte[(int) value.byteSize()]);
    uc.reg_read(register, read);
    assertThat(read.mismatch(value)).isEqualTo(-1);
    assertThat(uc.reg_read(register)).isEqualTo(value.get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
  }

  /** A refused fill there would be a crash of the process (measured: SIGSEGV in uc_reg_write). */
  @Test
  void segmentSelectorsAreWrittenBeforeTheTlbHookIsThere() {
    try (Unicorn uc = X86.open()) {
      uc.ctl_tlb_mode(UcConst.UC_TLB_VIRTUAL);
      uc.hook_add_tlb_fill((address, type, result) -> false);
      int[] ids = {X86Const.UC_X86_REG_RAX, X86Const.UC_X86_REG_FS};
      assertThatThrownBy(() -> uc.reg_write(X86Const.UC_X86_REG_FS, 8))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("FS_BASE");
      assertThatThrownBy(
              () -> uc.reg_write(X86Const.UC_X86_REG_DS, MemorySegment.ofArray(new byte[2])))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> uc.reg_write_batch(ids, new long[2]))
          .isInstanceOf(IllegalStateException.class);
      uc.reg_write(X86Const.UC_X86_REG_FS_BASE, 0x12345000);
      assertThat(uc.reg_read(X86Const.UC_X86_REG_FS_BASE)).isEqualTo(0x12345000);
    }
  }
}
