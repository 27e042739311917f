package dev.retstack.machine.linux;

import static dev.retstack.machine.linux.Guest.SCRATCH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.system.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SignalAndTimeCallsTest {
  private static final long SIGABRT = 6;
  private static final long SIGCHLD = 17;
  private static final long PID = ProcessCalls.PROCESS;

  @Test
  void abortEndsTheProgramWithItsReason() {
    try (Guest guest = new Guest("riscv64")) {
      guest.call("tgkill", PID, PID, SIGABRT);

      LinuxEnd end = guest.process.end().orElseThrow();
      assertThat(end.shellCode()).isEqualTo(134);
      assertThat(end.describe()).isEqualTo("killed by signal 6: the program sent itself SIGABRT");
    }
  }

  @Test
  void ignoredSignalsAndOthersProcesses() {
    try (Guest guest = new Guest("x86_64")) {
      guest.memory.writeLong(SCRATCH, 1);
      assertThat(guest.call("rt_sigaction", 10, SCRATCH, 0, 8)).isZero();

      assertThat(guest.call("tgkill", PID, PID, 10)).isZero();
      assertThat(guest.call("kill", PID, SIGCHLD)).isZero();
      assertThat(guest.call("kill", PID, 0)).isZero();
      assertThat(guest.call("kill", 1, SIGABRT)).isEqualTo(Errno.ESRCH.result());
      assertThat(guest.call("tgkill", 4, PID, SIGABRT)).isEqualTo(Errno.ESRCH.result());
      assertThat(guest.call("kill", PID, 65)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.process.end()).isEmpty();
    }
  }

  @Test
  void withoutHandlersTheyAreNoted() {
    try (Guest guest = new Guest("riscv32")) {
      guest.memory.writeInt(SCRATCH, 0x4000);
      assertThat(guest.call("rt_sigaction", SIGABRT, SCRATCH, 0, 8)).isZero();
      assertThat(guest.call("rt_sigaction", SIGABRT, 0, SCRATCH + 64, 8)).isZero();
      assertThat(guest.memory.readInt(SCRATCH + 64)).isEqualTo(0x4000);
      assertThat(guest.call("rt_sigaction", 9, SCRATCH, 0, 8)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("rt_sigaction", 0, 0, 0, 8)).isEqualTo(Errno.EINVAL.result());

      guest.call("tkill", PID, SIGABRT);

      assertThat(guest.process.end().orElseThrow().describe())
          .contains("its handler at 0x4000 is not run");
    }
  }

  @Test
  void signalMaskIsKept() {
    try (Guest guest = new Guest("aarch64")) {
      guest.memory.writeLong(SCRATCH, 0b1010);
      assertThat(guest.call("rt_sigprocmask", 0, SCRATCH, 0, 8)).isZero();
      guest.memory.writeLong(SCRATCH, 0b0010);
      assertThat(guest.call("rt_sigprocmask", 1, SCRATCH, SCRATCH + 8, 8)).isZero();
      assertThat(guest.memory.readLong(SCRATCH + 8)).isEqualTo(0b1010);
      assertThat(guest.call("rt_sigprocmask", 2, 0, SCRATCH + 8, 8)).isZero();
      assertThat(guest.memory.readLong(SCRATCH + 8)).isEqualTo(0b1000);
      assertThat(guest.call("rt_sigprocmask", 9, SCRATCH, 0, 8)).isEqualTo(Errno.EINVAL.result());
    }
  }

  /** glibc's swapcontext makes the older call on i386 and m68k. */
  @ParameterizedTest
  @ValueSource(strings = {"i386", "m68k"})
  void theOlderMaskIsThatOfTheFirstSignals(String isa) {
    try (Guest guest = new Guest(isa)) {
      guest.memory.writeWord(SCRATCH, 0b1010);
      assertThat(guest.call("sigprocmask", 0, SCRATCH, 0)).isZero();
      guest.memory.writeWord(SCRATCH, 0b0010);
      assertThat(guest.call("sigprocmask", 1, SCRATCH, SCRATCH + 8)).isZero();
      assertThat(guest.memory.readWord(SCRATCH + 8)).isEqualTo(0b1010);
      assertThat(guest.call("sigprocmask", 2, 0, SCRATCH + 8)).isZero();
      assertThat(guest.memory.readWord(SCRATCH + 8)).isEqualTo(0b1000);
      assertThat(guest.call("rt_sigprocmask", 2, 0, SCRATCH, 8)).isZero();
      assertThat(guest.memory.readWord(SCRATCH)).isEqualTo(0b1000);
      assertThat(guest.call("sigprocmask", 9, SCRATCH, 0)).isEqualTo(Errno.EINVAL.result());
    }
  }

  @Test
  void timeIsTheCoresClock() {
    try (Guest guest = new Guest("riscv64")) {
      guest.clockNs = 3_000_000_007L;

      assertThat(guest.call("clock_gettime", 1, SCRATCH)).isZero();
      assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(3);
      assertThat(guest.memory.readLong(SCRATCH + 8)).isEqualTo(7);
      assertThat(guest.call("clock_gettime", 0, SCRATCH)).isZero();
      assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(TimeCalls.EPOCH_SECONDS + 3);
      assertThat(guest.call("gettimeofday", SCRATCH, 0)).isZero();
      assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(TimeCalls.EPOCH_SECONDS + 3);
      assertThat(guest.call("clock_gettime", 99, SCRATCH)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("clock_getres", 1, SCRATCH)).isZero();
      assertThat(guest.memory.readLong(SCRATCH + 8)).isEqualTo(1);
    }
  }

  @Test
  void sleepMovesTheProgramsTimeOnly() {
    try (Guest guest = new Guest("x86_64")) {
      guest.memory.writeLong(SCRATCH, 10);
      guest.memory.writeLong(SCRATCH + 8, 5);
      assertThat(guest.call("nanosleep", SCRATCH, 0)).isZero();
      assertThat(guest.clockNs).isZero();
      assertThat(guest.call("time", 0)).isEqualTo(TimeCalls.EPOCH_SECONDS + 10);
      guest.memory.writeLong(SCRATCH, 12);
      assertThat(guest.call("clock_nanosleep", 1, 1, SCRATCH, 0)).isZero();
      assertThat(guest.call("clock_gettime", 1, SCRATCH)).isZero();
      assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(12);
      assertThat(guest.memory.readLong(SCRATCH + 8)).isEqualTo(5);
      guest.memory.writeLong(SCRATCH + 8, 1_000_000_000);
      assertThat(guest.call("nanosleep", SCRATCH, 0)).isEqualTo(Errno.EINVAL.result());
      guest.memory.writeLong(SCRATCH, Long.MAX_VALUE);
      guest.memory.writeLong(SCRATCH + 8, 0);
      for (int i = 0; i < 10; i++) {
        assertThat(guest.call("nanosleep", SCRATCH, 0)).isZero();
      }
      assertThat(guest.call("time", 0)).isPositive();
    }
  }
}
