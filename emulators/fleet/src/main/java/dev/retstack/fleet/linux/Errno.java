package dev.retstack.fleet.linux;

/**
 * Error numbers: {@code asm-generic/errno-base.h} up to 34, alike everywhere; above it {@code
 * asm/errno.h} of mips and sparc and {@code asm-generic/errno.h} of all others.
 */
enum Errno {
  EPERM(1),
  ENOENT(2),
  ESRCH(3),
  EIO(5),
  E2BIG(7),
  EBADF(9),
  EAGAIN(11),
  ENOMEM(12),
  EACCES(13),
  EFAULT(14),
  EEXIST(17),
  ENODEV(19),
  EINVAL(22),
  EMFILE(24),
  ENOTTY(25),
  ESPIPE(29),
  ERANGE(34),
  ENAMETOOLONG(36, 78, 63),
  ENOSYS(38, 89, 90),
  ETIMEDOUT(110, 145, 60);

  private final int generic;
  private final int mips;
  private final int sparc;

  Errno(int everywhere) {
    this(everywhere, everywhere, everywhere);
  }

  Errno(int generic, int mips, int sparc) {
    this.generic = generic;
    this.mips = mips;
    this.sparc = sparc;
  }

  /** The number in a dialect. */
  int number(Dialect dialect) {
    return switch (dialect) {
      case GENERIC -> generic;
      case MIPS -> mips;
      case SPARC -> sparc;
    };
  }

  /** What a system call returns in the generic dialect. */
  long result() {
    return -generic;
  }
}
