package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.file.OpenFile;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.memory.GuestMemory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of threads: by {@code prctl}, and by {@code comm} in {@code /proc}. */
final class ThreadNames {
  private static final int PR_SET_NAME = 15;
  private static final int PR_GET_NAME = 16;

  /** Known and without effect: the signal at the parent's end, and whether memory is dumped. */
  private static final int PR_SET_PDEATHSIG = 1;

  private static final int PR_SET_DUMPABLE = 4;
  private static final int PR_GET_FP_MODE = 46;
  private static final int PR_SET_VMA = 0x5356_4d41;

  private static final Pattern COMM =
      Pattern.compile("/proc/(?:self|thread-self|1000)(?:/task/(\\d{1,9}))?/comm");

  private final GuestMemory memory;
  private final Threads threads;

  /** The first thread is called as the program. */
  ThreadNames(GuestMemory memory, Threads threads, String program) {
    this.memory = memory;
    this.threads = threads;
    String file = program.substring(program.lastIndexOf('/') + 1);
    threads.current().name(file.getBytes(StandardCharsets.UTF_8));
  }

  void register(Map<String, SystemCall> calls, Consumer<String> unsupported) {
    calls.put("prctl", a -> control(a, unsupported));
  }

  private long control(long[] a, Consumer<String> unsupported) {
    int what = (int) a[0];
    switch (what) {
      case PR_SET_NAME -> threads.name(threads.current(), name(a[1]));
      case PR_GET_NAME ->
          memory.write(a[1], Arrays.copyOf(threads.current().name(), GuestThread.NAME_BYTES + 1));
      case PR_SET_PDEATHSIG, PR_SET_DUMPABLE -> {}
      // as a kernel without these options
      case PR_SET_VMA, PR_GET_FP_MODE -> throw new SystemCallException(Errno.EINVAL);
      default -> {
        unsupported.accept("prctl " + what);
        throw new SystemCallException(Errno.EINVAL);
      }
    }
    return 0;
  }

  private byte[] name(long address) {
    int length = 0;
    while (length < GuestThread.NAME_BYTES && memory.readByte(address + length) != 0) {
      length++;
    }
    return memory.read(address, length);
  }

  /** The file that holds the name of a thread. */
  Optional<OpenFile> find(String path) {
    Matcher match = COMM.matcher(path);
    if (!match.matches()) {
      return Optional.empty();
    }
    String id = match.group(1);
    GuestThread first = path.startsWith("/proc/thread-self") ? threads.current() : first();
    GuestThread thread =
        id == null
            ? first
            : threads
                .find(Long.parseLong(id))
                .orElseThrow(() -> new SystemCallException(Errno.ENOENT));
    return Optional.of(
        new OpenFile.Word(
            new OpenFile.Word.Holder() {
              @Override
              public byte[] get() {
                return thread.name();
              }

              @Override
              public void set(byte[] word) {
                threads.name(thread, word);
              }
            }));
  }

  private GuestThread first() {
    return threads.find(Threads.FIRST).orElseGet(threads::current);
  }
}
