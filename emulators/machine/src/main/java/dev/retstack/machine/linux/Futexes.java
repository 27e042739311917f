package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Dialect.Signals;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Words of memory by which threads of one process wait for each other. A robust mutex is one whose
 * waiters learn that its owner has ended.
 */
final class Futexes {
  private static final int COMMAND = 0x7F;
  private static final int CLOCK_REALTIME = 0x100;
  private static final int WAIT = 0;
  private static final int WAKE = 1;
  private static final int REQUEUE = 3;
  private static final int CMP_REQUEUE = 4;
  private static final int WAKE_OP = 5;
  private static final int WAIT_BITSET = 9;
  private static final int WAKE_BITSET = 10;

  /** Word of a mutex: owner, whether others wait, and whether the owner has ended. */
  private static final int OWNER = 0x3FFF_FFFF;

  private static final int WAITERS = 0x8000_0000;
  private static final int OWNER_DIED = 0x4000_0000;

  /** Linux follows no longer list. */
  private static final int ROBUST_MOST = 2048;

  private final GuestMemory memory;
  private final Threads threads;
  private final BooleanSupplier waits;
  private final Consumer<LinuxEnd> end;

  /**
   * @param waits true where a wait may end in another way than by its time
   */
  Futexes(GuestMemory memory, Threads threads, BooleanSupplier waits, Consumer<LinuxEnd> end) {
    this.memory = memory;
    this.threads = threads;
    this.waits = waits;
    this.end = end;
  }

  void register(Map<String, SystemCall> calls) {
    int word = memory.wordBytes();
    calls.put("futex", a -> futex(a, word));
    calls.put("futex_time64", a -> futex(a, Long.BYTES));
  }

  private long futex(long[] a, int field) {
    int operation = (int) a[1];
    int count = (int) a[2];
    return switch (operation & COMMAND) {
      case WAIT -> await(a, Threads.ALL_BITS, field);
      case WAIT_BITSET -> await(a, bits(a[5]), field);
      case WAKE -> threads.wake(a[0], Math.max(1, count), Threads.ALL_BITS);
      case WAKE_BITSET -> threads.wake(a[0], Math.max(1, count), bits(a[5]));
      case REQUEUE -> requeue(a);
      case CMP_REQUEUE -> {
        requireValue(a[0], a[5]);
        yield requeue(a);
      }
      case WAKE_OP -> wakeByOperation(a);
      default -> {
        if (threads.many()) {
          throw new SystemCallException(Errno.ENOSYS);
        }
        yield 0; // nobody to wake
      }
    };
  }

  private static int bits(long value) {
    if ((int) value == 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return (int) value;
  }

  private void requireValue(long futex, long expected) {
    if (memory.readInt(futex) != (int) expected) {
      throw new SystemCallException(Errno.EAGAIN);
    }
  }

  private long await(long[] a, int bits, int field) {
    requireValue(a[0], a[2]);
    if (waits.getAsBoolean()) {
      boolean absolute = ((int) a[1] & COMMAND) == WAIT_BITSET;
      threads.await(a[0], bits, a[3] == 0 ? OptionalLong.empty() : until(a, absolute, field));
      return 0;
    }
    if (a[3] != 0) {
      throw new SystemCallException(Errno.ETIMEDOUT);
    }
    end.accept(
        new LinuxEnd.Killed(
            Signals.KILL, "the program waits for another thread for ever; there is only one"));
    return 0;
  }

  private OptionalLong until(long[] a, boolean absolute, int field) {
    boolean wall = ((int) a[1] & CLOCK_REALTIME) != 0;
    long base = absolute && wall ? TimeCalls.EPOCH_SECONDS : 0;
    long ns = TimeCalls.readTime(memory, a[3], field, base);
    return OptionalLong.of(absolute ? ns : threads.nowNs() + ns);
  }

  private long requeue(long[] a) {
    int most = (int) a[2];
    int moved = (int) a[3];
    if (most < 0 || moved < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long woken = threads.wake(a[0], most, Threads.ALL_BITS);
    return woken + threads.requeue(a[0], a[4], moved);
  }

  /** Changes another word, wakes who waits for the first, and by the old value also for that. */
  private long wakeByOperation(long[] a) {
    int code = (int) a[5];
    int operand = code << 8 >> 20;
    int compared = code << 20 >> 20;
    if ((code & 0x8000_0000) != 0) {
      operand = 1 << (operand & 31);
    }
    int before = memory.readInt(a[4]);
    memory.writeInt(
        a[4],
        switch (code >>> 28 & 7) {
          case 0 -> operand;
          case 1 -> before + operand;
          case 2 -> before | operand;
          case 3 -> before & ~operand;
          case 4 -> before ^ operand;
          default -> throw new SystemCallException(Errno.ENOSYS);
        });
    boolean alsoThat =
        switch (code >>> 24 & 15) {
          case 0 -> before == compared;
          case 1 -> before != compared;
          case 2 -> before < compared;
          case 3 -> before <= compared;
          case 4 -> before > compared;
          case 5 -> before >= compared;
          default -> throw new SystemCallException(Errno.ENOSYS);
        };
    long woken = threads.wake(a[0], Math.max(1, (int) a[2]), Threads.ALL_BITS);
    return alsoThat ? woken + threads.wake(a[4], Math.max(1, (int) a[3]), Threads.ALL_BITS) : woken;
  }

  /** What a thread leaves behind that ends: its word is cleared, and its robust mutexes are. */
  void end(GuestThread thread) {
    if (thread.robustList != 0) {
      orNot(() -> giveUpMutexes(thread));
    }
    if (thread.clearAtEnd != 0) {
      orNot(() -> memory.writeInt(thread.clearAtEnd, 0));
      threads.wake(thread.clearAtEnd, 1, Threads.ALL_BITS);
    }
  }

  /** A bad pointer keeps no thread from ending. */
  private static void orNot(Runnable step) {
    try {
      step.run();
    } catch (GuestAccessException e) {
      // as in Linux: the rest of the list is left alone
    }
  }

  private void giveUpMutexes(GuestThread thread) {
    int word = memory.wordBytes();
    long head = thread.robustList;
    long offset = memory.readWord(head + word);
    long entry = memory.readWord(head);
    for (int i = 0; i < ROBUST_MOST && entry != head; i++) {
      giveUpMutex(thread, entry + offset);
      entry = memory.readWord(entry) & -2L;
    }
    long pending = memory.readWord(head + 2L * word) & -2L;
    if (pending != 0) {
      giveUpMutex(thread, pending + offset);
    }
  }

  private void giveUpMutex(GuestThread thread, long mutex) {
    int value = memory.readInt(mutex);
    if ((value & OWNER) == thread.id()) {
      memory.writeInt(mutex, (value & WAITERS) | OWNER_DIED);
      threads.wake(mutex, (value & WAITERS) != 0 ? 1 : 0, Threads.ALL_BITS);
    }
  }
}
