package dev.retstack.machine.linux;

import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.machine.isa.system.SyscallAbi.CloneAbi;
import dev.retstack.machine.linux.call.Cpu;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.signal.Signals;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.memory.GuestMemory;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * System calls of a thread: its start, its identity, its end, and the place of its thread-local
 * variables. A register names that place. If a program cannot set the register, its architecture
 * has a system call that does.
 */
final class ThreadCalls {
  private static final long ARCH_SET_FS = 0x1002;
  private static final long ARCH_GET_FS = 0x1003;

  private final GuestMemory memory;
  private final Cpu cpu;
  private final SyscallAbi abi;
  private final int register;
  private final Threads threads;
  private final Futexes futexes;
  private final CloneCalls clone;
  private final Signals signals;
  private final Consumer<LinuxEnd> end;

  /** Exit code of the first thread, where others continued. */
  private int code;

  /**
   * @param register that Linux sets, or {@link Registers#NONE}
   */
  ThreadCalls(
      GuestMemory memory,
      Cpu cpu,
      SyscallAbi abi,
      int register,
      Threads threads,
      Futexes futexes,
      Signals signals,
      Consumer<String> unsupported,
      Consumer<LinuxEnd> end) {
    this.memory = memory;
    this.cpu = cpu;
    this.abi = abi;
    this.register = register;
    this.threads = threads;
    this.futexes = futexes;
    this.signals = signals;
    clone = new CloneCalls(memory, abi, threads, signals, unsupported);
    this.end = end;
  }

  void register(Map<String, SystemCall> calls) {
    clone.register(calls);
    calls.put("exit", this::exit);
    calls.put("gettid", a -> threads.current().id());
    calls.put("set_tid_address", this::clearAtEnd);
    calls.put("set_robust_list", this::robustList);
    // Known and not offered: C libraries ask at every start and continue without.
    calls.put(
        "rseq",
        a -> {
          throw new SystemCallException(Errno.ENOSYS);
        });
    calls.put("sched_yield", this::giveWay);
    calls.put("sched_getaffinity", this::affinity);
    calls.put("set_tls", a -> set(a[0]));
    if (abi.descriptorTable().isPresent()) {
      long table = abi.descriptorTable().getAsLong();
      SegmentDescriptors segments = new SegmentDescriptors(memory, table);
      calls.put(
          "set_thread_area",
          a -> {
            segments.set(a[0]);
            threads.current().storagePointer = SegmentDescriptors.base(memory, a[0]);
            return 0;
          });
    } else if (abi.archControl()) {
      calls.put("arch_prctl", this::archControl);
    } else {
      calls.put("set_thread_area", a -> set(a[0]));
      calls.put("get_thread_area", a -> threads.current().storagePointer);
    }
  }

  private long set(long value) {
    threads.current().storagePointer = value;
    if (register != Registers.NONE) {
      cpu.write(register, value);
    }
    return 0;
  }

  private long archControl(long[] a) {
    if (a[0] == ARCH_SET_FS) {
      return set(a[1]);
    }
    if (a[0] != ARCH_GET_FS) {
      throw new SystemCallException(Errno.EINVAL);
    }
    memory.writeLong(a[1], cpu.read(register));
    return 0;
  }

