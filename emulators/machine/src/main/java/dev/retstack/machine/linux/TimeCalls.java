package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Dialect.OpenFlags;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.file.FileTable;
import dev.retstack.machine.linux.file.TimerFile;
import dev.retstack.machine.linux.signal.Signals;
import dev.retstack.machine.linux.signal.VirtualTimer;
import dev.retstack.machine.linux.signal.VirtualTimers;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Time as a program sees it: the core's clock plus the time it slept. If no other thread can run, a
 * sleep ends at once and moves the program's clock, not the core's.
 */
final class TimeCalls {
  /** The wall clock starts here, so that runs are alike: 2000-01-01T00:00:00Z. */
  static final long EPOCH_SECONDS = 946_684_800L;

  private static final long SECOND_NS = 1_000_000_000L;
  private static final int CLOCK_REALTIME = 0;
  private static final int CLOCK_REALTIME_COARSE = 5;
  private static final int CLOCK_TAI = 11;
  private static final long TIMER_ABSTIME = 1;

  private static final long NO_MATTER = 0;

  private final GuestMemory memory;
  private final Threads threads;
  private final BooleanSupplier waits;

  /**
   * @param waits true where a wait may end in another way than by its time
   */
  TimeCalls(GuestMemory memory, Threads threads, BooleanSupplier waits) {
    this.memory = memory;
    this.threads = threads;
    this.waits = waits;
  }

  void register(Map<String, SystemCall> calls) {
    int word = memory.wordBytes();
    calls.put("clock_gettime", a -> clockTime(a, word));
    calls.put("clock_gettime64", a -> clockTime(a, Long.BYTES));
    calls.put("clock_getres", a -> resolution(a, word));
    calls.put("clock_getres_time64", a -> resolution(a, Long.BYTES));
    calls.put("clock_nanosleep", a -> clockSleep(a, word));
    calls.put("clock_nanosleep_time64", a -> clockSleep(a, Long.BYTES));
    calls.put("nanosleep", a -> sleep(CLOCK_REALTIME, false, a[0], a[1], word));
    calls.put("gettimeofday", this::timeOfDay);
    calls.put("time", this::seconds);
  }

  private long now() {
    return threads.nowNs();
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
    boolean absolute = (a[1] & TIMER_ABSTIME) != 0;
    return sleep(clock(a[0]), absolute, a[2], absolute ? NO_MATTER : a[3], field);
  }

  private long sleep(int clock, boolean absolute, long request, long rest, int field) {
    long wanted = readTime(memory, request, field, absolute ? baseSeconds(clock) : 0);
    long more = absolute ? Math.max(0, wanted - now()) : wanted;
    if (waits.getAsBoolean()) {
      long until = now() + more;
      threads.await(0, 0, OptionalLong.of(until));
      if (rest != 0) {
        threads.current().whenInterrupted(() -> writeRest(rest, until, field));
      }
    } else {
      threads.skip(more);
    }
    return 0;
  }

  /** A time of the program: nanoseconds since {@code base} seconds; a sleep of centuries is cut. */
  static long readTime(GuestMemory memory, long address, int field, long base) {
    long seconds = read(memory, address, field);
    long second = read(memory, address + field, field);
    // in 32-bit programs the other half is padding, which may hold anything
    long nanoseconds = memory.wordBytes() == Integer.BYTES ? (int) second : second;
    if (seconds < 0 || nanoseconds < 0 || nanoseconds >= SECOND_NS) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return Math.min(Math.max(0, seconds - base), 1L << 32) * SECOND_NS + nanoseconds;
  }

  /** A signal has ended a sleep. */
  private void writeRest(long address, long until, int field) {
    try {
      writeTime(address, 0, Math.max(0, until - now()), field);
    } catch (GuestAccessException e) {
      // the sleep is over all the same
    }
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
    writeTime(memory, address, baseSeconds, ns, field);
  }

  static void writeTime(GuestMemory memory, long address, long baseSeconds, long ns, int field) {
    write(memory, address, baseSeconds + ns / SECOND_NS, field);
    write(memory, address + field, ns % SECOND_NS, field);
  }

  private static void write(GuestMemory memory, long address, long value, int bytes) {
    if (bytes == Long.BYTES) {
      memory.writeLong(address, value);
    } else {
      memory.writeInt(address, (int) value);
    }
  }

  private static long read(GuestMemory memory, long address, int bytes) {
    return bytes == Long.BYTES ? memory.readLong(address) : memory.readInt(address);
  }

  static long baseSeconds(int clock) {
    boolean wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
    return wall ? EPOCH_SECONDS : 0;
  }

