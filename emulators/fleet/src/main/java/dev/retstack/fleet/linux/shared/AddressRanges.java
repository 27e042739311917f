package dev.retstack.fleet.linux.shared;

import dev.retstack.fleet.memory.GuestMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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

  private final List<Range<T>> ranges = new ArrayList<>();

  /** It was mapped where nothing was. */
  public void add(long start, long end, T what) {
    ranges.add(new Range<>(start, end, what));
  }

  /** Memory was unmapped. */
  public void remove(long start, long length) {
    remove(start, length, (_, _) -> {});
  }

  /** The same, with somebody who hears of each part. */
  void remove(long start, long length, Listener listener) {
    long end = start + GuestMemory.pageUp(length);
    for (Range<T> range : List.copyOf(ranges)) {
      long from = Math.max(start, range.start);
      long to = Math.min(end, range.end);
      if (from < to) {
        ranges.remove(range);
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
    return ranges.stream()
        .filter(range -> Long.compareUnsigned(address - range.start, range.end - range.start) < 0)
        .map(Range::what)
        .findFirst();
  }
}
