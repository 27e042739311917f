package dev.retstack.machine.linux;

import static dev.retstack.machine.linux.Guest.SCRATCH;
import static dev.retstack.machine.linux.Guest.STACK;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.isa.system.SyscallAbi.ErrorFlag;
import dev.retstack.machine.memory.GuestMemory;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What differs between the architectures' ways into Linux. */
final class ArchitecturesTest {
  private static final long AT_FDCWD = -100;
  private static final long FAR = (1L << 32) + 2;
  private static final long PRIVATE = 2;
  private static final long RW = 3;

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"ppc32", "ppc64", "ppc64le", "mips", "mipsel", "mips64"})
  void errorsAreToldByAFlag(String isa) {
    try (Guest guest = new Guest(isa)) {
      ErrorFlag flag = guest.isa.syscalls().errorFlag().orElseThrow();
      guest.registers.put(flag.register(), ~flag.mask());

      guest.call("close", 99);
      assertThat(guest.failed()).isTrue();
      assertThat(guest.registers.get(guest.isa.syscalls().resultRegister())).isEqualTo(9);

      guest.call("getpid");
      assertThat(guest.failed()).isFalse();
      assertThat(guest.registers.get(guest.isa.syscalls().resultRegister())).isEqualTo(1000);
    }
  }

  @ParameterizedTest
  @CsvSource({"mips,89", "mips64,89", "ppc64,38", "s390x,38", "i386,38"})
  void unknownCallsHaveTheArchitecturesNumber(String isa, int enosys) {
    try (Guest guest = new Guest(isa)) {
      assertThat(guest.callNumber(9999)).isEqualTo(-enosys);
    }
  }

  @Test
  void numberOfS390xIsInTheInstructionOrElseInARegister() {
    try (Guest guest = new Guest("s390x")) {
      assertThat(guest.call("getpid")).isEqualTo(1000);
      assertThat(guest.registers.get(guest.isa.registers().pc())).isEqualTo(STACK + 2);

      guest.memory.writeByte(STACK + 1, (byte) 19); // lseek, of which no pipe is capable
      assertThat(guest.call("getpid")).isEqualTo(Errno.ESPIPE.result());
      assertThat(guest.registers.get(guest.isa.registers().pc())).isEqualTo(STACK + 2);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"mips", "mipsel", "mips64", "i386", "ppc32", "riscv32"})
  void fifthArgumentIsFound(String isa) {
    try (Guest guest = new Guest(isa)) {
      guest.string(SCRATCH, "");

      assertThat(guest.call("statx", 1, SCRATCH, 0x1000, 0x7FF, SCRATCH + 64)).isZero();

      assertThat(guest.memory.readInt(SCRATCH + 64)).isEqualTo(0x7FF);
      assertThat(guest.memory.readInt(SCRATCH + 64 + 4)).isEqualTo(4096);
      assertThat(guest.memory.readLong(SCRATCH + 64 + 32)).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "x86_64, 0x100000002, 0, 0",
    "i386, 2, 1, 0", // the low half first
    "ppc32, 0, 1, 2", // the high half first, at an even place
    "mips, 0, 1, 2",
    "mipsel, 0, 2, 1",
    "m68k, 1, 2, 0"
  })
  void offsetsHave64Bits(String isa, long fourth, long fifth, long sixth) throws Exception {
    Path file = folder.resolve("sparse");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.seek(FAR);
      sparse.writeBytes("far away");
    }
    try (Guest guest = new Guest(isa, "", o -> o.withReadable(List.of(folder)))) {
      guest.string(SCRATCH, file.toString());
      assertThat(guest.call("openat", AT_FDCWD, SCRATCH, 0)).isEqualTo(3);

      assertThat(guest.call("pread64", 3, SCRATCH, 100, fourth, fifth, sixth)).isEqualTo(8);
      assertThat(guest.text(SCRATCH, 8)).isEqualTo("far away");

      if (guest.word() == 4) {
        assertThat(guest.call("_llseek", 3, 1, 6, SCRATCH, 0)).isZero();
        assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(FAR + 4);
        assertThat(guest.call("read", 3, SCRATCH, 100)).isEqualTo(4);
        // a word with its highest bit set is a negative offset
        assertThat(guest.call("lseek", 3, 0xFFFF_FFFEL, 1)).isEqualTo(FAR + 6);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"i386", "s390x", "m68k"})
  void oldMmapPassesAPointerToItsArguments(String isa) {
    try (Guest guest = new Guest(isa)) {
      long[] arguments = {0, 4096, RW, PRIVATE | 0x20, -1, 0};
      for (int i = 0; i < arguments.length; i++) {
        guest.memory.writeWord(SCRATCH + i * guest.word(), arguments[i]);
      }

      long address = guest.call("old_mmap", SCRATCH);

      assertThat(guest.memory.isMapped(address, 4096)).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"i386,0x20", "ppc32,0x20", "mips,0x800", "mipsel,0x800", "riscv32,0x20"})
  void anonymousMemoryOfSmallAddressSpaces(String isa, long anonymous) {
    try (Guest guest = new Guest(isa)) {
      long address = guest.call("mmap2", 0, 8192, RW, PRIVATE | anonymous, 0xFFFF_FFFFL, 0);

      assertThat(address).isBetween(0x4000_0000L, 0x7000_0000L);
      assertThat(guest.memory.isMapped(address, 8192)).isTrue();
      assertThat(guest.call("munmap", address, 8192)).isZero();
    }
  }

  @Test
  void segmentOfI386IsWrittenAsTheProcessorReadsIt() {
    try (Guest guest = new Guest("i386")) {
      long table = guest.isa.syscalls().descriptorTable().orElseThrow();
      guest.memory.writeInt(SCRATCH, -1);
      guest.memory.writeInt(SCRATCH + 4, 0x1234_5678);
      guest.memory.writeInt(SCRATCH + 8, 0xF_FFFF);
      guest.memory.writeInt(SCRATCH + 12, 0x51); // 32-bit, limit in pages, usable

      assertThat(guest.call("set_thread_area", SCRATCH)).isZero();

      assertThat(guest.memory.readInt(SCRATCH)).isEqualTo(6);
      assertThat(guest.memory.readLong(table + 6 * 8)).isEqualTo(0x12CF_F334_5678_FFFFL);
      assertThat(guest.call("munmap", table, GuestMemory.PAGE)).isEqualTo(Errno.EINVAL.result());
      guest.memory.writeInt(SCRATCH, 3);
      assertThat(guest.call("set_thread_area", SCRATCH)).isEqualTo(Errno.EINVAL.result());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"mips", "mipsel", "mips64"})
  void threadPointerOfMipsIsARegister(String isa) {
    try (Guest guest = new Guest(isa)) {
      assertThat(guest.call("set_thread_area", 0x1234)).isZero();
      assertThat(guest.registers.get(guest.isa.registers().threadPointer())).isEqualTo(0x1234);
    }
  }

  @Test
  void threadPointerOfM68kIsAskedFor() {
    try (Guest guest = new Guest("m68k")) {
      assertThat(guest.call("set_thread_area", 0x1234)).isZero();
      assertThat(guest.call("get_thread_area")).isEqualTo(0x1234);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"i386", "ppc32", "mips", "mipsel", "m68k"})
  void timeHas32Or64Bits(String isa) {
    try (Guest guest = new Guest(isa)) {
      guest.clockNs = 3_000_000_007L;

      assertThat(guest.call("clock_gettime", 1, SCRATCH)).isZero();
      assertThat(guest.memory.readInt(SCRATCH)).isEqualTo(3);
      assertThat(guest.memory.readInt(SCRATCH + 4)).isEqualTo(7);
      assertThat(guest.call("clock_gettime64", 0, SCRATCH)).isZero();
      assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(TimeCalls.EPOCH_SECONDS + 3);
      assertThat(guest.memory.readLong(SCRATCH + 8)).isEqualTo(7);

      guest.memory.writeLong(SCRATCH, 10);
      guest.memory.writeLong(SCRATCH + 8, 0x7777_7777_0000_0005L); // padding above the nanoseconds
      assertThat(guest.call("clock_nanosleep_time64", 1, 0, SCRATCH, 0)).isZero();
      assertThat(guest.call("clock_gettime64", 1, SCRATCH)).isZero();
      assertThat(guest.memory.readLong(SCRATCH)).isEqualTo(13);
      assertThat(guest.memory.readLong(SCRATCH + 8)).isEqualTo(12);
    }
  }

  @ParameterizedTest
  @CsvSource({"i386,64", "ppc32,64", "s390x,112", "ppc64,112", "x86_64,112"})
  void memoryIsTold(String isa, int bytes) {
    try (Guest guest = new Guest(isa)) {
      guest.memory.writeByte(SCRATCH + bytes, (byte) 77);

      assertThat(guest.call("sysinfo", SCRATCH)).isZero();

      assertThat(guest.memory.readWord(SCRATCH + 4 * guest.word()))
          .isEqualTo(LinuxOptions.MEMORY_BYTES_MAX);
      assertThat(guest.memory.readInt(SCRATCH + 13 * guest.word())).isEqualTo(1);
      assertThat(guest.memory.readByte(SCRATCH + bytes)).isEqualTo((byte) 77);
    }
  }

  @Test
  void signalsOfMipsHaveTheirOwnNumbersAndStructures() {
    try (Guest guest = new Guest("mips")) {
      guest.memory.writeInt(SCRATCH, 0x1000_0000); // flags, then the handler: ignore
      guest.memory.writeInt(SCRATCH + 4, 1);
      assertThat(guest.call("rt_sigaction", 16, SCRATCH, 0, 16)).isZero();
      assertThat(guest.call("rt_sigaction", 16, SCRATCH, 0, 8)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("kill", ProcessCalls.PROCESS, 16)).isZero();
      guest.memory.writeLong(SCRATCH, 5);
      guest.memory.writeLong(SCRATCH + 8, 6);
      assertThat(guest.call("rt_sigprocmask", 3, SCRATCH, 0, 16)).isZero();
      assertThat(guest.call("rt_sigprocmask", 1, 0, SCRATCH + 16, 16)).isZero();
      assertThat(guest.memory.readLong(SCRATCH + 24)).isEqualTo(6);
      assertThat(guest.process.end()).isEmpty();
    }
  }

  @Test
  void handlersOfSignalsAbove64DoNotRun() {
    try (Guest guest = new Guest("mipsel")) {
      guest.memory.writeInt(SCRATCH + 4, 0x4000);
      assertThat(guest.call("rt_sigaction", 100, SCRATCH, 0, 16)).isZero();
      guest.call("tkill", ProcessCalls.PROCESS, 100);
      assertThat(guest.process.end().orElseThrow().describe())
          .contains("SIGRT100; its handler at 0x4000 is not run");
    }
  }

  /** bltz $4; jalr $25; j; beql; bc1t, and a load. */
  @ParameterizedTest
  @CsvSource({
    "mips,04800003,96",
    "mips,0320f809,96",
    "mips,0810a482,96",
    "mips,50400003,96",
    "mips,45010003,96",
    "mips,8c820000,100",
    "mipsel,03008004,96",
    "mipsel,09f82003,96",
    "mipsel,82a41008,96",
    "mipsel,03004050,96",
    "mipsel,03000145,96",
    "mipsel,0000828c,100",
    "riscv64,03008004,100"
  })
  void whatFailsInADelaySlotIsAtItsBranch(String isa, String before, long place) {
    var signals = Isas.find(isa).orElseThrow().syscalls().signals();
    assertThat(signals.branchOf(100, before)).isEqualTo(place);
  }
}
