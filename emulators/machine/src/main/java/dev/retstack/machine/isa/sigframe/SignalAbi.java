package dev.retstack.machine.isa.sigframe;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

/**
 * How Linux calls a signal handler of an ISA, as data: {@code struct rt_sigframe} and what is in
 * it. Source: the kernel's {@code asm/sigcontext.h}, {@code asm/ucontext.h} and the psABI. Offsets
 * are from the frame, except where a field names another base; fields have the ISA's byte order.
 *
 * @param started false where handlers do not run
 * @param trapBytes of the instruction that makes a system call: a call that is made again starts
 *     there
 * @param hasRestorer true where {@code struct sigaction} has {@code sa_restorer}
 * @param trampoline code that calls {@code rt_sigreturn}, for handlers without a restorer
 * @param object which shared object has that code; empty where it stands alone
 * @param older where a part of the context is in the frame of a handler without SA_SIGINFO, which
 *     returns by {@code sigreturn}
 * @param frameBytes size of the frame
 * @param bias bytes below a multiple of 16 at which a frame stands
 * @param returnBias bytes from the frame to the stack pointer at {@code rt_sigreturn}; four more at
 *     the older {@code sigreturn} of i386
 * @param infoAt place of {@code siginfo_t}
 * @param contextAt place of {@code ucontext_t}
 * @param stackAt place of {@code uc_stack}
 * @param maskAt place of {@code uc_sigmask}
 * @param faultAt place of the address of a fault
 * @param saved registers in it
 * @param words constants in it
 * @param swapped the word in which a context of {@code swapcontext} has the address of its
 *     registers; empty where the kernel has no such call
 * @param chainAt place of two words, frame pointer and link, that the frame pointer names then
 * @param clears bits of {@code flags} that a handler begins without
 * @param flags the register of processor flags
 * @param faults by the number of the exception: what is sent
 * @param remembered exceptions that the engine takes the next one for a consequence of
 * @param coded what instructions send that the engine takes for ones that do not exist
 * @param behind true where a handler finds itself behind the instruction that failed, unless it
 *     failed to reach memory
 * @param faultBytes how exact the address of a fault is: a page where the processor reports no more
 * @param hasHidden true where the engine has no names for some registers that a handler may change:
 *     their values are beside the frame
 * @param branches code of instructions whose delay slot runs before they jump, in hex; what fails
 *     in one is found at its branch
 * @param lost by the number of an exception whose place the engine loses: code of the instructions
 *     of four bytes that raise it, in hex. Where it is empty, they end their block
 * @param late first bytes, in hex, of instructions of four bytes that cannot be done, behind which
 *     the engine stands then
 */
