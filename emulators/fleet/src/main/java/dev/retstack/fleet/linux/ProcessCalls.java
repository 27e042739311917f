package dev.retstack.fleet.linux;

import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.isa.Registers;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** System calls about the process itself: identity, end, limits, random bytes, its one thread. */
final class ProcessCalls {
  /** Process and thread id. */
  static final long PROCESS = 1000;

  /** User and group: root has more rights, programs may behave differently for it. */
  static final long USER = 1000;

  private static final int UTS_FIELD_BYTES = 65;
  private static final int RANDOM_PIECE_BYTES = 4096;
  private static final long ARCH_SET_FS = 0x1002;
  private static final long ARCH_GET_FS = 0x1003;
  private static final int RLIMIT_STACK = 3;
  private static final int RLIMIT_NOFILE = 7;
  private static final int RLIMITS = 16;
  private static final int FUTEX_COMMAND = 0x7F;
  private static final int FUTEX_WAIT = 0;
  private static final int FUTEX_WAIT_BITSET = 9;
  private static final int SIGKILL = 9;

  private final GuestMemory memory;
  private final LinuxOptions options;
  private final String platform;
  private final SplittableRandom random;
  private final Cpu cpu;
  private final int threadPointer;
  private final Consumer<LinuxEnd> end;

  ProcessCalls(
      GuestMemory memory,
      LinuxOptions options,
      String platform,
      SplittableRandom random,
      Cpu cpu,
      int threadPointer,
      Consumer<LinuxEnd> end) {
    this.memory = memory;
    this.options = options;
    this.platform = platform;
    this.random = random;
    this.cpu = cpu;
    this.threadPointer = threadPointer;
    this.end = end;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("exit", this::exit);
    calls.put("exit_group", this::exit);
    for (String name : new String[] {"getpid", "gettid", "set_tid_address", "getpgrp"}) {
      calls.put(name, a -> PROCESS);
    }
    calls.put("getppid", a -> 1);
    for (String name : new String[] {"getuid", "geteuid", "getgid", "getegid"}) {
      calls.put(name, a -> USER);
    }
    calls.put("uname", this::uname);
    calls.put("set_robust_list", a -> 0);
    // Known and not offered: C libraries ask at every start and go on without.
    calls.put(
        "rseq",
        a -> {
          throw new SystemCallException(Errno.ENOSYS);
        });
    calls.put("sched_yield", a -> 0);
    calls.put("sched_getaffinity", this::affinity);
    calls.put("prlimit64", a -> limit(a[1], a[2], a[3]));
    calls.put("getrlimit", a -> limit(a[0], 0, a[1]));
    calls.put("getrandom", this::randomBytes);
    calls.put("futex", this::futex);
    if (threadPointer != Registers.NONE) {
      calls.put("arch_prctl", this::archControl);
    }
  }

  private long exit(long[] a) {
    end.accept(new LinuxEnd.Exited((int) a[0] & 0xFF));
    return 0;
  }

  private long uname(long[] a) {
    String[] fields = {"Linux", "retstack", "6.1.0", "#1 retstack", platform, "(none)"};
    byte[] names = new byte[fields.length * UTS_FIELD_BYTES];
    for (int i = 0; i < fields.length; i++) {
      byte[] field = fields[i].getBytes(StandardCharsets.US_ASCII);
      System.arraycopy(field, 0, names, i * UTS_FIELD_BYTES, field.length);
    }
    memory.write(a[0], names);
    return 0;
  }

  private long affinity(long[] a) {
    if (a[1] < Long.BYTES) {
      throw new SystemCallException(Errno.EINVAL);
    }
    memory.writeLong(a[2], 1);
    return Long.BYTES;
  }

  private long limit(long resource, long wanted, long old) {
    if (resource < 0 || resource >= RLIMITS) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (wanted != 0) {
      throw new SystemCallException(Errno.EPERM);
    }
    if (old != 0) {
      long value =
          switch ((int) resource) {
            case RLIMIT_STACK -> options.stackBytes();
            case RLIMIT_NOFILE -> FileTable.DESCRIPTORS_MAX;
            default -> -1;
          };
      memory.writeLong(old, value);
      memory.writeLong(old + Long.BYTES, value);
    }
    return 0;
  }

  private long randomBytes(long[] a) {
    if (a[1] < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    // As Linux: a large request may be answered in part.
    int size = (int) Math.min(a[1], RANDOM_PIECE_BYTES);
    byte[] bytes = new byte[size];
    random.nextBytes(bytes);
    memory.write(a[0], bytes);
    return size;
  }

  /** There is one thread: nobody to wake, and nobody to be woken by. */
  private long futex(long[] a) {
    int command = (int) a[1] & FUTEX_COMMAND;
    if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) {
      return 0;
    }
    if (memory.readInt(a[0]) != (int) a[2]) {
      throw new SystemCallException(Errno.EAGAIN);
    }
    if (a[3] != 0) {
      throw new SystemCallException(Errno.ETIMEDOUT);
    }
    end.accept(
        new LinuxEnd.Killed(
            SIGKILL, "the program waits for another thread for ever; there is only one"));
    return 0;
  }

  private long archControl(long[] a) {
    if (a[0] == ARCH_SET_FS) {
      cpu.write(threadPointer, a[1]);
    } else if (a[0] == ARCH_GET_FS) {
      memory.writeLong(a[1], cpu.read(threadPointer));
    } else {
      throw new SystemCallException(Errno.EINVAL);
    }
    return 0;
  }
}
