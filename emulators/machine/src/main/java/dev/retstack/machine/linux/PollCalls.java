package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.file.EventCounter;
import dev.retstack.machine.linux.file.FileTable;
import dev.retstack.machine.linux.file.OpenFile;
import dev.retstack.machine.linux.file.Pipe;
import dev.retstack.machine.linux.file.SignalFile;
import dev.retstack.machine.linux.signal.Signals;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.memory.GuestMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** System calls that wait for several files, and those that make files to wait for. */
final class PollCalls {
  private static final int POLL_BYTES = 8;
  private static final int EVENTS_AT = 4;
  private static final int REVENTS_AT = 6;
  private static final int INVALID = 32;

  /** POLLERR and POLLHUP: reported whether asked for or not. */
  private static final int ALWAYS = OpenFile.ERROR | OpenFile.HANG_UP;

  private static final int SETS = 3;

  /** Which events each set of {@code select} is for. */
  private static final int[] OF_SET = {OpenFile.IN | ALWAYS, OpenFile.OUT | OpenFile.ERROR, 0};

  private static final long MILLI_NS = 1_000_000;
  private static final long MICRO_NS = 1_000;
  private static final int EFD_SEMAPHORE = 1;
  private static final int AF_UNIX = 1;

  /** In {@code socketcall}. */
  private static final int SOCKET_PAIR = 8;

  private static final int SOCKET_KIND = 0xF;

  private final GuestMemory memory;
  private final FileTable files;
  private final Threads threads;
  private final Signals signals;
  private final FileWaits waits;
  private final Dialect dialect;
  private final boolean runsHandlers;

  PollCalls(
      GuestMemory memory,
      FileTable files,
      Threads threads,
      Signals signals,
      FileWaits waits,
      Dialect dialect,
      boolean runsHandlers) {
    this.memory = memory;
    this.files = files;
    this.threads = threads;
    this.signals = signals;
    this.waits = waits;
    this.dialect = dialect;
    this.runsHandlers = runsHandlers;
  }

  /**
   * @param unsupported hears what the program asked for in vain
   */
  void register(Map<String, SystemCall> calls, Consumer<String> unsupported) {
    int word = memory.wordBytes();
    calls.put("poll", a -> poll(a, millis(a[2]), 0));
    calls.put("ppoll", a -> poll(a, time(a[2], word, 1), a[3]));
    calls.put("ppoll_time64", a -> poll(a, time(a[2], Long.BYTES, 1), a[3]));
    SystemCall select = a -> select(a, time(a[4], word, MICRO_NS), 0);
    calls.put("select", select);
    calls.put("_newselect", select);
    calls.put("pselect6", a -> select(a, time(a[4], word, 1), maskOf(a[5])));
    calls.put("pselect6_time64", a -> select(a, time(a[4], Long.BYTES, 1), maskOf(a[5])));
    calls.put("eventfd", a -> counter(a[0], 0));
    calls.put("eventfd2", a -> counter(a[0], (int) a[1]));
    if (!dialect.pipeInRegisters()) {
      calls.put("pipe", a -> pipe(a[0], 0));
    }
    calls.put("pipe2", a -> pipe(a[0], (int) a[1]));
    if (runsHandlers) {
      calls.put("signalfd", a -> signals(a, 0));
      calls.put("signalfd4", a -> signals(a, (int) a[3]));
    }
    calls.put("socketpair", this::socketPair);
    calls.put("socketcall", a -> socketCall(a, unsupported));
  }

  /** A time from now; empty for one that is negative: without a limit. */
  OptionalLong millis(long wanted) {
    return (int) wanted < 0 ? OptionalLong.empty() : in((int) wanted * MILLI_NS);
  }

  private OptionalLong in(long ns) {
    return OptionalLong.of(threads.nowNs() + ns);
  }