  static int clock(long number) {
    int clock = (int) number;
    if (clock < 0 || clock > CLOCK_TAI) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return clock;
  }

  /** System calls of timers, which count virtual time: one instruction is one nanosecond. */
  static final class TimerCalls {
    private static final long MICRO_NS = 1000;
    private static final int PROCESS_CPUTIME = 2;
    private static final int THREAD_CPUTIME = 3;
    private static final int SIGALRM = 14;

    /** Clocks of {@code timerfd}: REALTIME, MONOTONIC, BOOTTIME. */
    private static final Set<Integer> READ_CLOCKS = Set.of(0, 1, 7);

    /** Clocks that wake the machine, which takes a right: REALTIME_ALARM, BOOTTIME_ALARM. */
    private static final Set<Integer> WAKING_CLOCKS = Set.of(8, 9);

    /** {@code TFD_TIMER_CANCEL_ON_SET}: nobody sets the clock. */
    private static final int CANCEL_ON_SET = 2;

    /** {@code sigev_notify}. */
    private static final int SIGEV_SIGNAL = 0;

    private static final int SIGEV_NONE = 1;
    private static final int SIGEV_THREAD_ID = 4;

    private final GuestMemory memory;
    private final VirtualTimers timers;
    private final Threads threads;

    private final FileTable files;
    private final OpenFlags flags;

    /** Where the clock of a timer begins, in seconds; by its id. */
    private final Map<Integer, Long> bases = new HashMap<>();

    TimerCalls(
        GuestMemory memory, Signals signals, Threads threads, FileTable files, OpenFlags flags) {
      this.memory = memory;
      this.files = files;
      this.flags = flags;
      this.timers = signals.timers();
      this.threads = threads;
    }

    void register(Map<String, SystemCall> calls) {
      int word = memory.wordBytes();
      calls.put("alarm", this::alarm);
      calls.put("setitimer", this::setInterval);
      calls.put("getitimer", this::getInterval);
      calls.put("timer_create", this::create);
      calls.put("timer_settime", a -> set(a, word));
      calls.put("timer_settime64", a -> set(a, Long.BYTES));
      calls.put("timer_gettime", a -> get(a, word));
      calls.put("timer_gettime64", a -> get(a, Long.BYTES));
      calls.put("timer_getoverrun", a -> timer(a[0]).overruns());
      calls.put("timer_delete", this::delete);
      calls.put("timerfd_create", this::createFile);
      calls.put("timerfd_settime", a -> setFile(a, word));
      calls.put("timerfd_settime64", a -> setFile(a, Long.BYTES));
      calls.put("timerfd_gettime", a -> getFile(a, word));
      calls.put("timerfd_gettime64", a -> getFile(a, Long.BYTES));
    }

    private long left(VirtualTimer timer) {
      return timer.left(timers.now(timer));
    }

    private long alarm(long[] a) {
      VirtualTimer timer = timers.interval(VirtualTimers.REAL);
      long left = (left(timer) + SECOND_NS / 2) / SECOND_NS;
      left = left == 0 && left(timer) > 0 ? 1 : left;
      long seconds = a[0] & 0xffff_ffffL;
      timers.set(timer, seconds == 0 ? 0 : timers.now(timer) + seconds * SECOND_NS, 0);
      return left;
    }

    private VirtualTimer interval(long which) {
      int index = (int) which;
      if (index < VirtualTimers.REAL || index > VirtualTimers.PROF) {
        throw new SystemCallException(Errno.EINVAL);
      }
      return timers.interval(index);
    }

    private long setInterval(long[] a) {
      VirtualTimer timer = interval(a[0]);
      int pair = 2 * memory.wordBytes();
      long every = a[1] == 0 ? 0 : micros(a[1]);
      long first = a[1] == 0 ? 0 : micros(a[1] + pair);
      if (a[2] != 0) {
        write(timer, a[2]);
      }
      timers.set(timer, first == 0 ? 0 : timers.now(timer) + first, every);
      return 0;
    }

    private long getInterval(long[] a) {
      write(interval(a[0]), a[1]);
      return 0;
    }

    private void write(VirtualTimer timer, long address) {
      int word = memory.wordBytes();
      writeMicros(address, timer.interval());
      writeMicros(address + 2L * word, left(timer));
    }

    private void writeMicros(long address, long ns) {
      memory.writeWord(address, ns / SECOND_NS);
      memory.writeWord(address + memory.wordBytes(), (ns % SECOND_NS + MICRO_NS - 1) / MICRO_NS);
    }

