package dev.retstack.fleet.isa;

import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The capability table: every ISA that retstack traces. */
public final class Isas {
  private static final List<Isa> ALL =
      List.of(
          X86_64.ISA,
          I386.ISA,
          Aarch64.ISA,
          Riscv64.ISA,
          Riscv32.ISA,
          Arm.ISA,
          Ppc64.ISA,
          Ppc64le.ISA,
          Ppc32.ISA,
          S390x.ISA,
          Mips.ISA,
          Mipsel.ISA,
          Mips64.ISA,
          M68k.ISA,
          Sparc.ISA);

  private Isas() {}

  /** Every ISA, in the order of the table. */
  public static List<Isa> all() {
    return ALL;
  }

  /** The ISA of a name. */
  public static Optional<Isa> find(String name) {
    return ALL.stream().filter(isa -> isa.name().equals(name)).findFirst();
  }

  /**
   * The ISA of an ELF file.
   *
   * @param machine {@code e_machine}
   * @param wordBytes 4 or 8, by the ELF class
   */
  public static Optional<Isa> find(int machine, int wordBytes, boolean bigEndian) {
    return ALL.stream()
        .filter(isa -> isa.machine() == machine && isa.wordBytes() == wordBytes)
        .filter(isa -> (isa.order() == ByteOrder.BIG_ENDIAN) == bigEndian)
        .findFirst();
  }

  /** All names, for messages. */
  public static String names() {
    return ALL.stream().map(Isa::name).collect(Collectors.joining(", "));
  }
}
