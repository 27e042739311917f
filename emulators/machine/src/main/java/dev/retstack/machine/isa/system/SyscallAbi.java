package dev.retstack.machine.isa.system;

import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.schema.linux.SystemCallNames;
import it.unimi.dsi.fastutil.bytes.ByteList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * How a program of an ISA calls Linux, as data: the trap, the registers of a system call, how an
 * error is shown, the numbers and structures of the kernel, and the first stack. Registers are
 * Unicorn's register ids. Source: the man page syscall(2), "Architecture calling conventions", and
 * the psABI's Linux chapter.
 *
 * <p>The order is that of a system call:
 *
 * <pre>
 * SyscallAbi.onInterrupt(17)                      mips o32: syscall
 *     .number("mips_o32", UC_MIPS_REG_2)
 *     .arguments(UC_MIPS_REG_4, ..5, ..6, ..7)
 *     .furtherArgumentsAt(16)                     the fifth at 16(sp)
 *     .pairsAligned()
 *     .result(UC_MIPS_REG_2)
 *     .errorRegister(UC_MIPS_REG_7)
 *     .dialect(DIALECT)
 *     .stat(STAT)
 *     .platform("mips")
 *     .build()
 * </pre>
 *
 * @param trap how the engine reports that a system call was made
 * @param trapNumber the instruction id or interrupt number of {@code trap}
 * @param resumeAfter bytes from the program counter at the trap to the instruction to continue at,
 *     where the engine must know it. 0 is passed too: it sets what the engine has beside the
 *     program counter
 * @param numbers the table that the number is of, as {@link SystemCallNames} has it: Linux numbers
 *     its system calls per architecture, newer ones share a table
 * @param numberRegister holds the number of the system call
 * @param immediateNumberAt offset from the program counter of a byte that holds the number, where
 *     it is not 0 (s390: {@code svc n})
 * @param argumentRegisters the registers of the arguments, the first one first
 * @param furtherArgumentsAt offset from the stack pointer of the arguments that no register has
 * @param pairsAligned true where a 64-bit argument of a 32-bit program takes an even-numbered place
 *     and the next one, an odd place before it being left out; false where it takes the next two.
 *     The high half comes first on big-endian ISAs
 * @param resultRegister takes the result; without an {@code errorFlag} errors are negative numbers
 * @param errorFlag shows errors, where the sign of the result does not
 * @param dialect the kernel's constants
 * @param stat the structure that {@code stat} writes
 * @param platform what {@code AT_PLATFORM} and {@code uname -m} say
 * @param stackGap bytes between the stack pointer and {@code argc} at the program's start
 * @param archControl true where {@code arch_prctl} sets the register of a thread's storage, and
 *     {@code set_thread_area} does not
 * @param descriptorTable address of a page for segment descriptors, where threads' storage is
 *     reached by a segment that the program asks for with {@code set_thread_area}; the engine's
 *     bring-up must point there
 * @param linkIsExitHandler true where a program takes the link register at its start for a function
 *     to call at its end: then it must be 0, and the program cannot be left by a return
 * @param eventDataAt place of {@code data} in {@code struct epoll_event}
 * @param olderThanStackHeader true where there are programs of the time before PT_GNU_STACK
 * @param dynamic what programs with shared objects need
 * @param threads how threads are started
 * @param signals how signal handlers are called
 * @param helpers code of the kernel that programs call at fixed addresses
 */
