package dev.retstack.graph.hot;

import it.unimi.dsi.fastutil.longs.Long2LongMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.Comparator;
import java.util.List;

/** Every call counted under its address: no decay, no increment, no replacement. */
public final class ExactCounts implements HotCounter {
  /** Addresses with a separate count; further ones are counted together as not kept. */
  public static final int MAX_ADDRESSES = 1 << 18;

  static final Comparator<HotCount> ORDER =
      Comparator.comparingLong(HotCount::hits)
          .reversed()
          .thenComparing(HotCount::address, Long::compareUnsigned);

  private final HotSettings settings;
  private final Long2LongOpenHashMap calls;
  private long total;
  private long notKept;

  public ExactCounts(HotSettings settings) {
    this(settings, new Long2LongOpenHashMap());
  }

  private ExactCounts(HotSettings settings, Long2LongOpenHashMap calls) {
    this.settings = settings;
    this.calls = calls;
  }

  /** Counts made elsewhere, parts of a whole. */
  static ExactCounts of(HotSettings settings, Long2LongOpenHashMap calls, long whole) {
    ExactCounts counts = new ExactCounts(settings, calls);
    counts.total = whole;
    return counts;
  }

  @Override
  public void hit(long address) {
    if (!settings.ignores(address)) {
      add(settings.base(address), 1);
    }
  }

  private void add(long base, long count) {
    total += count;
    if (calls.size() < MAX_ADDRESSES || calls.containsKey(base)) {
      calls.addTo(base, count);
    } else {
      notKept += count;
    }
  }

  @Override
  public List<HotCount> counts() {
    return calls.long2LongEntrySet().stream().map(this::count).sorted(ORDER).toList();
  }

  private HotCount count(Long2LongMap.Entry entry) {
    long hits = entry.getLongValue();
    return new HotCount(entry.getLongKey(), hits, HotCount.ratio(hits, total));
  }

  @Override
  public long total() {
    return total;
  }

  @Override
  public long notKept() {
    return notKept;
  }

  @Override
  public HotCounter merge(List<HotCounter> others) {
    ExactCounts all = new ExactCounts(settings);
    for (HotCounter other : others) {
      other.counts().forEach(count -> all.add(count.address(), count.hits()));
      all.total += other.notKept();
      all.notKept += other.notKept();
    }
    return all;
  }
}
