package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RegisterStorageTest {
  @ParameterizedTest
  @EnumSource
  void placesAreTheRegistersAndNothingChanges(GuestProgram program) {
    for (int round = 0; round < 3; round++) { // the first searches, others know
      try (Unicorn uc = program.load()) {
        uc.reg_write(program.sp, 0x7000);
        uc.reg_write(program.result, 17);

        long[] places = uc.locateRegisters(Long.BYTES, program.sp, program.result).orElseThrow();

        assertThat(at(places[0])).isEqualTo(0x7000);
        assertThat(at(places[1])).isEqualTo(17);
        assertThat(uc.reg_read(program.sp)).isEqualTo(0x7000);
        uc.reg_write(program.result, 0x1122_3344_5566_7788L);
        assertThat(at(places[1])).isEqualTo(0x1122_3344_5566_7788L);
      }
    }
  }

  @Test
  void anotherRegisterIsSearchedToo() {
    try (Unicorn uc = X86.open()) {
      int sp = X86Const.UC_X86_REG_RSP;
      long[] two = uc.locateRegisters(Long.BYTES, sp, X86Const.UC_X86_REG_R8).orElseThrow();
      long[] other = uc.locateRegisters(Long.BYTES, sp, X86Const.UC_X86_REG_R9).orElseThrow();
      assertThat(other[0]).isEqualTo(two[0]);
      assertThat(other[1]).isNotEqualTo(two[1]);
    }
  }

  /**
   * The program counter is kept otherwise than it reads while a block runs; others cannot be set.
   */
  @Test
  void aRegisterThatDoesNotHoldAPatternIsNowhere() {
    try (Unicorn uc = X86.open()) {
      assertThat(
              uc.locateRegisters(Long.BYTES, X86Const.UC_X86_REG_RSP, X86Const.UC_X86_REG_EFLAGS))
          .isEmpty();
      assertThat(uc.locateRegisters(Long.BYTES, X86Const.UC_X86_REG_RSP)).isEmpty();
    }
  }

  /** Each searches while the others' engines run beside it: none may be disturbed. */
  @Test
  void searchesOfManyThreadsDisturbNoEngine() throws Exception {
    List<Callable<Void>> work = new ArrayList<>();
    List<GuestProgram> programs = List.of(GuestProgram.values());
    for (int i = 0; i < 200; i++) {
      GuestProgram program = programs.get(i % programs.size());
      int more = X86Const.UC_X86_REG_R8 + i % 4; // not known from the one before: is searched
      work.add(
          () -> {
            try (Unicorn uc = program.load()) {
              int other = program == GuestProgram.X86_64 ? more : program.result;
              assertThat(uc.locateRegisters(Long.BYTES, program.sp, other)).isPresent();
              uc.emu_start(GuestProgram.CODE, program.stop);
              assertThat(uc.reg_read(program.result)).isEqualTo(GuestProgram.expected());
              return null;
            }
          });
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (Future<Void> one : threads.invokeAll(work)) {
        one.get();
      }
    }
  }

  @SuppressWarnings("restricted")
  private static long at(long place) {
    return MemorySegment.ofAddress(place).reinterpret(8).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
  }
}
