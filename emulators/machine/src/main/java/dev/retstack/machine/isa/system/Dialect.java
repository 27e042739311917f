package dev.retstack.machine.isa.system;

import dev.retstack.schema.record.SignalContext;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Constants of Linux that differ on a few old architectures. Source: {@code asm/mman.h}, {@code
 * asm/resource.h}, {@code asm/errno.h} and {@code asm/signal.h} of each.
 *
 * @param mapAnonymous {@code MAP_ANONYMOUS}
 * @param mapNoReserve {@code MAP_NORESERVE}
 * @param filesLimit {@code RLIMIT_NOFILE}
 * @param errors error numbers that {@link Errno#differs} between architectures, all of them
 * @param signals signals
 * @param open flags of {@code open}
 * @param pipeInRegisters true where {@code pipe} answers in two registers
 * @param streamSocket {@code SOCK_STREAM}
 */
public record Dialect(
    long mapAnonymous,
    long mapNoReserve,
    int filesLimit,
    Map<Errno, Integer> errors,
    Signals signals,
    OpenFlags open,
    boolean pipeInRegisters,
    int streamSocket) {

  /**
   * How signals are numbered, and how the structures of {@code rt_sigaction}, {@code
   * rt_sigprocmask}, {@code sigaltstack} and of handlers describe them.
   *
   * @param count the highest signal
   * @param maskBytes size of a signal mask
   * @param handlerWord index of the handler among the words of {@code struct sigaction}, 0 or 1;
   *     the flags have the other
   * @param stackFlagsWord index of the flags among the words of {@code stack_t}, 1 or 2; the size
   *     has the other
   * @param codeAt place of {@code si_code} in {@code siginfo_t}
   * @param timerCode {@code SI_TIMER}
   * @param block first argument of {@code rt_sigprocmask} that adds to the mask
   * @param unblock that takes from it
   * @param replace that replaces it
   * @param generic from signal 1 on: its number in {@code asm-generic/signal.h}; signals above
   *     these have the same one
   */
  public record Signals(
      int count,
      int maskBytes,
      int handlerWord,
      int stackFlagsWord,
      int codeAt,
      int timerCode,
      int block,
      int unblock,
      int replace,
      List<Integer> generic) {

    /** SIGKILL has one number everywhere. */
    public static final int KILL = 9;

    // numbers of asm-generic/signal.h
    private static final int STOP = 19;
    private static final int TTOU = 22;

    /** SIGCHLD, SIGCONT, SIGURG, SIGWINCH. */
    private static final Set<Integer> IGNORED = Set.of(17, 18, 23, 28);

    /** SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS. */
    private static final List<Integer> SYNCHRONOUS = List.of(4, 5, 7, 8, 11, 31);

    public Signals {
      generic = List.copyOf(generic);
    }

    /** The number that {@code asm-generic/signal.h} gives a signal. */
    public int generic(int signal) {
      return signal <= generic.size() ? generic.get(signal - 1) : signal;
    }

    /** The number of a signal that {@code asm-generic/signal.h} numbers so. */
    public int number(int ofGeneric) {
      int index = generic.indexOf(ofGeneric);
      return index < 0 ? ofGeneric : index + 1;
    }

    /** Index of the flags among the words of {@code struct sigaction}. */
    public int flagsWord() {
      return 1 - handlerWord;
    }

    /** Index of the size among the words of {@code stack_t}. */
    public int stackBytesWord() {
      return 3 - stackFlagsWord;
    }

    /** {@code SIGSTOP}. */
    public int stop() {
      return number(STOP);
    }

    /** True for a signal that stops a process by default. */
    public boolean stops(int signal) {
      return generic(signal) >= STOP && generic(signal) <= TTOU;
    }

    /** True for a signal that does nothing by default. */
    public boolean ignores(int signal) {
      return IGNORED.contains(generic(signal));
    }

    /** The set of those that come first, since an instruction caused them. */
    public long synchronous() {
      return SYNCHRONOUS.stream().mapToLong(s -> 1L << (number(s) - 1)).sum();
    }

    /** Name of a signal. */
    public String name(int signal) {
      return SignalContext.signalName(generic(signal));
    }
  }

  /** As {@code asm-generic} has it. */
  static final Dialect GENERIC =
      new Dialect(
          0x20,
          0x4000,
          7,
          Map.of(
              Errno.ENAMETOOLONG,
              36,
              Errno.ENOSYS,
              38,
              Errno.ENOTEMPTY,
              39,
              Errno.ELOOP,
              40,
              Errno.ETIMEDOUT,
              110),
          new Signals(64, 8, 0, 1, 8, -2, 0, 1, 2, List.of()),
          OpenFlags.GENERIC,
          false,
          1);

  /**
   * The generic dialect, but for the flags of {@code open}: arm, aarch64 and m68k; powerpc has
   * another {@code MAP_NORESERVE}, too.
   */
  public static final Dialect EXCHANGED_FLAGS = exchanged(GENERIC.mapNoReserve);

  public static final Dialect POWER = exchanged(0x40);

  private static Dialect exchanged(long mapNoReserve) {
    return new Dialect(
        GENERIC.mapAnonymous,
        mapNoReserve,
        GENERIC.filesLimit,
        GENERIC.errors,
        GENERIC.signals,
        OpenFlags.EXCHANGED,
        false,
        GENERIC.streamSocket);
  }

  public Dialect {
    errors = Map.copyOf(errors);
    for (Errno error : Errno.values()) {
      if (error.differs() && !errors.containsKey(error)) {
        throw new IllegalArgumentException(
            "a dialect without %s, has %s: number it as asm/errno.h does"
                .formatted(error, Arrays.toString(errors.keySet().toArray())));
      }
    }
  }

  /** The number of an error. */
  public int number(Errno error) {
    return errors.getOrDefault(error, error.generic());
  }

  /**
   * Flags of {@code open}, as {@code asm/fcntl.h} numbers them. Read-only, write-only and both are
   * 0, 1 and 2 everywhere.
   *
   * @param create {@code O_CREAT}
   * @param exclusive {@code O_EXCL}
   * @param truncate {@code O_TRUNC}
   * @param append {@code O_APPEND}
   * @param nonBlocking {@code O_NONBLOCK}
   * @param folder {@code O_DIRECTORY}
   * @param noFollow {@code O_NOFOLLOW}
   * @param closeOnExec {@code O_CLOEXEC}
   * @param unnamed {@code __O_TMPFILE}
   */
  public record OpenFlags(
      int create,
      int exclusive,
      int truncate,
      int append,
      int nonBlocking,
      int folder,
      int noFollow,
      int closeOnExec,
      int unnamed) {

    /** {@code asm-generic/fcntl.h}. */
    static final OpenFlags GENERIC =
        new OpenFlags(0x40, 0x80, 0x200, 0x400, 0x800, 0x1_0000, 0x2_0000, 0x8_0000, 0x40_0000);

    /** Other flags have the places of O_DIRECTORY and O_NOFOLLOW. */
    static final OpenFlags EXCHANGED =
        new OpenFlags(0x40, 0x80, 0x200, 0x400, 0x800, 0x4000, 0x8000, 0x8_0000, 0x40_0000);

    public static final OpenFlags MIPS =
        new OpenFlags(0x100, 0x400, 0x200, 0x8, 0x80, 0x1_0000, 0x2_0000, 0x8_0000, 0x40_0000);

    public static final OpenFlags SPARC =
        new OpenFlags(0x200, 0x800, 0x400, 0x8, 0x4000, 0x1_0000, 0x2_0000, 0x40_0000, 0x200_0000);

    /** True where a flag is among others. */
    public static boolean has(int flags, int flag) {
      return (flags & flag) == flag;
    }
  }
}
