package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.StateBudget;
import dev.retstack.graph.symbol.SymbolTable;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrays;
import it.unimi.dsi.fastutil.longs.LongList;

/**
 * selfPc of the function that an address lies in, by what the image tells: its call site where it
 * has one, else its first byte, else the address itself. Depends on nothing that was seen before,
 * so that any order of records and cores gives the same edges.
 */
final class CallerPcs {
  private static final int MAX_REMEMBERED = 1 << 16;
  private static final int ENTRY_BYTES = 16;

  private final SymbolTable symbols;
  private final StateBudget.Account account;
  private final long[] sites;
  private final Long2LongOpenHashMap remembered = new Long2LongOpenHashMap();

  /**
   * Of one image.
   *
   * @param sites addresses of its call sites
   * @param account of which the bytes of what it remembers are taken
   */
  CallerPcs(SymbolTable symbols, LongList sites, StateBudget.Account account) {
    this.account = account;
    this.symbols = symbols;
    this.sites = sites.toLongArray();
    LongArrays.unstableSort(this.sites, Long::compareUnsigned);
  }

  long of(long address) {
    if (remembered.containsKey(address)) {
      return remembered.get(address);
    }
    long found = find(address);
    if (remembered.size() < MAX_REMEMBERED && account.takeEntry(remembered.size(), ENTRY_BYTES)) {
      remembered.put(address, found);
    }
    return found;
  }

  /** The last site of the function: where a table lists two addresses, the call is the later. */
  private long find(long address) {
    if (!symbols.covers(address)) {
      return address;
    }
    long start = symbols.start(address);
    int low = 0;
    int high = sites.length;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(sites[middle], start) < 0 || symbols.start(sites[middle]) == start) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    boolean has = low > 0 && symbols.start(sites[low - 1]) == start;
    return has ? sites[low - 1] : start;
  }
}
