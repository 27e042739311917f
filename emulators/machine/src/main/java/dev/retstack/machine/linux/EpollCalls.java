package dev.retstack.machine.linux;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCall;
import dev.retstack.machine.linux.call.SystemCallException;
import dev.retstack.machine.linux.file.FileTable;
import dev.retstack.machine.linux.file.Interest;
import dev.retstack.machine.linux.file.OpenFile;
import dev.retstack.machine.memory.GuestMemory;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** System calls of {@code epoll}. */
final class EpollCalls {
  private static final int ADD = 1;
  private static final int REMOVE = 2;
  private static final int CHANGE = 3;

  private final GuestMemory memory;
  private final FileTable files;
  private final PollCalls waits;
  private final int closeOnExec;

  /** Place of the data in {@code struct epoll_event}, behind which it ends. */
  private final int dataAt;

  EpollCalls(GuestMemory memory, FileTable files, PollCalls waits, int closeOnExec, int dataAt) {
    this.memory = memory;
    this.files = files;
    this.waits = waits;
    this.closeOnExec = closeOnExec;
    this.dataAt = dataAt;
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("epoll_create", a -> create((int) a[0] > 0, 0));
    calls.put("epoll_create1", a -> create(((int) a[0] & ~closeOnExec) == 0, (int) a[0]));
    calls.put("epoll_ctl", this::control);
    calls.put("epoll_wait", a -> await(a, waits.millis(a[3]), 0));
    calls.put("epoll_pwait", a -> await(a, waits.millis(a[3]), a[4]));
    calls.put("epoll_pwait2", a -> await(a, waits.time(a[3], Long.BYTES, 1), a[4]));
  }

  private long create(boolean isValid, int how) throws IOException {
    if (!isValid) {
      throw new SystemCallException(Errno.EINVAL);
    }
    return files.add(new Interest(files::isOpenAs), how | 2);
  }

  private Interest interest(long descriptor) {
    if (files.get(descriptor) instanceof Interest interest) {
      return interest;
    }
    throw new SystemCallException(Errno.EINVAL);
  }

  private long control(long[] a) {
    int operation = (int) a[1];
    int events = operation == REMOVE ? 0 : memory.readInt(a[3]);
    long data = operation == REMOVE ? 0 : memory.readLong(a[3] + dataAt);
    files.get(a[0]);
    int descriptor = (int) a[2];
    OpenFile file = files.get(descriptor);
    if (descriptor == (int) a[0]) {
      throw new SystemCallException(Errno.EINVAL);
    }
    Interest interest = interest(a[0]);
    switch (operation) {
      case ADD -> interest.add(descriptor, file, events, data);
      case REMOVE -> interest.remove(descriptor, file);
      case CHANGE -> interest.change(descriptor, file, events, data);
      default -> throw new SystemCallException(Errno.EINVAL);
    }
    return 0;
  }

  private long await(long[] a, OptionalLong until, long mask) throws IOException {
    Interest interest = interest(a[0]);
    int most = (int) a[2];
    if (most <= 0) {
      throw new SystemCallException(Errno.EINVAL);
    }
    int each = dataAt + Long.BYTES;
    int told = Math.min(most, FileTable.DESCRIPTORS_MAX);
    if (!memory.isMapped(a[1], (long) told * each)) {
      throw new SystemCallException(Errno.EFAULT);
    }
    return waits.ask(
        new PollCalls.Question(
            interest::isReady,
            () -> {
              List<Interest.Ready> ready = interest.take(told);
              for (int i = 0; i < ready.size(); i++) {
                long at = a[1] + (long) i * each;
                memory.writeInt(at, ready.get(i).events());
                memory.writeLong(at + dataAt, ready.get(i).data());
              }
              return ready.size();
            }),
        until,
        mask);
  }
}
