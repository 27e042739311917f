package dev.retstack.machine.linux.file;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCallException;
import java.io.IOException;

/**
 * A file without a name, made to be waited for: of {@code eventfd}, {@code epoll}, {@code timerfd}
 * and {@code signalfd}. What a kind of them does not have is EINVAL.
 */
abstract class Anonymous implements OpenFile {
  private static final int MODE = 0600;

  @Override
  public int mode() {
    return MODE;
  }

  @Override
  public boolean doesNotWait() {
    return false;
  }

  @Override
  public abstract int events();

  @Override
  public int read(byte[] into, int length) throws IOException {
    throw new SystemCallException(Errno.EINVAL);
  }

  @Override
  public long seek(long offset, int whence) {
    return 0;
  }

  @Override
  public int write(byte[] bytes) throws IOException {
    throw new SystemCallException(Errno.EINVAL);
  }
}