  /** A time from now in memory; empty where there is none. */
  OptionalLong time(long address, int field, long unit) {
    if (address == 0) {
      return OptionalLong.empty();
    }
    if (unit == 1) {
      return in(TimeCalls.readTime(memory, address, field, 0));
    }
    long seconds = memory.readWord(address);
    long micros = memory.readWord(address + field);
    if (seconds < 0 || micros < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return in(Math.min(seconds, 1L << 32) * 1_000_000_000L + Math.min(micros, 1L << 40) * unit);
  }

  /** {@code pselect6} has mask and size behind a pointer. */
  private long maskOf(long address) {
    return address == 0 ? 0 : memory.readWord(address);
  }

  /**
   * A question about files.
   *
   * @param look how many files are ready
   * @param tell writes which, and returns what the system call does
   */
  record Question(Looks look, FileWaits.Rest tell) {
    @FunctionalInterface
    interface Looks {
      boolean any();
    }
  }

  /**
   * Waits until files are ready.
   *
   * @param until when it is too late; empty: never
   * @param mask address of the mask of signals meanwhile; 0: that of the thread
   */
  long ask(Question question, OptionalLong until, long mask) throws IOException {
    boolean isOver = until.isPresent() && until.getAsLong() <= threads.nowNs();
    if (question.look.any() || (isOver && mask == 0)) {
      return question.tell.go();
    }
    if (mask != 0 && runsHandlers) {
      pause(until, memory.readSet(mask));
    }
    return waits.await(question.look::any, until, question.tell, question.tell);
  }

  private long poll(long[] a, OptionalLong until, long mask) throws IOException {
    if (Long.compareUnsigned(a[1], FileTable.DESCRIPTORS_MAX) > 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    int count = (int) a[1];
    if (count == 0 && runsHandlers) {
      return pause(until, mask == 0 ? signals.current().mask : memory.readSet(mask));
    }
    int[] wanted = new int[count];
    int[] descriptors = new int[count];
    for (int i = 0; i < count; i++) {
      long at = a[0] + (long) i * POLL_BYTES;
      descriptors[i] = memory.readInt(at);
      wanted[i] = memory.readShort(at + EVENTS_AT);
      memory.writeShort(at + REVENTS_AT, (short) 0);
    }
    Question question =
        new Question(
            () -> {
              for (int i = 0; i < count; i++) {
                if (events(descriptors[i], wanted[i]) != 0) {
                  return true;
                }
              }
              return false;
            },
            () -> {
              int ready = 0;
              for (int i = 0; i < count; i++) {
                int events = events(descriptors[i], wanted[i]);
                memory.writeShort(a[0] + (long) i * POLL_BYTES + REVENTS_AT, (short) events);
                ready += events != 0 ? 1 : 0;
              }
              return ready;
            });
    return ask(question, until, mask);
  }

  /** Without descriptors: C libraries pause so where there is no {@code pause}. */
  private long pause(OptionalLong until, long mask) {
    signals.suspend(mask, until);
    if (!threads.current().waits()) {
      throw new SystemCallException(Errno.EINTR);
    }
    return 0;
  }

  private int events(int descriptor, int wanted) {
    if (descriptor < 0) {
      return 0;
    }
    return files.isOpen(descriptor) ? files.get(descriptor).events() & (wanted | ALWAYS) : INVALID;
  }

  private long select(long[] a, OptionalLong until, long mask) throws IOException {
    int count = (int) a[0];
    if (count < 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    int most = Math.min(count, FileTable.DESCRIPTORS_MAX);
    List<int[]> wanted = new ArrayList<>();
    for (int set = 0; set < SETS; set++) {
      for (int fd = 0; a[1 + set] != 0 && fd < most; fd++) {
        if (isIn(a[1 + set], fd)) {
          files.get(fd);
          wanted.add(new int[] {set, fd});
        }
      }
    }
    Question question =
        new Question(
            () -> wanted.stream().anyMatch(one -> events(one) != 0),
            () -> {
              for (int set = 0; set < SETS; set++) {
                clear(a[1 + set], most);
              }
              int ready = 0;
              for (int[] one : wanted) {
                if (events(one) != 0) {
                  add(a[1 + one[0]], one[1]);
                  ready++;
                }
              }
              return ready;
            });
    return ask(question, until, mask);
  }

  private int events(int[] one) {
    return files.isOpen(one[1]) ? files.get(one[1]).events() & OF_SET[one[0]] : 0;
  }

  /** A set is words, whose lowest bit comes first. */
  private long wordOf(long set, int fd) {
    long word = memory.wordBytes();
    return set + fd / (8 * word) * word;
  }

  private long bitOf(int fd) {
    return 1L << fd % (8 * memory.wordBytes());
  }

  private boolean isIn(long set, int fd) {
    return (memory.readWord(wordOf(set, fd)) & bitOf(fd)) != 0;
  }

  private void clear(long set, int count) {
    for (int fd = 0; set != 0 && fd < count; fd += 8 * memory.wordBytes()) {
      memory.writeWord(wordOf(set, fd), 0);
    }
  }

  private void add(long set, int fd) {
    memory.writeWord(wordOf(set, fd), memory.readWord(wordOf(set, fd)) | bitOf(fd));
  }

  private long counter(long first, int how) throws IOException {
    boolean countsDown = (how & EFD_SEMAPHORE) != 0;
    return files.add(
        new EventCounter(memory.order(), first & 0xFFFF_FFFFL, countsDown),
        (how & ~EFD_SEMAPHORE) | 2);
  }

  /** Makes a file that reports signals, or gives one other signals. */
  private long signals(long[] a, int how) throws IOException {
    boolean isKnown = (how & ~(dialect.open().closeOnExec() | dialect.open().nonBlocking())) == 0;
    if (!isKnown || a[2] != dialect.signals().maskBytes()) {
      throw new SystemCallException(Errno.EINVAL);
    }
    long mask = memory.readSet(a[1]);
    mask &= ~(1L << (Dialect.Signals.KILL - 1) | 1L << (dialect.signals().stop() - 1));
    if ((int) a[0] == -1) {
      return files.add(new SignalFile(signals, mask), how | 2);
    }
    if (files.get(a[0]) instanceof SignalFile file) {
      file.mask(mask);
      return (int) a[0];
    }
    throw new SystemCallException(Errno.EINVAL);
  }

  private long pipe(long address, int how) throws IOException {
    Pipe pipe = new Pipe();
    return pair(address, pipe.reader(), how, pipe.writer(), how | 1);
  }

  /** All calls of sockets, as older architectures have them: one number, and a list of words. */
  private long socketCall(long[] a, Consumer<String> unsupported) throws IOException {
    if ((int) a[0] != SOCKET_PAIR) {
      unsupported.accept("socketcall " + (int) a[0]);
      throw new SystemCallException(Errno.ENOSYS);
    }
    long[] words = new long[4];
    for (int i = 0; i < words.length; i++) {
      words[i] = memory.readWord(a[1] + (long) i * memory.wordBytes());
    }
    return socketPair(words);
  }

  private long socketPair(long[] a) throws IOException {
    int kind = (int) a[1];
    if ((int) a[0] != AF_UNIX || (kind & SOCKET_KIND) != dialect.streamSocket()) {
      throw new SystemCallException(Errno.EINVAL);
    }
    OpenFile[] ends = Pipe.pair();
    int how = (kind & ~SOCKET_KIND) | 2;
    return pair(a[3], ends[0], how, ends[1], how);
  }

  private long pair(long address, OpenFile first, int how, OpenFile second, int howSecond)
      throws IOException {
    int known = dialect.open().closeOnExec() | dialect.open().nonBlocking() | 3;
    if ((how & ~known) != 0 || !memory.isMapped(address, 2 * Integer.BYTES)) {
      throw new SystemCallException((how & ~known) != 0 ? Errno.EINVAL : Errno.EFAULT);
    }
    int one = files.add(first, how);
    int two;
    try {
      two = files.add(second, howSecond);
    } catch (SystemCallException e) {
      files.close(one);
      throw e;
    }
    memory.writeInt(address, one);
    memory.writeInt(address + Integer.BYTES, two);
    return 0;
  }
}
