package dev.retstack.machine.linux.file;

import dev.retstack.machine.linux.signal.SignalInfo;
import dev.retstack.machine.linux.signal.Signals;
import java.util.Optional;

/** The signals that wait for a reader: {@code struct signalfd_siginfo} for each. */
public final class SignalFile extends Anonymous {
  private final Signals signals;
  private long mask;

  /**
   * @param mask signals that it reports
   */
  public SignalFile(Signals signals, long mask) {
    this.signals = signals;
    mask(mask);
  }

  /** Reports these signals from now on. */
  public void mask(long value) {
    mask = value;
    signals.watch(this, value);
  }

  @Override
  public int events() {
    return signals.isThere(mask) ? IN : 0;
  }

  @Override
  public long changes() {
    return signals.sent();
  }

  @Override
  public int leastRead() {
    return SignalInfo.BYTES;
  }

  @Override
  public int read(byte[] into, int length) {
    int done = 0;
    while (done + SignalInfo.BYTES <= length) {
      Optional<SignalInfo> next = signals.take(mask);
      if (next.isEmpty()) {
        break;
      }
      byte[] told = signals.layout().read(next.get());
      System.arraycopy(told, 0, into, done, told.length);
      done += told.length;
    }
    return done;
  }

  @Override
  public void close() {
    signals.watch(this, 0);
  }
}
