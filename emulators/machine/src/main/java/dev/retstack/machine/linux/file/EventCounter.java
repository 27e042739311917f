package dev.retstack.machine.linux.file;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCallException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A number that is added to by writing and taken by reading: {@code eventfd}. */
public final class EventCounter extends Anonymous {
  /** The highest count. */
  private static final long MOST = -2;

  private final ByteOrder order;
  private final boolean countsDown;
  private long count;
  private long changes;

  /**
   * @param countsDown true where a read takes 1, not all
   */
  public EventCounter(ByteOrder order, long first, boolean countsDown) {
    this.order = order;
    this.countsDown = countsDown;
    count = first;
  }

  @Override
  public int events() {
    return (count != 0 ? IN : 0) | (Long.compareUnsigned(count, MOST) < 0 ? OUT : 0);
  }

  @Override
  public long changes() {
    return changes;
  }

  @Override
  public int leastRead() {
    return Long.BYTES;
  }

  @Override
  public int read(byte[] into, int length) {
    long taken = countsDown ? 1 : count;
    ByteBuffer.wrap(into).order(order).putLong(0, taken);
    count -= taken;
    changes++;
    return Long.BYTES;
  }

  @Override
  public int write(byte[] bytes) {
    if (bytes.length < Long.BYTES) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long more = ByteBuffer.wrap(bytes).order(order).getLong(0);
    if (more == -1) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (Long.compareUnsigned(more, MOST - count) > 0) {
      return 0;
    }
    count += more;
    changes++;
    return Long.BYTES;
  }
}