public record SignalAbi(
    boolean started,
    int trapBytes,
    boolean hasRestorer,
    List<Byte> trampoline,
    Optional<KernelObject> object,
    Optional<Part> older,
    int frameBytes,
    int bias,
    int returnBias,
    int infoAt,
    int contextAt,
    int stackAt,
    int maskAt,
    OptionalInt faultAt,
    List<Saved> saved,
    List<Word> words,
    Optional<Word> swapped,
    OptionalInt chainAt,
    long clears,
    int flags,
    Map<Integer, Fault> faults,
    Set<Integer> remembered,
    List<Coded> coded,
    boolean behind,
    long faultBytes,
    boolean hasHidden,
    Optional<Pattern> branches,
    Map<Integer, Pattern> lost,
    List<String> late) {

  /**
   * A register in a frame.
   *
   * @param register its id
   * @param bytes that it takes
   * @param mask bits that the program may change
   */
  public record Saved(int register, int at, int bytes, long mask) {
    Saved(int register, int at, int bytes) {
      this(register, at, bytes, -1);
    }
  }

  /**
   * A part of a frame that other frames have elsewhere.
   *
   * @param to where they have it
   */
  public record Part(int at, int bytes, int to) {}

  /**
   * A number in a frame.
   *
   * @param isPlace true for a place in the frame, which is written as an address
   */
  public record Word(int at, int bytes, long value, boolean isPlace) {}

  /**
   * What an exception sends.
   *
   * @param signal its number
   * @param code {@code si_code}
   * @param behind bytes from the instruction to where a handler finds the program
   */
  public record Fault(int signal, int code, int behind) {
    /** The handler finds the program at the instruction. */
    public Fault(int signal, int code) {
      this(signal, code, 0);
    }
  }

  /**
   * What an instruction sends that cannot be done.
   *
   * @param code its first bytes, in hex, as a regular expression
   */
  public record Coded(Pattern code, Fault fault) {}

  public static final int SIGILL = 4;
  public static final int SIGTRAP = 5;
  public static final int SIGBUS = 7;
  public static final int SIGFPE = 8;
  public static final int SIGSEGV = 11;

  /** {@code si_code}: of SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV. */
  public static final int ILL_ILLOPN = 2;

  public static final int TRAP_BRKPT = 1;
  public static final int BUS_ADRALN = 1;
  public static final int FPE_INTDIV = 1;
  public static final int FPE_INTOVF = 2;
  public static final int FPE_FLTINV = 7;
  public static final int SEGV_MAPERR = 1;
  public static final int SEGV_ACCERR = 2;
  public static final int KERNEL = 0x80;

  /** Handlers do not run. */
  public static final SignalAbi NONE = new Layout(0, 0, 0, 0, 0).build(false);

  public SignalAbi {
    trampoline = List.copyOf(trampoline);
    saved = List.copyOf(saved);
    words = List.copyOf(words);
    faults = Map.copyOf(faults);
    remembered = Set.copyOf(remembered);
    coded = List.copyOf(coded);
    lost = Map.copyOf(lost);
    late = List.copyOf(late);
  }

  /**
   * What an instruction sends that does not exist.
   *
   * @param code at its address, in hex
   */
  public Fault illegal(String code) {
    return coded(code).orElse(new Fault(SIGILL, ILL_ILLOPN));
  }

  /**
   * What an exception sends.
   *
   * @param number of the exception
   * @param code at the address where it happened, in hex
   * @return empty for one that no handler handles
   */
  public Optional<Fault> of(int number, String code) {
    Optional<Fault> known = Optional.ofNullable(faults.get(number));
    return known.map(fault -> coded(code).orElse(fault));
  }

  private Optional<Fault> coded(String code) {
    return coded.stream()
        .filter(c -> c.code.matcher(code).lookingAt())
        .map(Coded::fault)
        .findFirst();
  }

  /** True where the engine does not stand where an exception happened. */
  public boolean losesPlaces() {
    return !lost.isEmpty();
  }

  /**
   * Where an exception happened whose place the engine loses.
   *
   * @param began where the block began in which it happened; -1: not known
   * @param length its instructions
   * @param code reads code, in hex
   * @return empty where several instructions of the block may have raised it
   */
  public OptionalLong placeOf(int number, long began, int length, LongFunction<String> code) {
    Pattern raises = lost.get(number);
    if (raises == null || began == -1) {
      return OptionalLong.empty();
    }
    if (raises.pattern().isEmpty()) {
      return OptionalLong.of(began + (length - 1L) * Integer.BYTES);
    }
    long[] found =
        LongStream.range(0, length)
            .map(i -> began + i * Integer.BYTES)
            .filter(at -> raises.matcher(code.apply(at)).lookingAt())
            .toArray();
    return found.length == 1 ? OptionalLong.of(found[0]) : OptionalLong.empty();
  }

  /**
   * Where a handler finds the program after an instruction that cannot be done.
   *
   * @param at address of the instruction
   * @param code its first bytes, in hex: where the length differs, they show it
   */
  public long place(long at, String code) {
    if (!behind || code.isEmpty()) {
      return at;
    }
    // z/Architecture Principles of Operation, "Instruction Formats": the two leftmost bits
    int first = Character.digit(code.charAt(0), 16);
    return at + (first < 4 ? 2 : first < 12 ? 4 : 6);
  }

  /**
   * Where a handler finds the program after an instruction that failed in a delay slot: at the
   * branch, which is taken again.
   *
   * @param at address of the instruction
   * @param before code in front of it, in hex
   */
  public long branchOf(long at, String before) {
    return branches.filter(b -> b.matcher(before).lookingAt()).isPresent()
        ? at - Integer.BYTES
        : at;
  }

  /** The bytes of {@link #trampoline}. */
  public byte[] trampolineCode() {
    byte[] code = new byte[trampoline.size()];
    for (int i = 0; i < code.length; i++) {
      code[i] = trampoline.get(i);
    }
    return code;
  }

  /** Collects the description; every setter is one line of it. */
  public static final class Layout {
    private final int frameBytes;
    private final int bias;
    private final int returnBias;
    private final int infoAt;
    private final int contextAt;
    private final List<Saved> saved = new ArrayList<>();
    private final List<Word> words = new ArrayList<>();
    private byte[] trampoline = {};
    private Optional<KernelObject> object = Optional.empty();
    private Optional<Part> older = Optional.empty();
    private int trapBytes;
    private boolean hasRestorer = true;
    private int stackAt;
    private int maskAt;
    private OptionalInt faultAt = OptionalInt.empty();
    private Optional<Word> swapped = Optional.empty();
    private OptionalInt chainAt = OptionalInt.empty();
    private int flags;
    private long clears;
    private Map<Integer, Fault> faults = Map.of();
    private Set<Integer> remembered = Set.of();
    private final List<Coded> coded = new ArrayList<>();
    private boolean behind;
    private long faultBytes = 1;
    private boolean hasHidden;
    private Optional<Pattern> branches = Optional.empty();
    private final Map<Integer, Pattern> lost = new HashMap<>();
    private List<String> late = List.of();

    /** A frame with the places of its parts. */
    public Layout(int frameBytes, int bias, int returnBias, int infoAt, int contextAt) {
      this.frameBytes = frameBytes;
      this.bias = bias;
      this.returnBias = returnBias;
      this.infoAt = infoAt;
      this.contextAt = contextAt;
    }

    /** What a handler without a restorer returns to; it ends with the trap. */
    public Layout trampoline(int lengthOfTrap, byte[] code) {
      trapBytes = lengthOfTrap;
      trampoline = code;
      return this;
    }

    /** That code is in a shared object. */
    public Layout object(KernelObject value) {
      object = Optional.of(value);
      return this;
    }

    /** Frames of handlers without SA_SIGINFO have a part of the context elsewhere. */
    public Layout older(int at, int bytes, int to) {
      older = Optional.of(new Part(contextAt + at, bytes, to));
      return this;
    }

    /** Handlers return only there. */
    public Layout withoutRestorer() {
      hasRestorer = false;
      return this;
    }

    /** Places in the context. */
    public Layout stackAndMask(int stack, int mask) {
      stackAt = contextAt + stack;
      maskAt = contextAt + mask;
      return this;
    }

    /** Registers side by side in the context. */
    public Layout registers(int at, int bytes, int stride, int... registers) {
      int place = contextAt + at;
      for (int register : registers) {
        saved.add(new Saved(register, place, bytes));
        place += stride;
      }
      return this;
    }

    /** Processor flags in the context. */
    public Layout flags(int register, int at, int bytes, long mask, long clear) {
      saved.add(new Saved(register, contextAt + at, bytes, mask));
      flags = register;
      clears = clear;
      return this;
    }

    public Layout faultAt(int at) {
      faultAt = OptionalInt.of(contextAt + at);
      return this;
    }

    /** A number in the context. */
    public Layout word(int at, int bytes, long value) {
      words.add(new Word(contextAt + at, bytes, value, false));
      return this;
    }

    /** The address of a place in the frame, at another place of it. */
    public Layout place(int at, int bytes, int of) {
      words.add(new Word(at, bytes, of, true));
      return this;
    }

    /**
     * The address of the registers in the context, by which {@code swapcontext} finds them: they
     * stand at a multiple of 16.
     */
    public Layout swapped(int at, int bytes, int of) {
      place(contextAt + at, bytes, contextAt + of);
      swapped = Optional.of(words.getLast());
      return this;
    }

    public Layout chainAt(int at) {
      chainAt = OptionalInt.of(at);
      return this;
    }

    public Layout faults(Map<Integer, Fault> value) {
      faults = value;
      return this;
    }

    public Layout remembered(Integer... exceptions) {
      remembered = Set.of(exceptions);
      return this;
    }

    /** Instructions that the engine does not know as breakpoints, by their first bytes. */
    public Layout breakpoints(String... codes) {
      for (String code : codes) {
        coded(code, SIGTRAP, TRAP_BRKPT);
      }
      return this;
    }

    /** What an instruction sends, by a regular expression of its first bytes in hex. */
    public Layout coded(String code, int signal, int reason) {
      coded.add(new Coded(Pattern.compile(code), new Fault(signal, reason)));
      return this;
    }

    public Layout behind() {
      behind = true;
      return this;
    }

    public Layout faultBytes(long value) {
      faultBytes = value;
      return this;
    }

    public Layout hidden() {
      hasHidden = true;
      return this;
    }

    /** Instructions of four bytes with a delay slot, by a regular expression of their code. */
    public Layout branches(String codes) {
      branches = Optional.of(Pattern.compile(codes));
      return this;
    }

    /** The engine loses the place of an exception, which such instructions of four bytes raise. */
    public Layout lost(int exception, String codes) {
      lost.put(exception, Pattern.compile(codes));
      return this;
    }

    public Layout late(String... codes) {
      late = List.of(codes);
      return this;
    }

    /** Handlers run. */
    public SignalAbi build() {
      return build(true);
    }

    private SignalAbi build(boolean started) {
      List<Byte> code = new ArrayList<>();
      for (byte b : trampoline) {
        code.add(b);
      }
      return new SignalAbi(
          started,
          trapBytes,
          hasRestorer,
          code,
          object,
          older,
          frameBytes,
          bias,
          returnBias,
          infoAt,
          contextAt,
          stackAt,
          maskAt,
          faultAt,
          saved,
          words,
          swapped,
          chainAt,
          clears,
          flags,
          faults,
          remembered,
          coded,
          behind,
          faultBytes,
          hasHidden,
          branches,
          lost,
          late);
    }
  }
}
