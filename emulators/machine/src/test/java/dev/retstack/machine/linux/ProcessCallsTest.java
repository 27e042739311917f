package dev.retstack.machine.linux;

import static dev.retstack.machine.linux.Guest.NOWHERE;
import static dev.retstack.machine.linux.Guest.SCRATCH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.file.FileTable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ProcessCallsTest {
  @ParameterizedTest
  @CsvSource({"exit_group,0,0", "exit,7,7", "exit_group,-1,255", "exit_group,256,0"})
  void exitCodeIsKept(String call, long argument, int code) {
    try (Guest guest = new Guest("x86_64")) {
      assertThat(guest.process.end()).isEmpty();

      guest.call(call, argument);

      assertThat(guest.process.end()).contains(new LinuxEnd.Exited(code));
      assertThat(guest.process.systemCall()).isFalse();
    }
  }

  @Test
  void unsupportedCallsReturnEnosysAndAreCounted() {
    try (Guest guest = new Guest("aarch64")) {
      assertThat(guest.call("clone", 0)).isEqualTo(Errno.ENOSYS.result());
      assertThat(guest.call("clone", 0)).isEqualTo(Errno.ENOSYS.result());
      assertThat(guest.call("socket", 1, 1, 0)).isEqualTo(Errno.ENOSYS.result());
      assertThat(guest.callNumber(99_999)).isEqualTo(Errno.ENOSYS.result());
      assertThat(guest.callNumber(Long.MIN_VALUE)).isEqualTo(Errno.ENOSYS.result());
      assertThat(guest.call("rseq", 0)).isEqualTo(Errno.ENOSYS.result());
      assertThat(guest.process.end()).isEmpty();
      assertThat(guest.process.unsupported())
          .containsEntry("fork (clone)", 2L)
          .containsEntry("socket", 1L)
          .containsEntry("number 99999", 1L)
          .doesNotContainKey("rseq");
      assertThat(guest.process.systemCalls()).isEqualTo(6);
    }
  }

  @Test
  void namesOfUnsupportedCallsAreBounded() {
    try (Guest guest = new Guest("x86_64")) {
      for (int i = 0; i < 2000; i++) {
        guest.callNumber(100_000 + i);
      }
      assertThat(guest.process.unsupported()).hasSizeLessThan(600);
      assertThat(guest.process.unsupported().values().stream().mapToLong(n -> n).sum())
          .isEqualTo(2000);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"x86_64", "aarch64", "riscv64"})
  void identity(String isa) {
    try (Guest guest = new Guest(isa)) {
      assertThat(guest.call("getpid")).isEqualTo(guest.call("gettid")).isEqualTo(1000);
      assertThat(guest.call("set_tid_address", SCRATCH)).isEqualTo(1000);
      assertThat(guest.call("geteuid")).isEqualTo(1000);
      assertThat(guest.call("set_robust_list", SCRATCH, 24)).isZero();
      assertThat(guest.call("uname", SCRATCH)).isZero();
      assertThat(guest.memory.readString(SCRATCH, 64)).isEqualTo("Linux");
      assertThat(guest.memory.readString(SCRATCH + 4 * 65, 64)).isEqualTo(isa);
      assertThat(guest.call("uname", NOWHERE)).isEqualTo(Errno.EFAULT.result());
      assertThat(guest.call("sched_getaffinity", 0, 128, SCRATCH)).isEqualTo(8);
      assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(1);
    }
  }

  @Test
  void limitsAreToldAndNotChanged() {
    try (Guest guest = new Guest("x86_64")) {
      assertThat(guest.call("prlimit64", 0, 3, 0, SCRATCH)).isZero();
      assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(LinuxOptions.STACK_BYTES);
      assertThat(guest.call("prlimit64", 0, 7, SCRATCH, 0)).isEqualTo(Errno.EPERM.result());
      assertThat(guest.call("prlimit64", 0, 99, 0, SCRATCH)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("getrlimit", 7, SCRATCH)).isZero();
      assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(FileTable.DESCRIPTORS_MAX);
    }
  }

  @Test
  void randomBytesComeFromTheSeed() {
    assertThat(randomOf(1)).isEqualTo(randomOf(1)).isNotEqualTo(randomOf(2));
    try (Guest guest = new Guest("x86_64")) {
      assertThat(guest.call("getrandom", NOWHERE, 8, 0)).isEqualTo(Errno.EFAULT.result());
      assertThat(guest.call("getrandom", SCRATCH, -1, 0)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("getrandom", SCRATCH, 1 << 30, 0)).isEqualTo(4096);
    }
  }

  @Test
  void futexOfTheOnlyThread() {
    try (Guest guest = new Guest("x86_64")) {
      guest.memory.writeInt(SCRATCH, 5);
      assertThat(guest.call("futex", SCRATCH, 1, 1)).isZero();
      assertThat(guest.call("futex", SCRATCH, 128, 4)).isEqualTo(Errno.EAGAIN.result());
      assertThat(guest.call("futex", SCRATCH, 0, 5, SCRATCH + 8))
          .isEqualTo(Errno.ETIMEDOUT.result());
      assertThat(guest.process.end()).isEmpty();

      guest.call("futex", SCRATCH, 0, 5, 0);

      assertThat(guest.process.end()).get().isInstanceOf(LinuxEnd.Killed.class);
      assertThat(guest.process.end().orElseThrow().describe()).contains("another thread for ever");
    }
  }

  @Test
  void threadPointerIsARegisterWhereACallSetsIt() {
    try (Guest guest = new Guest("x86_64")) {
      assertThat(guest.hasThreadPointer()).isTrue();
      assertThat(guest.call("arch_prctl", 0x1002, 0x1234)).isZero();
      assertThat(guest.registers.get(guest.isa.registers().threadPointer())).isEqualTo(0x1234);
      assertThat(guest.call("arch_prctl", 0x1003, SCRATCH)).isZero();
      assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(0x1234);
      assertThat(guest.call("arch_prctl", 0x3001, SCRATCH)).isEqualTo(Errno.EINVAL.result());
    }
  }

  private static byte[] randomOf(long seed) {
    try (Guest guest = new Guest("x86_64", "", o -> o.withSeed(seed))) {
      assertThat(guest.call("getrandom", SCRATCH, 32, 0)).isEqualTo(32);
      return guest.memory.read(SCRATCH, 32);
    }
  }
}
