package dev.retstack.machine.linux.file;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.call.SystemCallException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The files that a program waits for, each with its events: {@code epoll}. A file stays until its
 * last descriptor is closed.
 */
public final class Interest extends Anonymous {
  /** Flag in the events of a file: reported once for each change, not as long as it is ready. */
  private static final int EDGE = 1 << 31;

  /** Flag in the events of a file: reported once; until then the program asks again. */
  private static final int ONCE = 1 << 30;

  private static final long NEVER = -1;

  private final Openness open;
  private final Map<Key, Entry> entries = new LinkedHashMap<>();

  private record Key(int descriptor, OpenFile file) {}

  private static final class Entry {
    private int wanted;
    private long data;
    private long told = NEVER;

    private int ready(OpenFile file) {
      boolean isNews = (wanted & EDGE) == 0 || file.changes() != told;
      return wanted != 0 && isNews ? file.events() & (wanted | ERROR | HANG_UP) : 0;
    }
  }

  /**
   * What a program gets.
   *
   * @param data what it gave for the file
   */
  public record Ready(int events, long data) {}

  /** Says whether a descriptor still stands for a file: that one most likely. */
  @FunctionalInterface
  public interface Openness {
    boolean is(int descriptor, OpenFile file);
  }

  /** No file so far. */
  public Interest(Openness open) {
    this.open = open;
  }

  /** Adds a file. */
  public void add(int descriptor, OpenFile file, int events, long data) {
    if (file instanceof HostFile || file instanceof Folder) {
      throw new SystemCallException(Errno.EPERM); // always ready
    }
    if (file instanceof Interest) {
      throw new SystemCallException(Errno.ELOOP);
    }
    forgetClosed();
    if (entries.containsKey(new Key(descriptor, file))) {
      throw new SystemCallException(Errno.EEXIST);
    }
    entries.put(new Key(descriptor, file), new Entry());
    change(descriptor, file, events, data);
  }

  /** Asks for other events of a file. */
  public void change(int descriptor, OpenFile file, int events, long data) {
    Entry entry = entries.get(new Key(descriptor, file));
    if (entry == null) {
      throw new SystemCallException(Errno.ENOENT);
    }
    entry.wanted = events | ERROR | HANG_UP;
    entry.data = data;
    entry.told = NEVER;
  }

  /** Takes a file out. */
  public void remove(int descriptor, OpenFile file) {
    if (entries.remove(new Key(descriptor, file)) == null) {
      throw new SystemCallException(Errno.ENOENT);
    }
  }

  private void forgetClosed() {
    entries.keySet().removeIf(key -> !open.is(key.descriptor, key.file));
  }

  /** True where the program has a file to hear of. */
  public boolean isReady() {
    forgetClosed();
    return entries.entrySet().stream().anyMatch(e -> e.getValue().ready(e.getKey().file) != 0);
  }

  /** Events for the program now; the files in them come last next time. */
  public List<Ready> take(int most) {
    forgetClosed();
    List<Ready> taken = new ArrayList<>();
    for (Key key : List.copyOf(entries.keySet())) {
      Entry entry = entries.get(key);
      int events = entry.ready(key.file);
      if (events != 0 && taken.size() < most) {
        taken.add(new Ready(events, entry.data));
        entry.told = key.file.changes();
        entry.wanted = (entry.wanted & ONCE) != 0 ? 0 : entry.wanted;
        entries.remove(key);
        entries.put(key, entry);
      }
    }
    return taken;
  }

  @Override
  public int events() {
    return isReady() ? IN : 0;
  }
}
