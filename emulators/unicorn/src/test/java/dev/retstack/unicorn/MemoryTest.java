package dev.retstack.unicorn;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MemoryTest {
  private static final String STORE =
      """
      c7 07 78 56 34 12 movl $0x12345678,(%rdi)
      """;

  @Test
  void mappedHostMemoryIsSharedBothWays() {
    try (Arena arena = Arena.ofConfined();
        Unicorn uc = X86.load(STORE)) {
      MemorySegment host = arena.allocate(X86.PAGE, X86.PAGE);
      uc.mem_map_ptr(0x40000, host, UcConst.UC_PROT_READ | UcConst.UC_PROT_WRITE);
      uc.reg_write(X86Const.UC_X86_REG_RDI, 0x40010);

      X86.run(uc, 6);
      assertThat(host.get(JAVA_INT, 0x10)).isEqualTo(0x12345678);

      host.set(JAVA_BYTE, 0x20, (byte) 0x5a);
      byte[] seen = new byte[1];
      uc.mem_read(0x40020, seen);
      assertThat(seen[0]).isEqualTo((byte) 0x5a);
    }
  }

  @Test
  void hostMemoryThatCannotBeMappedIsRefused() {
    try (Arena arena = Arena.ofConfined();
        Unicorn uc = X86.open()) {
      MemorySegment host = arena.allocate(2 * X86.PAGE, X86.PAGE);
      assertThatThrownBy(() -> uc.mem_map_ptr(0x40000, host.asSlice(8, X86.PAGE), 7))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("multiple of 0x1000");
      assertThatThrownBy(() -> uc.mem_map_ptr(0x40008, host, 7))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> uc.mem_map_ptr(0x40000, host.asSlice(0, 100), 7))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> uc.mem_map_ptr(0x40000, host.asSlice(0, 0), 7))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> uc.mem_map_ptr(0x40000, host.asReadOnly(), 7))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> uc.mem_map_ptr(0x40000, MemorySegment.ofArray(new byte[4096]), 7))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void bytesLongerThanOneDowncallRoundTripThroughArraysAndSegments() {
    byte[] written = new byte[300_001];
    new Random(1).nextBytes(written);
    try (Arena arena = Arena.ofConfined();
        Unicorn uc = X86.open()) {
      uc.mem_map(0x100000, 0x80000, UcConst.UC_PROT_ALL);
      uc.mem_write(0x100003, written);

      byte[] read = new byte[written.length];
      uc.mem_read(0x100003, read);
      assertThat(read).isEqualTo(written);

      MemorySegment segment = arena.allocate(written.length);
      uc.mem_read(0x100003, segment);
      assertThat(segment.toArray(JAVA_BYTE)).isEqualTo(written);

      uc.mem_write(0x100100, segment);
      uc.mem_read(0x100100, read);
      assertThat(read).isEqualTo(written);
    }
  }

  @Test
  void unmappedAndProtectedMemoryIsRefusedToTheGuestWithATypedException() {
    try (Unicorn uc = X86.load(STORE)) {
      uc.mem_protect(X86.DATA, X86.PAGE, UcConst.UC_PROT_READ);
      assertThatThrownBy(() -> X86.run(uc, 6))
          .isInstanceOfSatisfying(
              UnicornMemoryException.class,
              e -> assertThat(e.error()).isEqualTo(UcError.WRITE_PROT));

      uc.mem_unmap(X86.DATA, X86.PAGE);
      assertThatThrownBy(() -> X86.run(uc, 6))
          .isInstanceOfSatisfying(
              UnicornMemoryException.class,
              e -> assertThat(e.error()).isEqualTo(UcError.WRITE_UNMAPPED));

      uc.mem_map(X86.DATA, X86.PAGE, UcConst.UC_PROT_WRITE);
      X86.run(uc, 6);
    }
  }

  @Test
  void errorsNameTheCallItsArgumentsAndTheLibrarysWords() {
    try (Unicorn uc = X86.open()) {
      assertThatThrownBy(() -> uc.mem_map(0x1001, 0x1000, UcConst.UC_PROT_ALL))
          .isInstanceOf(UnicornException.class)
          .hasMessageContaining("uc_mem_map(0x1001, 0x1000, 0x7)")
          .hasMessageContaining("Invalid argument")
          .hasMessageContaining("15 ARG");
      assertThatThrownBy(() -> uc.mem_read(0x1000, new byte[1]))
          .hasMessageContaining("uc_mem_read(0x1000, 0x1)");
    }
  }
}
