package dev.retstack.machine.isa.system;

/**
 * Error numbers of system calls. Up to 34 they are the same everywhere ({@code
 * asm-generic/errno-base.h}). Above that a {@link Dialect} may have other numbers.
 */
public enum Errno {
  EPERM(1),
  ENOENT(2),
  ESRCH(3),
  EINTR(4),
  EIO(5),
  ENXIO(6),
  E2BIG(7),
  EBADF(9),
  ECHILD(10),
  EAGAIN(11),
  ENOMEM(12),
  EACCES(13),
  EFAULT(14),
  EEXIST(17),
  EXDEV(18),
  ENODEV(19),
  ENOTDIR(20),
  EISDIR(21),
  EINVAL(22),
  EMFILE(24),
  ENOTTY(25),
  ENOSPC(28),
  ESPIPE(29),
  EROFS(30),
  EPIPE(32),
  ERANGE(34),
  ENAMETOOLONG(36),
  ENOSYS(38),
  ENOTEMPTY(39),
  ELOOP(40),
  ETIMEDOUT(110);

  /** The last one of {@code asm-generic/errno-base.h}. */
  private static final int ALIKE_UP_TO = 34;

  private final int generic;

  Errno(int generic) {
    this.generic = generic;
  }

  /** The number of {@code asm-generic/errno.h}. */
  public int generic() {
    return generic;
  }

  /** True where architectures number it differently. */
  boolean differs() {
    return generic > ALIKE_UP_TO;
  }

  /** What a system call returns in the generic dialect. */
  public long result() {
    return -generic;
  }
}
