package dev.retstack.machine.linux.file;

import dev.retstack.machine.linux.signal.VirtualTimer;
import dev.retstack.machine.linux.signal.VirtualTimers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A timer that is read: how often it has expired. */
public final class TimerFile extends Anonymous {
  private final ByteOrder order;
  private final VirtualTimers timers;
  private final VirtualTimer timer;
  private final long baseSeconds;

  /**
   * @param timer whose expirations are counted
   * @param baseSeconds where its clock begins
   */
  public TimerFile(ByteOrder order, VirtualTimers timers, VirtualTimer timer, long baseSeconds) {
    this.order = order;
    this.timers = timers;
    this.timer = timer;
    this.baseSeconds = baseSeconds;
  }

  public VirtualTimer timer() {
    return timer;
  }

  /** Where its clock begins. */
  public long baseSeconds() {
    return baseSeconds;
  }

  @Override
  public int events() {
    return timers.unread(timer) != 0 ? IN : 0;
  }

  @Override
  public long changes() {
    return timer.changes();
  }

  @Override
  public int leastRead() {
    return Long.BYTES;
  }

  @Override
  public int read(byte[] into, int length) {
    ByteBuffer.wrap(into).order(order).putLong(0, timers.unread(timer));
    timer.forget();
    return Long.BYTES;
  }

  @Override
  public void close() {
    timers.forget(timer);
  }
}
