package dev.retstack.graph.hot;

import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.ArrayList;
import java.util.List;

/**
 * The table of hot addresses of the bare-metal seed, step by step as its {@code profiling()} does
 * it, so that it equals the one that a guest keeps in its own counting function:
 *
 * <ol>
 *   <li>an ignored address changes nothing;
 *   <li>decay: the entry whose turn it is loses 1 where it has more than 1, and so does the sum;
 *       then it is the next one's turn;
 *   <li>the entry of the address is hit; else the first that was never used; else the last, which
 *       is forgotten with its hits;
 *   <li>a hit adds the increment to the entry and to the sum, sets the ratio (hits * 1024 / sum),
 *       and moves the entry up in front of all that have fewer hits.
 * </ol>
 *
 * <p>So only entries that are hit move, and a ratio is as old as the last hit. The sum has 32 bits
 * and wraps. Addresses are kept whole, where the seed cuts them to 32 bits: on a machine with
 * addresses below 4 GiB, as it was meant for, that is the same.
 */
public final class SeedTable implements HotCounter {
  private static final long SUM_MASK = 0xffff_ffffL;

  private final HotSettings settings;
  private final long[] addresses;
  private final long[] hits;
  private final long[] ratios;
  private long sum;
  private int turn;

  public SeedTable(HotSettings settings) {
    this.settings = settings;
    this.addresses = new long[settings.entries()];
    this.hits = new long[settings.entries()];
    this.ratios = new long[settings.entries()];
  }

  @Override
  public void hit(long address) {
    if (settings.ignores(address)) {
      return;
    }
    if (settings.decay()) {
      decay();
    }
    long base = settings.base(address);
    int free = hits.length;
    for (int i = 0; i < hits.length; i++) {
      if (addresses[i] == base) {
        hit(i, base);
        return;
      }
      if (free == hits.length && hits[i] == 0) {
        free = i;
      }
    }
    if (free == hits.length) {
      free--;
      sum = sum - hits[free] & SUM_MASK;
      hits[free] = 0;
    }
    hit(free, base);
  }

  private void decay() {
    if (hits[turn] > 1) {
      hits[turn]--;
      sum = sum - 1 & SUM_MASK;
    }
    turn = turn + 1 == hits.length ? 0 : turn + 1;
  }

  private void hit(int entry, long base) {
    sum = sum + settings.increment() & SUM_MASK;
    long count = hits[entry] + settings.increment();
    // the sum is 0 where it just wrapped: RISC-V divides to all ones then
    long ratio = sum == 0 ? SUM_MASK : Long.divideUnsigned(count << 10, sum) & SUM_MASK;
    int to = entry;
    while (to > 0 && count > hits[to - 1]) {
      addresses[to] = addresses[to - 1];
      hits[to] = hits[to - 1];
      ratios[to] = ratios[to - 1];
      to--;
    }
    addresses[to] = base;
    hits[to] = count;
    ratios[to] = ratio;
  }

  /** The entries in use, in the order of the table. */
  @Override
  public List<HotCount> counts() {
    List<HotCount> counts = new ArrayList<>();
    for (int i = 0; i < hits.length; i++) {
      if (hits[i] > 0) {
        counts.add(new HotCount(addresses[i], hits[i], ratios[i]));
      }
    }
    return counts;
  }

  @Override
  public long total() {
    return sum;
  }

  @Override
  public long notKept() {
    return 0;
  }

  /**
   * The entries of all tables by address, hits and sums added, ratios of that sum. It has no entry
   * that no table has, and is not what one table would hold that saw all calls.
   */
  @Override
  public HotCounter merge(List<HotCounter> others) {
    Long2LongOpenHashMap all = new Long2LongOpenHashMap();
    long whole = 0;
    for (HotCounter other : others) {
      whole += other.total();
      other.counts().forEach(count -> all.addTo(count.address(), count.hits()));
    }
    return ExactCounts.of(settings, all, whole);
  }
}
