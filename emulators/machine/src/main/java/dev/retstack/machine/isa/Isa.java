package dev.retstack.machine.isa;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.isa.system.BringUp;
import dev.retstack.machine.isa.system.ElfAbi;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.isa.system.SyscallAbi;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntToLongFunction;

/**
 * An instruction set with its calling convention, as data. Everything that differs between ISAs is
 * a field here, or of a card. Nothing outside this package asks which ISA it has.
 *
 * @param name as users write it: {@code x86_64}
 * @param elf what is special in its ELF files
 * @param wordBytes bytes of an address: 4 or 8
 * @param order byte order
 * @param engine how Unicorn opens it
 * @param addresses how code addresses are written
 * @param registers the registers that the tracer names
 * @param bringUp what a fresh core needs
 * @param syscalls how programs call Linux
 * @param interrupts how an interrupt calls its handler
 * @param landing machine code of the landing page
 * @param stops instructions and exceptions that end a program
 * @param conventions ways of calling the counting function; the one preferred first
 */
public record Isa(
    String name,
    ElfAbi elf,
    int wordBytes,
    ByteOrder order,
    Engine engine,
    CodeAddresses addresses,
    Registers registers,
    BringUp bringUp,
    SyscallAbi syscalls,
    InterruptAbi interrupts,
    LandingCode landing,
    Stops stops,
    List<AbiCard> conventions) {
  private static final String FIRST_INSTRUCTION = "first instruction";

  /**
   * Arguments of {@code uc_open}.
   *
   * @param cpuModel where the default model will not do
   * @param leaves where a block must be left for a page that it is the first to use
   * @param stopsAtJumps true where the core must not stop before a block that stands right behind
   *     the last: it may be the delay slot of a branch, whose target a start there would forget
   *     (SPARC: pc is given, npc is not)
   * @param movesRegisters true where the engine keeps a register now here, now there (SPARC: those
   *     of the window)
   */
  public record Engine(
      int arch,
      int mode,
      OptionalInt cpuModel,
      Leaves leaves,
      boolean stopsAtJumps,
      boolean movesRegisters) {
    Engine(int arch, int mode, OptionalInt cpuModel) {
      this(arch, mode, cpuModel, Leaves.NEVER);
    }

    Engine(int arch, int mode, OptionalInt cpuModel, Leaves leaves) {
      this(arch, mode, cpuModel, leaves, false, false);
    }
  }

  /**
   * Where a block must be left for a page that it is the first to use. The engine looks the page up
   * and continues inside the block, but keeps what was decoded of the instruction for the next
   * block (Unicorn 2272): MIPS then runs the first instruction of a branch's target twice, once as
   * a delay slot; Thumb runs it as if it stood in the IT block.
   *
   * @param register shows by its bits of {@code mask} that the instruction is such a one; {@link
   *     Registers#NONE}: {@code mask} alone decides, not 0 being always
   */
  public record Leaves(int register, long mask) {
    static final Leaves NEVER = new Leaves(Registers.NONE, 0);
    static final Leaves ALWAYS = new Leaves(Registers.NONE, 1);

    /** True where any instruction may be left. */
    public boolean always() {
      return register == Registers.NONE && mask != 0;
    }

    /**
     * True where the instruction that runs now must be left.
     *
     * @param registers reads a register
     */
    public boolean now(IntToLongFunction registers) {
      return register == Registers.NONE ? mask != 0 : (registers.applyAsLong(register) & mask) != 0;
    }
  }

  /**
   * What ends a program that has no operating system.
   *
   * @param idleLoops encodings of a jump to itself: nothing can happen any more, since no
   *     interrupts exist
   * @param exceptions names of the exception numbers that Unicorn reports
   */
  public record Stops(List<byte[]> idleLoops, Map<Integer, String> exceptions) {
    public Stops {
      idleLoops = List.copyOf(idleLoops);
      exceptions = Map.copyOf(exceptions);
    }

    /** The name of an exception, with its number. */
    public String exception(int number) {
      String known = exceptions.get(number);
      return "cpu exception " + number + (known == null ? "" : " (" + known + ")");
    }
  }

  public Isa {
    conventions = List.copyOf(conventions);
  }

  /** {@code e_machine} of its ELF files. */
  public int machine() {
    return elf.machine();
  }

  /** The convention of a name. */
  public Optional<AbiCard> convention(String wanted) {
    return conventions.stream().filter(card -> card.name().equals(wanted)).findFirst();
  }

  /**
   * The card of a function that is entered at its first instruction, whatever its prologue does;
   * empty where the ISA has no such place (sparc: the register holds something else).
   */
  public Optional<AbiCard> atFirstInstruction() {
    Optional<AbiCard> nops =
        conventions.stream().filter(c -> c.siteTable() == AbiCard.SiteTable.PATCHABLE).findFirst();
    return nops.map(card -> card.atFirstInstruction(FIRST_INSTRUCTION))
        .or(() -> Optional.of(registers).filter(r -> returnsByLink()).map(Isa::atFirstInstruction));
  }

  /** A return goes where the link register says, and not some bytes behind that. */
  private boolean returnsByLink() {
    return !pushesReturnAddress()
        && conventions.stream()
            .flatMap(card -> card.slots().stream())
            .allMatch(slot -> slot.addend() == 0);
  }

  /** Which functions read return addresses, of whatever convention they are. */
  public ReturnReads reads() {
    return conventions.stream()
        .map(AbiCard::reads)
        .distinct()
        .reduce(ReturnReads.UNKNOWN, ReturnReads::and);
  }

  private static AbiCard atFirstInstruction(Registers registers) {
    Operand stack = Operand.register(registers.sp());
    return AbiCard.named(FIRST_INSTRUCTION)
        .flags("")
        .moment(AbiCard.Moment.BEFORE_PROLOGUE)
        .sites(AbiCard.SiteTable.PATCHABLE)
        .slots(Slot.register(registers.link(), stack))
        .retpAtExit(stack)
        .build();
  }

  /** True where a call pushes the return address. */
  public boolean pushesReturnAddress() {
    return registers.link() == Registers.NONE;
  }

  @Override
  public String toString() {
    return name;
  }
}
