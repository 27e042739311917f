package dev.retstack.machine.isa;

import dev.retstack.machine.isa.system.ElfAbi.ForeignAbi;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The capability table: every ISA that retstack traces, a line for each. */
public final class Isas {
  private static final List<Isa> ALL =
      List.of(
          X86.X86_64,
          X86.I386,
          Aarch64.ISA,
          Riscv.RISCV64,
          Riscv.RISCV32,
          Arm.ISA,
          Power.PPC64,
          Power.PPC64LE,
          Power.PPC32,
          S390x.ISA,
          Mips.MIPS,
          Mips.MIPSEL,
          Mips.MIPS64,
          M68k.ISA,
          Sparc.ISA);

  /** What no core can run: the engine lacks it. */
  private static final List<String> NOT_EMULATED =
      List.of("sparc64 (Unicorn 2.1.4 does not run it)");

  /** {@code e_machine} of files that people come with in vain, for messages. */
  private static final Map<Integer, String> OTHER_MACHINES =
      Map.of(18, "sparc32plus", 43, "sparc64", 258, "loongarch%d");

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
    return withMachine(machine)
        .filter(isa -> isa.wordBytes() == wordBytes)
        .filter(isa -> (isa.order() == ByteOrder.BIG_ENDIAN) == bigEndian)
        .findFirst();
  }

  /**
   * The ABI of an ELF file, where it is one that is not traced.
   *
   * @param machine {@code e_machine}
   * @param wordBytes 4 or 8, by the ELF class
   * @param order byte order of the file
   * @param flags {@code e_flags}
   */
  public static Optional<ForeignAbi> foreign(
      int machine, int wordBytes, ByteOrder order, int flags) {
    return withMachine(machine)
        .flatMap(isa -> isa.elf().foreign().stream())
        .filter(abi -> abi.is(wordBytes, order, flags))
        .findFirst();
  }

  /** True where an ISA of the table has an {@code e_machine}. */
  public static boolean hasMachine(int machine) {
    return withMachine(machine).findAny().isPresent();
  }

  /** All names, for messages. */
  public static String names() {
    return ALL.stream().map(Isa::name).collect(Collectors.joining(", "));
  }

  /** What is not traced, by name: ABIs of machines that are, and what cannot be emulated. */
  public static List<String> notTraced() {
    Stream<String> foreign =
        ALL.stream().flatMap(isa -> isa.elf().foreign().stream()).map(ForeignAbi::name);
    return Stream.concat(NOT_EMULATED.stream(), foreign).distinct().toList();
  }

  /**
   * Name of an {@code e_machine} for messages; the number itself where it is not known.
   *
   * @param wordBytes 4 or 8, by the ELF class
   */
  public static String machineName(int machine, int wordBytes) {
    return withMachine(machine)
        .map(isa -> isa.elf().machineName())
        .findFirst()
        .orElseGet(() -> OTHER_MACHINES.getOrDefault(machine, "e_machine " + machine))
        .formatted(wordBytes * Byte.SIZE);
  }

  private static Stream<Isa> withMachine(int machine) {
    return ALL.stream().filter(isa -> isa.machine() == machine);
  }
}
