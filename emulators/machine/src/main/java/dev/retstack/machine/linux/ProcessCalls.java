package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.file.FileTable;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.memory.GuestMemory;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** System calls about the process itself: identity, end, limits, random bytes. */
final class ProcessCalls {
  /** Id of the process. */
  static final long PROCESS = Threads.FIRST;

  /** User and group: root has more rights, programs may behave differently for it. */
  static final long USER = 1000;

  private static final long SECOND_NS = 1_000_000_000L;

  /** {@code AT_CLKTCK} is 100. */
  static final long TICK_NS = SECOND_NS / 100;

  /** Words of {@code struct rusage}: two times of two words each, and numbers. */
  private static final int USAGE_WORDS = 18;

  private static final int RUSAGE_CHILDREN = -1;
  private static final int UTS_FIELD_BYTES = 65;
  private static final int RANDOM_PIECE_BYTES = 4096;
  private static final int RLIMIT_STACK = 3;
  private static final int RLIMITS = 16;

  /** Places in {@code struct sysinfo}, in words of the program. */
  private static final long TOTAL_RAM_WORD = 4;

  private static final long FREE_RAM_WORD = 5;
  private static final long PROCESSES_WORD = 10;
  private static final long MEMORY_UNIT_WORD = 13;

  private static final long RLIM_INFINITY = -1;

  /** What "no limit" was in 32-bit programs when limits were signed. */
  private static final long INFINITY_BEFORE_UNSIGNED = 0x7FFF_FFFF;

  private final GuestMemory memory;
  private final LinuxOptions options;
  private final String platform;
  private final int filesLimit;
  private final SplittableRandom random;
  private final Threads threads;
  private final Consumer<LinuxEnd> end;

  /** What the program has set. */
  private final Map<Integer, Limit> limits = new HashMap<>();

  private record Limit(long soft, long hard) {}

  ProcessCalls(
      GuestMemory memory,
      LinuxOptions options,
      SyscallAbi abi,
      SplittableRandom random,
      Threads threads,
      Consumer<LinuxEnd> end) {
    this.memory = memory;
    this.options = options;
    this.platform = abi.platform();
    this.filesLimit = abi.dialect().filesLimit();
    this.random = random;
    this.threads = threads;
    this.end = end;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("exit_group", this::exit);
    calls.put("getpid", a -> PROCESS);
    calls.put("getpgrp", a -> PROCESS);
    for (String name : List.of("wait4", "waitpid", "waitid")) {
      calls.put(name, ProcessCalls::noChild);
    }
    calls.put("getppid", a -> 1);
    for (String name : new String[] {"getuid", "geteuid", "getgid", "getegid"}) {
      calls.put(name, a -> USER);
      calls.put(name + "32", a -> USER);
    }
    for (String name : List.of("setuid", "setgid", "setreuid", "setregid", "setresuid")) {
      calls.put(name, this::sameUser);
      calls.put(name + "32", this::sameUser);
    }
    calls.put("getpgid", a -> PROCESS);
    calls.put("getsid", a -> PROCESS);
    calls.put("setpgid", a -> 0);
    calls.put("getgroups", a -> 0);
    calls.put("getgroups32", a -> 0);
    calls.put("getpriority", a -> 20);
    calls.put("sched_getscheduler", a -> 0);
    calls.put("sched_getparam", this::zero);
    calls.put("sched_get_priority_max", a -> 0);
    calls.put("sched_get_priority_min", a -> 0);
    calls.put("times", this::times);
    calls.put("getrusage", this::usage);
    calls.put("uname", this::uname);
    calls.put("sysinfo", this::systemInformation);
    calls.put("prlimit64", this::limits);
    calls.put("setrlimit", this::setLimit);
    calls.put("getrlimit", a -> limitWords(a[0], a[1], INFINITY_BEFORE_UNSIGNED));
    calls.put("ugetrlimit", a -> limitWords(a[0], a[1], RLIM_INFINITY));
    calls.put("getrandom", this::randomBytes);
  }