  private long affinity(long[] a) {
    int word = memory.wordBytes();
    if (Long.compareUnsigned(a[1], word) < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    memory.writeWord(a[2], 1);
    return word;
  }

  private long giveWay(long[] a) {
    threads.giveWay();
    return 0;
  }

  private long clearAtEnd(long[] a) {
    threads.current().clearAtEnd = a[0];
    return threads.current().id();
  }

  private long robustList(long[] a) {
    threads.current().robustList = a[0];
    return 0;
  }

  /** Ends a thread. The last one ends the process, with the code of the first one. */
  private long exit(long[] a) {
    GuestThread thread = threads.current();
    boolean isFirst = thread.id() == Threads.FIRST;
    code = isFirst ? (int) a[0] & 0xFF : code;
    if (threads.all().size() == 1) {
      end.accept(new LinuxEnd.Exited(code));
      return 0;
    }
    futexes.end(thread);
    signals.ended(thread);
    threads.end();
    return 0;
  }

  /**
   * System calls that start a thread. It begins behind the system call, as its starter continues,
   * with the result 0. The registers are the core's business, when the call is over.
   */
  private static final class CloneCalls {
    private static final long CLONE_VM = 0x100;
    private static final long CLONE_SIGHAND = 0x800;
    private static final long CLONE_VFORK = 0x4000;
    private static final long CLONE_THREAD = 0x1_0000;
    private static final long CLONE_SETTLS = 0x8_0000;
    private static final long CLONE_PARENT_SETTID = 0x10_0000;
    private static final long CLONE_CHILD_CLEARTID = 0x20_0000;
    private static final long CLONE_CHILD_SETTID = 0x100_0000;

    /** What a thread shares with its process. */
    private static final long SHARED = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;

    /** Fields of {@code struct clone_args}, which are numbers of 64 bits. */
    private static final int CHILD_TID = 2;

    private static final int PARENT_TID = 3;
    private static final int STACK = 5;
    private static final int STACK_SIZE = 6;
    private static final int TLS = 7;
    private static final int FIELDS = 8;

    private final GuestMemory memory;
    private final CloneAbi abi;
    private final Threads threads;
    private final Signals signals;
    private final Consumer<String> unsupported;

    CloneCalls(
        GuestMemory memory,
        SyscallAbi abi,
        Threads threads,
        Signals signals,
        Consumer<String> unsupported) {
      this.signals = signals;
      this.memory = memory;
      this.abi = abi.threads();
      this.threads = threads;
      this.unsupported = unsupported;
    }

    void register(Map<String, SystemCall> calls) {
      calls.put(
          "clone",
          a ->
              start(
                  "clone",
                  a[abi.flags()],
                  a[abi.stack()],
                  a[abi.parentTid()],
                  a[abi.childTid()],
                  a[abi.tls()]));
      calls.put("clone3", this::clone3);
    }

    private long clone3(long[] a) {
      if (Long.compareUnsigned(a[1], FIELDS * Long.BYTES) < 0) {
        throw new SystemCallException(Errno.EINVAL);
      }
      long[] f = new long[FIELDS];
      for (int i = 0; i < FIELDS; i++) {
        f[i] = memory.readLong(a[0] + (long) i * Long.BYTES);
      }
      long stack = f[STACK] == 0 ? 0 : f[STACK] + f[STACK_SIZE];
      return start("clone3", f[0], stack, f[PARENT_TID], f[CHILD_TID], f[TLS]);
    }

    private long start(
        String name, long flags, long stack, long parentTid, long childTid, long tls) {
      if ((flags & SHARED) != SHARED || !abi.started() || !threads.mayStart()) {
        // a separate process, or an ISA or a core without threads
        String process = (flags & CLONE_VFORK) != 0 ? "vfork (%s)" : "fork (%s)";
        unsupported.accept((flags & CLONE_THREAD) == 0 ? process.formatted(name) : name);
        throw new SystemCallException(Errno.ENOSYS);
      }
      requireWord(flags, CLONE_PARENT_SETTID, parentTid);
      requireWord(flags, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID, childTid);
      OptionalLong storage =
          (flags & CLONE_SETTLS) != 0 ? OptionalLong.of(place(tls)) : OptionalLong.empty();
      GuestThread child = threads.start(stack, storage);
      if (child == null) {
        throw new SystemCallException(Errno.EAGAIN);
      }
      signals.started(child);
      child.storagePointer = storage.orElse(threads.current().storagePointer);
      if ((flags & CLONE_PARENT_SETTID) != 0) {
        memory.writeInt(parentTid, (int) child.id());
      }
      if ((flags & CLONE_CHILD_SETTID) != 0) {
        memory.writeInt(childTid, (int) child.id());
      }
      child.clearAtEnd = (flags & CLONE_CHILD_CLEARTID) != 0 ? childTid : 0;
      return child.id();
    }

    private long place(long tls) {
      return abi.segment().isPresent() ? SegmentDescriptors.base(memory, tls) : tls;
    }

    /** Before anything is done: a bad pointer starts no thread. */
    private void requireWord(long flags, long asked, long address) {
      if ((flags & asked) != 0) {
        memory.writeInt(address, memory.readInt(address));
      }
    }
  }
}
