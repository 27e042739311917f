package dev.retstack.fleet.linux;

import dev.retstack.fleet.isa.Errno;
import dev.retstack.fleet.memory.GuestMemory;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Time as a program sees it: the core's clock plus the time it slept. A sleep ends at once and
 * moves the program's clock, not the core's.
 */
final class TimeCalls {
  /** The wall clock starts here, so that runs are alike: 2000-01-01T00:00:00Z. */
  static final long EPOCH_SECONDS = 946_684_800L;

  private static final long SECOND_NS = 1_000_000_000L;
  private static final int CLOCK_REALTIME = 0;
  private static final int CLOCK_REALTIME_COARSE = 5;
  private static final int CLOCK_TAI = 11;
  private static final long TIMER_ABSTIME = 1;

  private final GuestMemory memory;
  private final LongSupplier coreNs;
  private long sleptNs;

  TimeCalls(GuestMemory memory, LongSupplier coreNs) {
    this.memory = memory;
    this.coreNs = coreNs;
  }

  void register(Map<String, SystemCall> calls) {
    int word = memory.wordBytes();
    calls.put("clock_gettime", a -> clockTime(a, word));
    calls.put("clock_gettime64", a -> clockTime(a, Long.BYTES));
    calls.put("clock_getres", a -> resolution(a, word));
    calls.put("clock_getres_time64", a -> resolution(a, Long.BYTES));
    calls.put("clock_nanosleep", a -> clockSleep(a, word));
    calls.put("clock_nanosleep_time64", a -> clockSleep(a, Long.BYTES));
    calls.put("nanosleep", a -> sleep(CLOCK_REALTIME, false, a[0], word));
    calls.put("gettimeofday", this::timeOfDay);
    calls.put("time", this::seconds);
  }

  private long now() {
    return coreNs.getAsLong() + sleptNs;
  }

  private long clockTime(long[] a, int field) {
    int clock = clock(a[0]);
    writeTime(a[1], baseSeconds(clock), now(), field);
    return 0;
  }

  private long resolution(long[] a, int field) {
    clock(a[0]);
    if (a[1] != 0) {
      writeTime(a[1], 0, 1, field);
    }
    return 0;
  }

  private long clockSleep(long[] a, int field) {
    return sleep(clock(a[0]), (a[1] & TIMER_ABSTIME) != 0, a[2], field);
  }

  private long sleep(int clock, boolean absolute, long request, int field) {
    long seconds = read(request, field);
    long second = read(request + field, field);
    // in 32-bit programs the other half is padding, which may hold anything
    long nanoseconds = memory.wordBytes() == Integer.BYTES ? (int) second : second;
    if (seconds < 0 || nanoseconds < 0 || nanoseconds >= SECOND_NS) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long base = absolute ? baseSeconds(clock) : 0;
    // A sleep of centuries must not turn time around.
    long wanted = Math.min(Math.max(0, seconds - base), 1L << 32) * SECOND_NS + nanoseconds;
    long more = absolute ? Math.max(0, wanted - now()) : wanted;
    sleptNs = Math.min(sleptNs + more, 1L << 62);
    return 0;
  }

  private long timeOfDay(long[] a) {
    if (a[0] != 0) {
      long now = now();
      memory.writeWord(a[0], EPOCH_SECONDS + now / SECOND_NS);
      memory.writeWord(a[0] + memory.wordBytes(), now % SECOND_NS / 1000);
    }
    return 0;
  }

  private long seconds(long[] a) {
    long now = EPOCH_SECONDS + now() / SECOND_NS;
    if (a[0] != 0) {
      memory.writeWord(a[0], now);
    }
    return now;
  }

  /** Writes seconds and nanoseconds, each as a number of {@code field} bytes. */
  private void writeTime(long address, long baseSeconds, long ns, int field) {
    write(address, baseSeconds + ns / SECOND_NS, field);
    write(address + field, ns % SECOND_NS, field);
  }

  private void write(long address, long value, int bytes) {
    if (bytes == Long.BYTES) {
      memory.writeLong(address, value);
    } else {
      memory.writeInt(address, (int) value);
    }
  }

  private long read(long address, int bytes) {
    return bytes == Long.BYTES ? memory.readLong(address) : memory.readInt(address);
  }

  private static long baseSeconds(int clock) {
    boolean wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
    return wall ? EPOCH_SECONDS : 0;
  }

  private static int clock(long number) {
    int clock = (int) number;
    if (clock < 0 || clock > CLOCK_TAI) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return clock;
  }
}