    private long micros(long address) {
      int word = memory.wordBytes();
      long seconds = word == Long.BYTES ? memory.readLong(address) : memory.readInt(address);
      long micros =
          word == Long.BYTES ? memory.readLong(address + word) : memory.readInt(address + word);
      if (seconds < 0 || micros < 0 || micros >= SECOND_NS / MICRO_NS) {
        throw new SystemCallException(Errno.EINVAL);
      }
      return Math.min(seconds, Integer.MAX_VALUE) * SECOND_NS + micros * MICRO_NS;
    }

    private long create(long[] a) {
      int clock = clock(a[0]);
      boolean ofProcessor = clock == PROCESS_CPUTIME || clock == THREAD_CPUTIME;
      long value = timers.nextId();
      int signal = SIGALRM;
      int notify = SIGEV_SIGNAL;
      GuestThread target = null;
      int word = memory.wordBytes();
      if (a[1] != 0) {
        value = memory.readWord(a[1]);
        signal = memory.readInt(a[1] + word);
        notify = memory.readInt(a[1] + word + Integer.BYTES);
      }
      if (notify == SIGEV_THREAD_ID) {
        long id = memory.readInt(a[1] + word + 2L * Integer.BYTES);
        target = threads.find(id).orElse(null);
      }
      boolean known = notify == SIGEV_SIGNAL || notify == SIGEV_NONE || target != null;
      if (!known || (notify != SIGEV_NONE && (signal < 1 || signal > Long.SIZE))) {
        throw new SystemCallException(Errno.EINVAL);
      }
      memory.writeInt(a[2], timers.nextId());
      if (timers.create(ofProcessor, notify == SIGEV_NONE ? 0 : signal, value, target) == null) {
        throw new SystemCallException(Errno.EAGAIN);
      }
      bases.put(timers.nextId() - 1, baseSeconds(clock));
      return 0;
    }

    private VirtualTimer timer(long id) {
      VirtualTimer timer = timers.created((int) id);
      if (timer == null) {
        throw new SystemCallException(Errno.EINVAL);
      }
      return timer;
    }

    private long set(long[] a, int field) {
      return set(timer(a[0]), bases.get((int) a[0]), a, field);
    }

    private long set(VirtualTimer timer, long clockBase, long[] a, int field) {
      boolean absolute = ((int) a[1] & TIMER_ABSTIME) != 0;
      long base = absolute ? clockBase : 0;
      long every = readTime(memory, a[2], field, 0);
      boolean on = readTime(memory, a[2] + 2L * field, field, 0) != 0;
      long first = readTime(memory, a[2] + 2L * field, field, base);
      if (a[3] != 0) {
        write(timer, a[3], field);
      }
      long at = absolute ? Math.max(1, first) : timers.now(timer) + first;
      timers.set(timer, on ? at : 0, every);
      return 0;
    }

    private void write(VirtualTimer timer, long address, int field) {
      writeTime(memory, address, 0, timer.interval(), field);
      writeTime(memory, address + 2L * field, 0, left(timer), field);
    }

    private long get(long[] a, int field) {
      write(timer(a[0]), a[1], field);
      return 0;
    }

    private long createFile(long[] a) throws IOException {
      int clock = (int) a[0];
      int how = (int) a[1];
      boolean isKnown = READ_CLOCKS.contains(clock) || WAKING_CLOCKS.contains(clock);
      if (!isKnown || (how & ~(flags.closeOnExec() | flags.nonBlocking())) != 0) {
        throw new SystemCallException(Errno.EINVAL);
      }
      if (WAKING_CLOCKS.contains(clock)) {
        throw new SystemCallException(Errno.EPERM);
      }
      VirtualTimer timer = timers.createRead();
      return files.add(
          new TimerFile(memory.order(), timers, timer, TimeCalls.baseSeconds(clock)), how | 2);
    }

    private TimerFile file(long descriptor) {
      if (files.get(descriptor) instanceof TimerFile file) {
        file.events(); // what has expired by now is counted
        return file;
      }
      throw new SystemCallException(Errno.EINVAL);
    }

    private long setFile(long[] a, int field) {
      if (((int) a[1] & ~(TIMER_ABSTIME | CANCEL_ON_SET)) != 0) {
        throw new SystemCallException(Errno.EINVAL);
      }
      TimerFile file = file(a[0]);
      return set(file.timer(), file.baseSeconds(), a, field);
    }

    private long getFile(long[] a, int field) {
      write(file(a[0]).timer(), a[1], field);
      return 0;
    }

    private long delete(long[] a) {
      timer(a[0]);
      timers.delete((int) a[0]);
      bases.remove((int) a[0]);
      return 0;
    }
  }
}
