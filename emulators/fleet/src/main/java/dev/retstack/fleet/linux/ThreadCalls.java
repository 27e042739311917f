package dev.retstack.fleet.linux;

import dev.retstack.fleet.isa.Dialect.Signals;
import dev.retstack.fleet.isa.Errno;
import dev.retstack.fleet.isa.Registers;
import dev.retstack.fleet.isa.SyscallAbi;
import dev.retstack.fleet.memory.GuestMemory;
import java.util.Map;
import java.util.function.Consumer;

/**
 * System calls of the one thread: its identity, futexes, and the place of its own variables. A
 * register names that place. If a program cannot set the register, its architecture has a system
 * call that does.
 */
final class ThreadCalls {
  private static final long ARCH_SET_FS = 0x1002;
  private static final long ARCH_GET_FS = 0x1003;

  private static final int FUTEX_COMMAND = 0x7F;
  private static final int FUTEX_WAIT = 0;
  private static final int FUTEX_WAIT_BITSET = 9;

  private final GuestMemory memory;
  private final Cpu cpu;
  private final SyscallAbi abi;
  private final int register;
  private final Consumer<LinuxEnd> end;
  private long pointer;

  /**
   * @param register that Linux sets, or {@link Registers#NONE}
   */
  ThreadCalls(GuestMemory memory, Cpu cpu, SyscallAbi abi, int register, Consumer<LinuxEnd> end) {
    this.memory = memory;
    this.cpu = cpu;
    this.abi = abi;
    this.register = register;
    this.end = end;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("gettid", a -> ProcessCalls.PROCESS);
    calls.put("set_tid_address", a -> ProcessCalls.PROCESS);
    calls.put("set_robust_list", a -> 0);
    // Known and not offered: C libraries ask at every start and go on without.
    calls.put(
        "rseq",
        a -> {
          throw new SystemCallException(Errno.ENOSYS);
        });
    calls.put("sched_yield", a -> 0);
    calls.put("sched_getaffinity", this::affinity);
    calls.put("futex", this::futex);
    calls.put("futex_time64", this::futex);
    calls.put("set_tls", a -> set(a[0]));
    if (abi.descriptorTable().isPresent()) {
      long table = abi.descriptorTable().getAsLong();
      SegmentDescriptors segments = new SegmentDescriptors(memory, table);
      calls.put("set_thread_area", a -> segments.set(a[0]));
    } else if (abi.archControl()) {
      calls.put("arch_prctl", this::archControl);
    } else {
      calls.put("set_thread_area", a -> set(a[0]));
      calls.put("get_thread_area", a -> pointer);
    }
  }

  private long set(long value) {
    pointer = value;
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
            Signals.KILL, "the program waits for another thread for ever; there is only one"));
    return 0;
  }
}
