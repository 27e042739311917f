package dev.retstack.machine.linux.shared;

import dev.retstack.machine.memory.GuestMemory;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What is mapped where in a process.
 *
 * @param <T> what is known of a mapping; a part of one has it too
 */
public final class AddressRanges<T> {
  private record Range<T>(long start, long end, T what) {}

  /** Hears of a part that is mapped no more. */
  interface Listener {
    void removed(long start, long bytes);
  }

  private final NavigableMap<Long, Range<T>> ranges = new TreeMap<>();

  /** Notes a mapping; what was mapped there first stays. */
  public void add(long start, long end, T what) {
    Map.Entry<Long, Range<T>> below = ranges.floorEntry(start);
    long from = below == null ? start : Math.max(start, below.getValue().end);
    Long next = ranges.ceilingKey(from);
    long to = next == null ? end : Math.min(end, next);
    if (from < to) {
      ranges.put(from, new Range<>(from, to, what));
    }
  }

  /** Memory was unmapped. */
  public void remove(long start, long length) {
    remove(start, length, (_, _) -> {});
  }

  /** Removes a range, and reports each part of it. */
  void remove(long start, long length, Listener listener) {
    long end = start + GuestMemory.pageUp(length);
    Long first = ranges.floorKey(start);
    List<Range<T>> near =
        List.copyOf(ranges.subMap(first == null ? start : first, true, end, false).values());
    for (Range<T> range : near) {
      long from = Math.max(start, range.start);
      long to = Math.min(end, range.end);
      if (from < to) {
        ranges.remove(range.start);
        if (range.start < from) {
          add(range.start, from, range.what);
        }
        if (to < range.end) {
          add(to, range.end, range.what);
        }
        listener.removed(from, to - from);
      }
    }
  }

  /** What is mapped at an address. */
  public Optional<T> at(long address) {
    return Optional.ofNullable(ranges.floorEntry(address))
        .map(Map.Entry::getValue)
        .filter(range -> address < range.end)
        .map(Range::what);
  }
}