  private static long noChild(long[] a) {
    throw new SystemCallException(Errno.ECHILD);
  }

  private long exit(long[] a) {
    end.accept(new LinuxEnd.Exited((int) a[0] & 0xFF));
    return 0;
  }

  /** Refuses to change the user. */
  private long sameUser(long[] a) {
    if ((int) a[0] != USER && (int) a[0] != -1) {
      throw new SystemCallException(Errno.EPERM);
    }
    return 0;
  }

  private long zero(long[] a) {
    memory.writeInt(a[1], 0);
    return 0;
  }

  /** All time is the program's own: one instruction is one nanosecond. */
  private long times(long[] a) {
    long ticks = threads.coreNs() / TICK_NS;
    if (a[0] != 0) {
      memory.write(a[0], new byte[4 * memory.wordBytes()]);
      memory.writeWord(a[0], ticks);
    }
    return threads.nowNs() / TICK_NS;
  }

  private long usage(long[] a) {
    memory.write(a[1], new byte[USAGE_WORDS * memory.wordBytes()]);
    if ((int) a[0] != RUSAGE_CHILDREN) {
      memory.writeWord(a[1], threads.coreNs() / SECOND_NS);
      memory.writeWord(a[1] + memory.wordBytes(), threads.coreNs() % SECOND_NS / 1000);
    }
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

  /** Memory in {@code struct sysinfo}: C libraries ask before they take much of it. */
  private long systemInformation(long[] a) {
    int word = memory.wordBytes();
    memory.write(a[0], new byte[word == Long.BYTES ? 112 : 64]);
    memory.writeWord(a[0] + TOTAL_RAM_WORD * word, options.memoryBytesMax());
    memory.writeWord(a[0] + FREE_RAM_WORD * word, options.memoryBytesMax());
    memory.writeShort(a[0] + PROCESSES_WORD * word, (short) 1);
    memory.writeInt(a[0] + MEMORY_UNIT_WORD * word, 1);
    return 0;
  }

  /** Limits as 64-bit numbers, whatever the word. */
  private long limits(long[] a) {
    Limit old = limit(a[1]);
    if (a[2] != 0) {
      limit(a[1], memory.readLong(a[2]), memory.readLong(a[2] + Long.BYTES));
    }
    if (a[3] != 0) {
      memory.writeLong(a[3], old.soft());
      memory.writeLong(a[3] + Long.BYTES, old.hard());
    }
    return 0;
  }

  private long setLimit(long[] a) {
    int word = memory.wordBytes();
    limit(a[0], fromWord(memory.readWord(a[1])), fromWord(memory.readWord(a[1] + word)));
    return 0;
  }

  private long fromWord(long value) {
    return memory.wordBytes() == Integer.BYTES && (int) value == -1 ? RLIM_INFINITY : value;
  }

  /** Keeps what the program asks for, and lowers nothing by it. */
  private void limit(long resource, long soft, long hard) {
    Limit old = limit(resource);
    if (Long.compareUnsigned(soft, hard) > 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    if (Long.compareUnsigned(hard, old.hard()) > 0) {
      throw new SystemCallException(Errno.EPERM);
    }
    limits.put((int) resource, new Limit(soft, hard));
  }

  private long limitWords(long resource, long address, long infinity) {
    long most = memory.wordBytes() == Long.BYTES ? RLIM_INFINITY : infinity;
    Limit limit = limit(resource);
    memory.writeWord(address, toWord(limit.soft(), most));
    memory.writeWord(address + memory.wordBytes(), toWord(limit.hard(), most));
    return 0;
  }

  private static long toWord(long value, long most) {
    return Long.compareUnsigned(value, most) > 0 ? most : value;
  }

  private Limit limit(long number) {
    int resource = (int) number;
    if (resource < 0 || resource >= RLIMITS) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long first =
        resource == filesLimit
            ? FileTable.DESCRIPTORS_MAX
            : resource == RLIMIT_STACK ? options.stackBytes() : RLIM_INFINITY;
    return limits.getOrDefault(resource, new Limit(first, first));
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
}
