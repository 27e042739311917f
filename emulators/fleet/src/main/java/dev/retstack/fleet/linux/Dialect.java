package dev.retstack.fleet.linux;

import dev.retstack.fleet.isa.SyscallAbi;

/**
 * The constants of Linux that a few old architectures number in their own way. Source: {@code
 * asm/mman.h}, {@code asm/resource.h}, {@code asm/signal.h} and {@code asm/errno.h} of each.
 */
enum Dialect {
  /** As {@code asm-generic} has it. */
  GENERIC(0x20, 7, SignalNumbers.GENERIC),
  /** mips, as IRIX had it. */
  MIPS(0x800, 5, SignalNumbers.MIPS),
  /** sparc, as SunOS had it. */
  SPARC(0x20, 6, SignalNumbers.SPARC);

  private final long mapAnonymous;
  private final int filesLimit;
  private final SignalNumbers signals;

  Dialect(long mapAnonymous, int filesLimit, SignalNumbers signals) {
    this.mapAnonymous = mapAnonymous;
    this.filesLimit = filesLimit;
    this.signals = signals;
  }

  /** What the programs that number their system calls so speak. */
  static Dialect of(SyscallAbi.Numbers numbers) {
    return switch (numbers) {
      case MIPS_O32, MIPS_N64 -> MIPS;
      case SPARC -> SPARC;
      case X86_64, GENERIC, GENERIC_32, I386, ARM, POWERPC, S390X, M68K -> GENERIC;
    };
  }

  /** {@code MAP_ANONYMOUS}. */
  long mapAnonymous() {
    return mapAnonymous;
  }

  /** {@code RLIMIT_NOFILE}. */
  int filesLimit() {
    return filesLimit;
  }

  /** Signals. */
  SignalNumbers signals() {
    return signals;
  }
}
