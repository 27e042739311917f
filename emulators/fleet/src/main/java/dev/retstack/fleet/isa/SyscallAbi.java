package dev.retstack.fleet.isa;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * How a program of an ISA meets Linux, as data: the trap, the registers of a system call, how an
 * error is told, and what its first stack looks like. Registers are Unicorn's register ids. Source:
 * the man page syscall(2), "Architecture calling conventions", and the psABI's Linux chapter.
 *
 * <p>Written from the top to the bottom of a system call:
 *
 * <pre>
 * SyscallAbi.onInterrupt(17)                      mips o32: syscall
 *     .number(Numbers.MIPS_O32, UC_MIPS_REG_2)
 *     .arguments(UC_MIPS_REG_4, ..5, ..6, ..7)
 *     .furtherArgumentsAt(16)                     the fifth at 16(sp)
 *     .pairsAligned()
 *     .result(UC_MIPS_REG_2)
 *     .errorRegister(UC_MIPS_REG_7)
 *     .platform("mips")
 *     .build()
 * </pre>
 */
public final class SyscallAbi {

  /** How the engine tells of a system call. */
  public enum Trap {
    /** A hook on an instruction ({@code UC_HOOK_INSN}). */
    INSTRUCTION,
    /** A hook on interrupts ({@code UC_HOOK_INTR}). */
    INTERRUPT
  }

  /** Linux numbers its system calls per architecture; newer ones share a table. */
  public enum Numbers {
    /** {@code arch/x86/entry/syscalls/syscall_64.tbl}. */
    X86_64,
    /** {@code asm-generic/unistd.h} where words have 64 bits: aarch64, riscv64. */
    GENERIC,
    /** {@code asm-generic/unistd.h} where words have 32 bits: riscv32. */
    GENERIC_32,
    /** i386, by {@code int $0x80}. */
    I386,
    /** ARM EABI. */
    ARM,
    /** powerpc, 32-bit and 64-bit. */
    POWERPC,
    /** s390, 64-bit. */
    S390X,
    /** mips o32: from 4000 on. */
    MIPS_O32,
    /** mips n64: from 5000 on. */
    MIPS_N64,
    /** m68k. */
    M68K,
    /** sparc, 32-bit. */
    SPARC;

    /** Name of the table, as {@code dev.retstack.schema.linux.SystemCallNames} has it. */
    public String table() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * A register that says whether the call failed. The result is a positive error number then.
   *
   * @param register the register
   * @param mask bits of it that the call sets or clears; the others stay
   * @param failed value of these bits after a failure; zero after a success
   */
  public record ErrorFlag(int register, long mask, long failed) {

    /** The register's new value. */
    public long after(long before, boolean failure) {
      return (before & ~mask) | (failure ? failed : 0);
    }
  }

  /** Most arguments that a system call has. */
  public static final int ARGUMENTS = 6;

  private final Trap trap;
  private final int trapNumber;
  private final OptionalInt resumeAfter;
  private final Numbers numbers;
  private final int numberRegister;
  private final OptionalInt immediateNumberAt;
  private final List<Integer> argumentRegisters;
  private final OptionalLong furtherArgumentsAt;
  private final boolean pairsAligned;
  private final int resultRegister;
  private final Optional<ErrorFlag> errorFlag;
  private final String platform;
  private final int stackGap;
  private final OptionalLong descriptorTable;
  private final boolean linkIsExitHandler;
  private final boolean readImpliesExecute;

  private SyscallAbi(Builder b) {
    trap = b.trap;
    trapNumber = b.trapNumber;
    resumeAfter = b.resumeAfter;
    numbers = b.numbers;
    numberRegister = b.numberRegister;
    immediateNumberAt = b.immediateNumberAt;
    argumentRegisters = List.copyOf(b.argumentRegisters);
    furtherArgumentsAt = b.furtherArgumentsAt;
    pairsAligned = b.pairsAligned;
    resultRegister = b.resultRegister;
    errorFlag = Optional.ofNullable(b.errorFlag);
    platform = b.platform;
    stackGap = b.stackGap;
    descriptorTable = b.descriptorTable;
    linkIsExitHandler = b.linkIsExitHandler;
    readImpliesExecute = b.readImpliesExecute;
    if (argumentRegisters.size() < ARGUMENTS && furtherArgumentsAt.isEmpty()) {
      throw new IllegalArgumentException(
          "%d argument registers of a system call of %s: six, or say where the further ones are"
              .formatted(argumentRegisters.size(), platform));
    }
  }

  /** How the engine tells that a system call was made. */
  public Trap trap() {
    return trap;
  }

  /** The instruction id or interrupt number of {@link #trap}. */
  public int trapNumber() {
    return trapNumber;
  }

  /**
   * Bytes from the program counter at the trap to the instruction to go on at, where the engine
   * must be told. 0 is told too: it sets what the engine has beside the program counter.
   */
  public OptionalInt resumeAfter() {
    return resumeAfter;
  }

  /** Which table the number is of. */
  public Numbers numbers() {
    return numbers;
  }

  /** Holds the number of the system call. */
  public int numberRegister() {
    return numberRegister;
  }

