package dev.retstack.fleet.isa;

import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * ABIs that share an ISA's {@code e_machine} and are not traced: their call sites or their stack
 * are others than the cards say, so a trace of them would be wrong without a word.
 */
public final class ForeignAbis {
  /**
   * One of them.
   *
   * @param machine {@code e_machine}
   * @param wordBytes 4 or 8, by the ELF class
   * @param mask bits of {@code e_flags} that tell; 0 = class and byte order tell already
   * @param value of these bits
   * @param name of the ABI
   * @param cure how to compile for one that is traced
   */
  public record ForeignAbi(
      int machine, int wordBytes, int mask, int value, String name, String cure) {}

  private static final int MIPS = 8;
  private static final int PPC64 = 21;
  private static final int ARM = 40;
  private static final int X86_64 = 62;
  private static final int AARCH64 = 183;
  private static final int RISCV = 243;

  // MIPS: e_flags of the "MIPS ABI supplement" and binutils' include/elf/mips.h
  private static final int MIPS_ABI2 = 0x20;
  private static final int MIPS_ABI = 0xF000;
  private static final int MIPS_ARCH = 0xF000_0000;
  private static final int MIPS_MICRO = 0x0200_0000;
  private static final int MIPS_16 = 0x0400_0000;
  // ARM: "ELF for the Arm Architecture", 5.2
  private static final int ARM_EABI = 0xFF00_0000;
  // RISC-V: "RISC-V ELF psABI", File Header
  private static final int RISCV_RVE = 0x8;
  // PowerPC: "64-Bit ELF V2 ABI", 3.1.1
  private static final int PPC64_ABI = 0x3;

  private static final String O32 = "compile with -mabi=32";
  private static final String EABI5 = "compile with an arm-none-eabi or arm-linux-gnueabi gcc";
  private static final String R2 = "compile with -march=mips32r2 or -march=mips64r2";

  private static final List<ForeignAbi> ALL =
      List.of(
          new ForeignAbi(X86_64, 4, 0, 0, "x32", "compile with -m64 or -m32"),
          new ForeignAbi(AARCH64, 4, 0, 0, "ILP32", "compile with -mabi=lp64"),
          new ForeignAbi(22, 4, 0, 0, "s390, 31-bit", "compile with -m64"),
          new ForeignAbi(MIPS, 4, MIPS_ABI2, MIPS_ABI2, "n32", O32),
          new ForeignAbi(MIPS, 4, MIPS_ABI, 0x2000, "o64", O32),
          new ForeignAbi(MIPS, 4, MIPS_ABI, 0x3000, "mips eabi32", O32),
          new ForeignAbi(MIPS, 4, MIPS_ABI, 0x4000, "mips eabi64", O32),
          new ForeignAbi(MIPS, 4, MIPS_ARCH, 0x9000_0000, "mips32 release 6", R2),
          new ForeignAbi(MIPS, 4, MIPS_ARCH, 0xA000_0000, "mips64 release 6", R2),
          new ForeignAbi(MIPS, 8, MIPS_ARCH, 0xA000_0000, "mips64 release 6", R2),
          new ForeignAbi(
              MIPS, 4, MIPS_MICRO, MIPS_MICRO, "microMIPS", "compile with -mno-micromips"),
          new ForeignAbi(
              MIPS, 8, MIPS_MICRO, MIPS_MICRO, "microMIPS", "compile with -mno-micromips"),
          new ForeignAbi(MIPS, 4, MIPS_16, MIPS_16, "MIPS16", "compile with -mno-mips16"),
          new ForeignAbi(ARM, 4, ARM_EABI, 0, "the old arm ABI (OABI)", EABI5),
          new ForeignAbi(ARM, 4, ARM_EABI, 0x0100_0000, "arm EABI version 1", EABI5),
          new ForeignAbi(ARM, 4, ARM_EABI, 0x0200_0000, "arm EABI version 2", EABI5),
          new ForeignAbi(ARM, 4, ARM_EABI, 0x0300_0000, "arm EABI version 3", EABI5),
          new ForeignAbi(ARM, 4, ARM_EABI, 0x0400_0000, "arm EABI version 4", EABI5),
          new ForeignAbi(RISCV, 4, RISCV_RVE, RISCV_RVE, "rv32e", "compile with -mabi=ilp32"),
          new ForeignAbi(RISCV, 8, RISCV_RVE, RISCV_RVE, "rv64e", "compile with -mabi=lp64"));

  /** These two are ABIs of both byte orders, of which each has one card. */
  private static final ForeignAbi PPC64_V2_BIG =
      new ForeignAbi(PPC64, 8, PPC64_ABI, 2, "ELFv2, big-endian", "compile with -mabi=elfv1");

  private static final ForeignAbi PPC64_V1_LITTLE =
      new ForeignAbi(PPC64, 8, PPC64_ABI, 1, "ELFv1, little-endian", "compile with -mabi=elfv2");

  /** What no core can run: the engine lacks it. */
  private static final List<String> NOT_EMULATED =
      List.of("sparc64 (Unicorn 2.1.4 does not run it)");

  private ForeignAbis() {}

  /** All of them by name, for the capability table, and what cannot be emulated. */
  public static List<String> names() {
    return Stream.concat(
            NOT_EMULATED.stream(),
            Stream.concat(ALL.stream(), Stream.of(PPC64_V2_BIG, PPC64_V1_LITTLE))
                .map(ForeignAbi::name)
                .distinct())
        .toList();
  }

  /**
   * The ABI of a file, where it is one that is not traced.
   *
   * @param machine {@code e_machine}
   * @param wordBytes 4 or 8, by the ELF class
   * @param order byte order of the file
   * @param flags {@code e_flags}
   */
  public static Optional<ForeignAbi> find(int machine, int wordBytes, ByteOrder order, int flags) {
    if (machine == PPC64) {
      ForeignAbi other = order == ByteOrder.BIG_ENDIAN ? PPC64_V2_BIG : PPC64_V1_LITTLE;
      return (flags & other.mask) == other.value ? Optional.of(other) : Optional.empty();
    }
    return ALL.stream()
        .filter(abi -> abi.machine == machine && abi.wordBytes == wordBytes)
        .filter(abi -> (flags & abi.mask) == abi.value)
        .findFirst();
  }
}
