package dev.retstack.machine.linux;

import static dev.retstack.machine.linux.Guest.SCRATCH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.memory.GuestMemory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MemoryCallsTest {
  private static final long PAGE = GuestMemory.PAGE;
  private static final long RW = 3;
  private static final long PRIVATE_ANONYMOUS = 0x22;
  private static final long FIXED = 0x10;
  private static final long FIXED_NOREPLACE = 0x10_0000;
  private static final long MAYMOVE = 1;
  private static final long SHARED = 1;
  private static final long PRIVATE = 2;

  @TempDir private Path folder;

  @Test
  void heapGrowsShrinksAndComesBackZeroed() {
    try (Guest guest = new Guest("x86_64")) {
      long start = guest.call("brk", 0);

      assertThat(guest.call("brk", start + 100_000)).isEqualTo(start + 100_000);
      guest.memory.writeLong(start + 90_000, 42);
      assertThat(guest.memory.permissionsAt(start + 90_000)).isEqualTo((int) RW);
      assertThat(guest.memory.permissionsAt(start + 110_000)).isZero();

      assertThat(guest.call("brk", start + 8)).isEqualTo(start + 8);
      assertThat(guest.memory.permissionsAt(start + 90_000)).isZero();
      assertThat(guest.call("brk", start + 3_000_000)).isEqualTo(start + 3_000_000);
      assertThat(guest.memory.readLong(start + 90_000)).isZero();
      assertThat(guest.memory.permissionsAt(start + 2_999_999)).isEqualTo((int) RW);
    }
  }

  @Test
  void heapThatCannotMoveStaysWhereItIs() {
    try (Guest guest =
        new Guest("x86_64", "", o -> o.withStackBytes(1 << 20).withMemoryBytesMax(1 << 20))) {
      long start = guest.call("brk", 0);

      assertThat(guest.call("brk", start + (2 << 20))).isEqualTo(start);
      assertThat(guest.call("brk", start - 1)).isEqualTo(start);
      assertThat(guest.call("brk", -1)).isEqualTo(start);
      assertThat(guest.call("brk", start + (1 << 20))).isEqualTo(start + (1 << 20));
      assertThat(map(guest, PAGE)).isEqualTo(Errno.ENOMEM.result());
    }
  }

  @Test
  void mappingsAreZeroedApartAndGone() {
    try (Guest guest = new Guest("riscv64")) {
      long a = map(guest, 5000);
      long b = map(guest, PAGE);

      assertThat(a % PAGE).isZero();
      assertThat(guest.memory.isMapped(a, 2 * PAGE)).isTrue();
      assertThat(guest.memory.readLong(a + PAGE)).isZero();
      assertThat(guest.memory.overlaps(b, PAGE)).isTrue();
      assertThat(Long.compareUnsigned(a + 2 * PAGE, b)).isLessThanOrEqualTo(0);

      assertThat(guest.call("munmap", a, 2 * PAGE)).isZero();
      assertThat(guest.memory.overlaps(a, 2 * PAGE)).isFalse();
      assertThat(guest.call("munmap", a, 2 * PAGE)).isZero();
      assertThat(guest.call("munmap", a + 1, PAGE)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("munmap", a, 0)).isEqualTo(Errno.EINVAL.result());
    }
  }

  /** Each hole makes two mappings of one: they are as limited as those that are asked for. */
  @Test
  void holesHaveALimit() {
    try (Guest guest =
        new Guest("x86_64", "", o -> o.withStackBytes(1 << 20).withMemoryBytesMax(1L << 30))) {
      long a = map(guest, 140_000 * PAGE);
      int holes = 0;
      while (holes < 70_000 && guest.call("munmap", a + (2L * holes + 1) * PAGE, PAGE) == 0) {
        holes++;
      }
      assertThat(holes).isBetween(65_500, 65_530);
      assertThat(guest.call("munmap", a + 139_001 * PAGE, PAGE)).isEqualTo(Errno.ENOMEM.result());
      assertThat(guest.call("mprotect", a + 139_001 * PAGE, PAGE, 1))
          .isEqualTo(Errno.ENOMEM.result());
      assertThat(map(guest, PAGE)).isEqualTo(Errno.ENOMEM.result());
      assertThat(guest.call("mprotect", a + 139_001 * PAGE, PAGE, RW)).isZero();
      assertThat(guest.process.lacks(false))
          .containsExactly(
              "a mapping was refused 4 times: a core has at most 65,530; map larger pieces");
      assertThat(guest.call("munmap", a, 140_000 * PAGE)).isZero();
      assertThat(guest.memory.mappingCount()).isLessThan(20);
    }
  }

  @Test
  void fixedMappingsReplaceOrRefuse() {
    try (Guest guest = new Guest("aarch64")) {
      long a = map(guest, 4 * PAGE);
      guest.memory.writeLong(a + PAGE, 42);

      long taken = guest.call("mmap", a + PAGE, PAGE, RW, PRIVATE_ANONYMOUS | FIXED_NOREPLACE);
      assertThat(taken).isEqualTo(Errno.EEXIST.result());
      assertThat(guest.call("mmap", a + PAGE, PAGE, RW, PRIVATE_ANONYMOUS | FIXED))
          .isEqualTo(a + PAGE);
      assertThat(guest.memory.readLong(a + PAGE)).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({"x86_64, mmap, 4096", "riscv64, mmap, 4096", "i386, mmap2, 1", "arm, mmap2, 1"})
  void filesAreMappedFromAnyPageOfTheirs(String isa, String call, long secondPage)
      throws Exception {
    byte[] bytes = new byte[(int) PAGE + 10];
    Arrays.fill(bytes, (byte) 'a');
    Arrays.fill(bytes, (int) PAGE, bytes.length, (byte) 'b');
    Path file = Files.write(folder.resolve("data"), bytes);
    try (Guest guest = new Guest(isa, "", o -> o.withReadable(List.of(file)))) {
      guest.string(SCRATCH, file.toString());
      assertThat(guest.call("openat", -100, SCRATCH, 0)).isEqualTo(3);

      long whole = guest.call(call, 0, 3 * PAGE, 1, PRIVATE, 3, 0);
      assertThat(guest.text(whole + PAGE - 1, 3)).isEqualTo("abb");
      assertThat(guest.memory.readLong(whole + PAGE + 10)).isZero();
      assertThat(guest.memory.readLong(whole + 2 * PAGE)).isZero();
      int writable = guest.memory.permissionsAt(whole) & GuestMemory.WRITE;
      assertThat(writable).isZero();
      assertThat(guest.call("close", 3)).isZero();

      assertThat(guest.call("openat", -100, SCRATCH, 0)).isEqualTo(3);
      long fixed = guest.call(call, whole, 2 * PAGE, 5, PRIVATE | FIXED, 3, secondPage);
      assertThat(fixed).isEqualTo(whole);
      assertThat(guest.text(whole, 2)).isEqualTo("bb");
      assertThat(guest.memory.readByte(whole + PAGE)).isZero();
      assertThat(guest.memory.permissionsAt(whole)).isEqualTo(5);
      assertThat(guest.call(call, 0, PAGE, 1, SHARED, 3, 0)).isPositive();
    }
  }

  @Test
  void whatCannotBeMappedIsRefused() throws Exception {
    Path file = Files.writeString(folder.resolve("data"), "data");
    try (Guest guest = new Guest("x86_64", "", o -> o.withReadable(List.of(file)))) {
      guest.string(SCRATCH, file.toString());
      assertThat(guest.call("open", SCRATCH, 0)).isEqualTo(3);

      assertThat(guest.call("mmap", 0, PAGE, RW, PRIVATE, 9)).isEqualTo(Errno.EBADF.result());
      assertThat(guest.call("mmap", 0, PAGE, RW, PRIVATE, 0)).isEqualTo(Errno.ENODEV.result());
      assertThat(guest.call("mmap", 0, PAGE, RW, SHARED, 3)).isEqualTo(Errno.EACCES.result());
      for (long offset : new long[] {1, -PAGE, Long.MIN_VALUE}) {
        assertThat(guest.call("mmap", 0, PAGE, RW, PRIVATE, 3, offset))
            .isEqualTo(Errno.EINVAL.result());
      }
      assertThat(guest.call("mmap", 0, 1L << 40, RW, PRIVATE, 3)).isEqualTo(Errno.ENOMEM.result());
      assertThat(guest.call("mmap", 0, PAGE, RW, PRIVATE, 3, 1L << 40)).isPositive();
      assertThat(guest.process.unsupported())
          .containsEntry("mmap of a stream", 1L)
          .containsEntry("mmap of a file to write to it", 1L);
    }
  }

  @Test
  void permissionsChangeOnMappedPagesOnly() {
    try (Guest guest = new Guest("x86_64")) {
      long a = map(guest, 2 * PAGE);

      assertThat(guest.call("mprotect", a, PAGE, 1)).isZero();
      assertThat(guest.memory.permissionsAt(a)).isEqualTo(GuestMemory.READ);
      assertThat(guest.memory.permissionsAt(a + PAGE)).isEqualTo((int) RW);
      assertThat(guest.call("mprotect", a, 3 * PAGE, 1)).isEqualTo(Errno.ENOMEM.result());
      assertThat(guest.call("mprotect", a, PAGE, 99)).isEqualTo(Errno.EINVAL.result());
    }
  }

  /** How a program's loader makes the stack executable for a shared object that asks for it. */
  @Test
  void permissionsOfAStackChangeFromItsBeginning() {
    try (Guest guest = new Guest("x86_64")) {
      long argc = guest.process.start();
      long page = GuestMemory.pageDown(argc);
      long inMapping = map(guest, PAGE);

      assertThat(guest.call("mprotect", page, PAGE, 0x0100_0007)).isZero();
      assertThat(guest.memory.permissionsAt(page)).isEqualTo(7);
      assertThat(guest.memory.permissionsAt(page - 16 * PAGE)).isEqualTo(7);
      assertThat(guest.call("mprotect", inMapping, PAGE, 0x0100_0007))
          .isEqualTo(error(guest, Errno.EINVAL));
    }
  }

  @Test
  void resizedMappingKeepsItsContents() {
    try (Guest guest = new Guest("x86_64")) {
      long a = map(guest, 2 * PAGE);
      guest.memory.writeLong(a + PAGE, 42);
      long wall = guest.call("mmap", a + 2 * PAGE, PAGE, RW, PRIVATE_ANONYMOUS | FIXED_NOREPLACE);
      assertThat(wall).isEqualTo(a + 2 * PAGE);

      assertThat(guest.call("mremap", a, 2 * PAGE, 4 * PAGE, 0)).isEqualTo(Errno.ENOMEM.result());
      long b = guest.call("mremap", a, 2 * PAGE, 4 * PAGE, MAYMOVE);
      assertThat(b).isNotEqualTo(a).isPositive();
      assertThat(guest.memory.readLong(b + PAGE)).isEqualTo(42);
      assertThat(guest.memory.overlaps(a, 2 * PAGE)).isFalse();
      assertThat(guest.call("mremap", b, 4 * PAGE, PAGE, 0)).isEqualTo(b);
      assertThat(guest.memory.overlaps(b + PAGE, 3 * PAGE)).isFalse();
      assertThat(guest.call("mremap", b, PAGE, 3 * PAGE, 0)).isEqualTo(b);
      assertThat(guest.memory.isMapped(b, 3 * PAGE)).isTrue();
      assertThat(guest.call("mremap", a, PAGE, 2 * PAGE, MAYMOVE)).isEqualTo(Errno.EFAULT.result());
    }
  }

  @Test
  void mappingOfMixedPermissionsDoesNotGrow() {
    try (Guest guest = new Guest("x86_64")) {
      long a = map(guest, 2 * PAGE);
      assertThat(guest.call("mprotect", a, PAGE, 1)).isZero();

      assertThat(guest.call("mremap", a, 2 * PAGE, 4 * PAGE, MAYMOVE))
          .isEqualTo(Errno.EFAULT.result());
      assertThat(guest.memory.isMapped(a, 2 * PAGE)).isTrue();
    }
  }

  @Test
  void tracersPagesCannotBeTouched() {
    try (Guest guest = new Guest("x86_64")) {
      guest.process.reserve(SCRATCH, PAGE);

      assertThat(guest.call("munmap", SCRATCH, PAGE)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("munmap", SCRATCH - PAGE, 3 * PAGE)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("mprotect", SCRATCH, PAGE, 0)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("mmap", SCRATCH, PAGE, RW, PRIVATE_ANONYMOUS | FIXED))
          .isEqualTo(Errno.EINVAL.result());
      assertThat(guest.memory.permissionsAt(SCRATCH)).isEqualTo((int) RW);
    }
  }

  @Test
  void memoryIsLimited() {
    try (Guest guest =
        new Guest("x86_64", "", o -> o.withStackBytes(1 << 20).withMemoryBytesMax(4 << 20))) {
      assertThat(map(guest, 5 << 20)).isEqualTo(Errno.ENOMEM.result());
      long a = map(guest, 4 << 20);
      assertThat(a).isPositive();
      assertThat(map(guest, PAGE)).isEqualTo(Errno.ENOMEM.result());
      assertThat(guest.call("munmap", a, 4 << 20)).isZero();
      assertThat(map(guest, PAGE)).isPositive();
      assertThat(map(guest, 1L << 50)).isEqualTo(Errno.ENOMEM.result());
      assertThat(map(guest, -1)).isEqualTo(Errno.EINVAL.result());
    }
  }

  @Test
  void memoryBeyondTheLimitIsCountedInALine() {
    try (Guest guest =
        new Guest("x86_64", "", o -> o.withStackBytes(1 << 20).withMemoryBytesMax(4 << 20))) {
      assertThat(guest.process.lacks(true)).isEmpty();
      long start = guest.call("brk", 0);
      assertThat(map(guest, 3 << 20)).isPositive();
      assertThat(guest.call("brk", start + (1 << 20))).isEqualTo(start + (1 << 20));
      assertThat(guest.call("brk", start + (2 << 20))).isEqualTo(start + (1 << 20));
      assertThat(guest.call("brk", start + (9 << 20))).isEqualTo(start + (1 << 20));
      assertThat(map(guest, 6 << 20)).isEqualTo(Errno.ENOMEM.result());
      assertThat(guest.process.lacks(false))
          .containsExactly(
              "memory was refused 3 times, 15.0 MiB in all: heap and mappings have a limit of"
                  + " 4.0 MiB; raise it with --memory");
    }
  }

  @Test
  void codeThatIsInNoFileIsReported() {
    try (Guest guest = new Guest("x86_64", "", o -> o)) {
      long data = map(guest, PAGE);
      assertThat(guest.process.lacks(true)).isEmpty();
      assertThat(guest.call("mprotect", data, PAGE, 5)).isZero();
      assertThat(guest.call("mmap", 0, 100, 7, 0x22, -1, 0)).isPositive();
      assertThat(guest.process.lacks(false))
          .containsExactly(
              "8,192 bytes of memory were made executable, first at 0x%x: ".formatted(data)
                  + "calls in it are not traced. A JIT needs nothing else; of functions"
                  + " that are copied there call the originals");
    }
  }

  /** The C library reserves 128 MiB for each thread, and does with less. */
  @ParameterizedTest
  @CsvSource({"x86_64, 0x4022", "aarch64, 0x4022", "mips64, 0xc02", "ppc64le, 0x62"})
  void addressesThatAreOnlyReservedAreNotMissed(String isa, long flags) {
    try (Guest guest =
        new Guest(isa, "", o -> o.withStackBytes(1 << 20).withMemoryBytesMax(4 << 20))) {
      assertThat(guest.call("mmap", 0, 5 << 20, 0, flags)).isEqualTo(Errno.ENOMEM.result());
      assertThat(guest.call("mmap", 0, 1 << 20, 0, flags)).isPositive();
      assertThat(guest.process.lacks(true)).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"x86_64", "i386", "mips64", "s390x"})
  void pagesAreInMemoryAndInStepWhereTheProgramHasThem(String isa) {
    try (Guest guest = new Guest(isa)) {
      long flags = isa.startsWith("mips") ? 0x802 : PRIVATE_ANONYMOUS;
      String call = isa.equals("i386") ? "mmap2" : isa.equals("s390x") ? "" : "mmap";
      long a = call.isEmpty() ? SCRATCH : guest.call(call, 0, 3 * PAGE, RW, flags, -1, 0);
      long answer = SCRATCH + 2 * PAGE;
      long beyond = call.isEmpty() ? Guest.SCRATCH_BYTES : 3 * PAGE;
      assertThat(guest.call("mincore", a, PAGE + 1, answer)).isZero();
      assertThat(guest.text(answer, 3)).isEqualTo("\1\1\0");
      assertThat(guest.call("mincore", a + 1, PAGE, answer)).isEqualTo(error(guest, Errno.EINVAL));
      assertThat(guest.call("mincore", a + beyond, 1, answer))
          .isEqualTo(error(guest, Errno.ENOMEM));
      assertThat(guest.call("mincore", a, PAGE, Guest.NOWHERE))
          .isEqualTo(error(guest, Errno.EFAULT));
      for (long how : new long[] {1, 2, 4, 6}) {
        assertThat(guest.call("msync", a, PAGE, how)).isZero();
        assertThat(guest.call("msync", a + beyond, 1, how)).isEqualTo(error(guest, Errno.ENOMEM));
      }
      assertThat(guest.call("msync", a, PAGE, 5)).isEqualTo(error(guest, Errno.EINVAL));
      assertThat(guest.call("msync", a, PAGE, 8)).isEqualTo(error(guest, Errno.EINVAL));
      assertThat(guest.call("msync", a, -1, 1)).isEqualTo(error(guest, Errno.ENOMEM));

      guest.process.reserve(a, PAGE);
      assertThat(guest.call("mincore", a, PAGE, answer)).isEqualTo(error(guest, Errno.ENOMEM));
    }
  }

  private static long error(Guest guest, Errno error) {
    return -guest.isa.syscalls().dialect().number(error);
  }

  private static long map(Guest guest, long size) {
    return guest.call("mmap", 0, size, RW, PRIVATE_ANONYMOUS);
  }
}