public record SyscallAbi(
    Trap trap,
    int trapNumber,
    OptionalInt resumeAfter,
    String numbers,
    int numberRegister,
    OptionalInt immediateNumberAt,
    List<Integer> argumentRegisters,
    OptionalLong furtherArgumentsAt,
    boolean pairsAligned,
    int resultRegister,
    Optional<ErrorFlag> errorFlag,
    Dialect dialect,
    StatLayout stat,
    String platform,
    int stackGap,
    boolean archControl,
    OptionalLong descriptorTable,
    boolean linkIsExitHandler,
    int eventDataAt,
    boolean olderThanStackHeader,
    DynamicAbi dynamic,
    CloneAbi threads,
    SignalAbi signals,
    Optional<HelperPage> helpers) {

  /**
   * A page of the kernel's code, in the memory of each program.
   *
   * @param address of the page
   * @param code its bytes, in the order of memory; what is behind them is zero
   */
  public record HelperPage(long address, ByteList code) {}

  /** How the engine reports a system call. */
  public enum Trap {
    /** A hook on an instruction ({@code UC_HOOK_INSN}). */
    INSTRUCTION,
    /** A hook on interrupts ({@code UC_HOOK_INTR}). */
    INTERRUPT
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

  /**
   * How a program starts a thread: which argument of {@code clone} is which, and where the new
   * thread finds its own variables. Source: {@code kernel/fork.c}, the forms of {@code clone}.
   *
   * @param flags index of the argument {@code flags}
   * @param stack of {@code newsp}
   * @param parentTid of {@code parent_tid}
   * @param childTid of {@code child_tid}
   * @param tls of {@code tls}
   * @param started false where threads cannot be started
   * @param storage registers that take {@code tls}, the one of its low half last
   * @param segment the segment register that {@code tls} describes instead, as {@code
   *     set_thread_area} has it
   */
  public record CloneAbi(
      int flags,
      int stack,
      int parentTid,
      int childTid,
      int tls,
      boolean started,
      List<Integer> storage,
      OptionalInt segment) {

    /** No threads. */
    public static final CloneAbi NONE =
        new CloneAbi(0, 1, 2, 3, 4, false, List.of(), OptionalInt.empty());

    public CloneAbi {
      storage = List.copyOf(storage);
    }

    /** {@code clone(flags, newsp, parent_tid, child_tid, tls)}. */
    public static CloneAbi plain(Integer... storage) {
      return new CloneAbi(0, 1, 2, 3, 4, true, List.of(storage), OptionalInt.empty());
    }

    /** {@code clone(flags, newsp, parent_tid, tls, child_tid)}: CONFIG_CLONE_BACKWARDS. */
    public static CloneAbi backwards(Integer... storage) {
      return new CloneAbi(0, 1, 2, 4, 3, true, List.of(storage), OptionalInt.empty());
    }

    /** Arguments in this order, with a descriptor of a segment for {@code tls}. */
    public static CloneAbi backwardsBySegment(int register) {
      return new CloneAbi(0, 1, 2, 4, 3, true, List.of(), OptionalInt.of(register));
    }

    /** {@code clone(newsp, flags, parent_tid, child_tid, tls)}: CONFIG_CLONE_BACKWARDS2. */
    public static CloneAbi stackFirst(Integer... storage) {
      return new CloneAbi(1, 0, 2, 3, 4, true, List.of(storage), OptionalInt.empty());
    }
  }

  /** Most arguments that a system call has. */
  public static final int ARGUMENTS = 6;

  public SyscallAbi {
    argumentRegisters = List.copyOf(argumentRegisters);
    Objects.requireNonNull(stat, "a layout of struct stat");
    if (!SystemCallNames.tables().contains(numbers)) {
      throw new IllegalArgumentException(
          "no table '%s' of system calls for %s: schemas' system-calls.txt has %s"
              .formatted(numbers, platform, SystemCallNames.tables()));
    }
    if (argumentRegisters.size() < ARGUMENTS && furtherArgumentsAt.isEmpty()) {
      throw new IllegalArgumentException(
          "%d argument registers of a system call of %s: give six, or the place of the others"
              .formatted(argumentRegisters.size(), platform));
    }
  }

  /** The names of the system calls by number. */
  public SystemCallNames names() {
    return SystemCallNames.of(numbers);
  }

  /**
   * True where a program may execute all that it may read. Linux takes a program without
   * PT_GNU_STACK for one of the time before that header, on the ISAs that are older than it.
   *
   * @param executableStack what PT_GNU_STACK asks for; empty without it
   */
  public boolean readImpliesExecute(Optional<Boolean> executableStack) {
    return olderThanStackHeader && executableStack.isEmpty();
  }

  /** System calls are a hook on an instruction. */
  public static Builder onInstruction(int id) {
    return new Builder(Trap.INSTRUCTION, id);
  }

  /** System calls are an interrupt. */
  public static Builder onInterrupt(int number) {
    return new Builder(Trap.INTERRUPT, number);
  }

  /** Collects the description; every setter is one line of it. */
  public static final class Builder {
    private final Trap trap;
    private final int trapNumber;
    private OptionalInt resumeAfter = OptionalInt.empty();
    private String numbers;
    private int numberRegister;
    private OptionalInt immediateNumberAt = OptionalInt.empty();
    private List<Integer> argumentRegisters = List.of();
    private OptionalLong furtherArgumentsAt = OptionalLong.empty();
    private boolean pairsAligned;
    private int resultRegister;
    private Optional<ErrorFlag> errorFlag = Optional.empty();
    private Dialect dialect = Dialect.GENERIC;
    private StatLayout stat;
    private String platform;
    private int stackGap;
    private boolean archControl;
    private OptionalLong descriptorTable = OptionalLong.empty();
    private boolean linkIsExitHandler;
    private int eventDataAt = Long.BYTES;
    private boolean olderThanStackHeader;
    private DynamicAbi dynamic = DynamicAbi.NONE;
    private CloneAbi threads = CloneAbi.NONE;
    private SignalAbi signals = SignalAbi.NONE;
    private Optional<HelperPage> helpers = Optional.empty();

    private Builder(Trap trap, int trapNumber) {
      this.trap = trap;
      this.trapNumber = trapNumber;
    }

    /** The engine stops at the instruction, not behind it: bytes of the instruction. */
    public Builder resumeAfter(int bytes) {
      resumeAfter = OptionalInt.of(bytes);
      return this;
    }

    public Builder number(String table, int register) {
      numbers = table;
      numberRegister = register;
      return this;
    }

    public Builder immediateNumberAt(int offset) {
      immediateNumberAt = OptionalInt.of(offset);
      return this;
    }

    public Builder arguments(int... registers) {
      argumentRegisters = IntStream.of(registers).boxed().toList();
      return this;
    }

    public Builder furtherArgumentsAt(long offset) {
      furtherArgumentsAt = OptionalLong.of(offset);
      return this;
    }

    public Builder pairsAligned() {
      pairsAligned = true;
      return this;
    }

    public Builder result(int register) {
      resultRegister = register;
      return this;
    }

    /** A register that is 1 after a failure and 0 after a success. */
    public Builder errorRegister(int register) {
      errorFlag = Optional.of(new ErrorFlag(register, -1, 1));
      return this;
    }

    /** A bit that is set after a failure and cleared after a success. */
    public Builder errorBit(int register, long bit) {
      errorFlag = Optional.of(new ErrorFlag(register, bit, bit));
      return this;
    }

    public Builder dialect(Dialect value) {
      dialect = value;
      return this;
    }

    public Builder stat(StatLayout value) {
      stat = value;
      return this;
    }

    public Builder platform(String value) {
      platform = value;
      return this;
    }

    public Builder stackGap(int bytes) {
      stackGap = bytes;
      return this;
    }

    public Builder archControl() {
      archControl = true;
      return this;
    }

    public Builder descriptorTable(long address) {
      descriptorTable = OptionalLong.of(address);
      return this;
    }

    public Builder linkIsExitHandler() {
      linkIsExitHandler = true;
      return this;
    }

    /** {@code struct epoll_event} has no padding. */
    public Builder packedEvents() {
      eventDataAt = Integer.BYTES;
      return this;
    }

    /** Linux runs programs without PT_GNU_STACK with everything executable. */
    public Builder olderThanStackHeader() {
      olderThanStackHeader = true;
      return this;
    }

    /** Programs may be linked with shared objects. */
    public Builder dynamic(DynamicAbi value) {
      dynamic = value;
      return this;
    }

    /** Programs may start threads. */
    public Builder threads(CloneAbi value) {
      threads = value;
      return this;
    }

    /** Signal handlers run. */
    public Builder signals(SignalAbi value) {
      signals = value;
      return this;
    }

    /** The kernel's code at fixed addresses. */
    public Builder helpers(HelperPage page) {
      helpers = Optional.of(page);
      return this;
    }

    public SyscallAbi build() {
      return new SyscallAbi(
          trap,
          trapNumber,
          resumeAfter,
          numbers,
          numberRegister,
          immediateNumberAt,
          argumentRegisters,
          furtherArgumentsAt,
          pairsAligned,
          resultRegister,
          errorFlag,
          dialect,
          stat,
          platform,
          stackGap,
          archControl,
          descriptorTable,
          linkIsExitHandler,
          eventDataAt,
          olderThanStackHeader,
          dynamic,
          threads,
          signals,
          helpers);
    }
  }
}