  /**
   * Offset from the program counter at the trap of a byte that is the number, unless it is zero:
   * then {@link #numberRegister} holds it.
   */
  public OptionalInt immediateNumberAt() {
    return immediateNumberAt;
  }

  /** Hold the first arguments, in order: six, where {@link #furtherArgumentsAt} is empty. */
  public List<Integer> argumentRegisters() {
    return argumentRegisters;
  }

  /** Offset from the stack pointer of the first argument that is not in a register. */
  public OptionalLong furtherArgumentsAt() {
    return furtherArgumentsAt;
  }

  /**
   * True where a 64-bit argument of a 32-bit program takes an even-numbered place and the next one,
   * an odd place before it being left out; false where it takes the next two. The high half comes
   * first on big-endian ISAs.
   */
  public boolean pairsAligned() {
    return pairsAligned;
  }

  /** Takes the result; without an {@link #errorFlag} errors are negative numbers. */
  public int resultRegister() {
    return resultRegister;
  }

  /** Tells errors, where the sign of the result does not. */
  public Optional<ErrorFlag> errorFlag() {
    return errorFlag;
  }

  /** What {@code AT_PLATFORM} and {@code uname -m} say. */
  public String platform() {
    return platform;
  }

  /** Bytes between the stack pointer and {@code argc} at the program's start. */
  public int stackGap() {
    return stackGap;
  }

  /**
   * Address of a page for segment descriptors, where threads' storage is reached by a segment that
   * the program asks for with {@code set_thread_area}; the engine's bring-up must point there.
   */
  public OptionalLong descriptorTable() {
    return descriptorTable;
  }

  /**
   * True where a program takes the link register at its start for a function to call at its end:
   * then it must be 0, and the program cannot be left by a return.
   */
  public boolean linkIsExitHandler() {
    return linkIsExitHandler;
  }

  /**
   * True where a program may execute all that it may read. Linux takes a program without
   * PT_GNU_STACK for one of the time before that header, on the ISAs that are older than it.
   *
   * @param executableStack what PT_GNU_STACK asks for; empty without it
   */
  public boolean readImpliesExecute(Optional<Boolean> executableStack) {
    return readImpliesExecute && executableStack.isEmpty();
  }

  /** System calls are a hook on an instruction. */
  static Builder onInstruction(int id) {
    return new Builder(Trap.INSTRUCTION, id);
  }

  /** System calls are an interrupt. */
  static Builder onInterrupt(int number) {
    return new Builder(Trap.INTERRUPT, number);
  }

  /** Collects the description; every setter is one line of it. */
  static final class Builder {
    private final Trap trap;
    private final int trapNumber;
    private OptionalInt resumeAfter = OptionalInt.empty();
    private Numbers numbers;
    private int numberRegister;
    private OptionalInt immediateNumberAt = OptionalInt.empty();
    private List<Integer> argumentRegisters = new ArrayList<>();
    private OptionalLong furtherArgumentsAt = OptionalLong.empty();
    private boolean pairsAligned;
    private int resultRegister;
    private ErrorFlag errorFlag;
    private String platform;
    private int stackGap;
    private OptionalLong descriptorTable = OptionalLong.empty();
    private boolean linkIsExitHandler;
    private boolean readImpliesExecute;

    private Builder(Trap trap, int trapNumber) {
      this.trap = trap;
      this.trapNumber = trapNumber;
    }

    /** The engine stops at the instruction, not behind it: bytes of the instruction. */
    Builder resumeAfter(int bytes) {
      resumeAfter = OptionalInt.of(bytes);
      return this;
    }

    Builder number(Numbers table, int register) {
      numbers = table;
      numberRegister = register;
      return this;
    }

    Builder immediateNumberAt(int offset) {
      immediateNumberAt = OptionalInt.of(offset);
      return this;
    }

    Builder arguments(int... registers) {
      argumentRegisters = IntStream.of(registers).boxed().toList();
      return this;
    }

    Builder furtherArgumentsAt(long offset) {
      furtherArgumentsAt = OptionalLong.of(offset);
      return this;
    }

    Builder pairsAligned() {
      pairsAligned = true;
      return this;
    }

    Builder result(int register) {
      resultRegister = register;
      return this;
    }

    /** A register that is 1 after a failure and 0 after a success. */
    Builder errorRegister(int register) {
      errorFlag = new ErrorFlag(register, -1, 1);
      return this;
    }

    /** A bit that is set after a failure and cleared after a success. */
    Builder errorBit(int register, long bit) {
      errorFlag = new ErrorFlag(register, bit, bit);
      return this;
    }

    Builder platform(String value) {
      platform = value;
      return this;
    }

    Builder stackGap(int bytes) {
      stackGap = bytes;
      return this;
    }

    Builder descriptorTable(long address) {
      descriptorTable = OptionalLong.of(address);
      return this;
    }

    Builder linkIsExitHandler() {
      linkIsExitHandler = true;
      return this;
    }

    /** Linux runs programs without PT_GNU_STACK with everything executable. */
    Builder readImpliesExecute() {
      readImpliesExecute = true;
      return this;
    }

    SyscallAbi build() {
      return new SyscallAbi(this);
    }
  }
}
