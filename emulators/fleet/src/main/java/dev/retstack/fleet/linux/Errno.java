package dev.retstack.fleet.linux;

/** Error numbers of {@code asm-generic/errno.h}; a system call returns them negated. */
enum Errno {
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
  ENAMETOOLONG(36),
  ENOSYS(38),
  EPERM(1),
  ETIMEDOUT(110);

  private final int number;

  Errno(int number) {
    this.number = number;
  }

  /** What the system call returns. */
  long result() {
    return -number;
  }
}
