package dev.retstack.fleet.isa;

import dev.retstack.schema.record.SignalContext;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;

/**
 * Constants of Linux that differ on a few old architectures. Source: {@code asm/mman.h}, {@code
 * asm/resource.h}, {@code asm/errno.h} and {@code asm/signal.h} of each.
 *
 * @param mapAnonymous {@code MAP_ANONYMOUS}
 * @param filesLimit {@code RLIMIT_NOFILE}
 * @param errors error numbers that {@link Errno#differs} between architectures, all of them
 * @param signals signals
 * @param open flags of {@code open}
 * @param pipeInRegisters true where {@code pipe} answers in two registers
 */
public record Dialect(
    long mapAnonymous,
    int filesLimit,
    Map<Errno, Integer> errors,
    Signals signals,
    OpenFlags open,
    boolean pipeInRegisters) {

  /**
   * How signals are numbered, and how {@code rt_sigaction} and {@code rt_sigprocmask} tell of them.
   *
   * @param count the highest signal
   * @param maskBytes size of a signal mask
   * @param handlerWord index of the handler among the words of {@code struct sigaction}
   * @param block first argument of {@code rt_sigprocmask} that adds to the mask
   * @param unblock that takes from it
   * @param replace that replaces it
   * @param stop {@code SIGSTOP}
   * @param user {@code SIGUSR1}
   * @param ignored what does nothing by default: SIGCHLD, SIGCONT, SIGURG, SIGWINCH
   */
  public record Signals(
      int count,
      int maskBytes,
      int handlerWord,
      int block,
      int unblock,
      int replace,
      int stop,
      int user,
      Set<Integer> ignored) {

    /** SIGKILL has one number everywhere. */
    public static final int KILL = 9;

    /** {@code SIGUSR1} where signals are numbered as {@code asm-generic/signal.h} does. */
    private static final int GENERIC_USER = 10;

    /** Signals that programs send, with one number everywhere. */
    private static final Set<Integer> ALIKE = Set.of(2, 3, 4, 6, 8, KILL, 11, 13, 15);

    public Signals {
      ignored = Set.copyOf(ignored);
    }

    /** SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, which come first; of the generic ones. */
    public long synchronous() {
      return 0x4000_04d8L;
    }

    /** Name of a signal. */
    public String name(int signal) {
      if (signal == user) {
        return "SIGUSR1";
      }
      boolean isKnown = user == GENERIC_USER || ALIKE.contains(signal);
      return isKnown ? SignalContext.signalName(signal) : "signal " + signal;
    }
  }

  /** As {@code asm-generic} has it. */
  static final Dialect GENERIC =
      new Dialect(
          0x20,
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
          new Signals(64, 8, 0, 0, 1, 2, 19, 10, Set.of(17, 18, 23, 28)),
          OpenFlags.GENERIC,
          false);

  /** The same, but for the flags of {@code open}: arm, aarch64, powerpc and m68k. */
  static final Dialect EXCHANGED_FLAGS =
      new Dialect(
          GENERIC.mapAnonymous,
          GENERIC.filesLimit,
          GENERIC.errors,
          GENERIC.signals,
          OpenFlags.EXCHANGED,
          false);

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

    static final OpenFlags MIPS =
        new OpenFlags(0x100, 0x400, 0x200, 0x8, 0x80, 0x1_0000, 0x2_0000, 0x8_0000, 0x40_0000);

    static final OpenFlags SPARC =
        new OpenFlags(0x200, 0x800, 0x400, 0x8, 0x4000, 0x1_0000, 0x2_0000, 0x40_0000, 0x200_0000);

    /** True where a flag is among others. */
    public static boolean has(int flags, int flag) {
      return (flags & flag) == flag;
    }
  }
}
