package dev.retstack.graph.input;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.symbol.SymbolTable;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrays;

/**
 * Finds the selfPc of the function that contains an address: by its call site if the image names
 * one, else by its first byte, else it is the address itself. It depends on nothing seen before. So
 * any order of records and cores gives the same edges.
 */
public final class CallerPcs {
  private static final int MAX_REMEMBERED = 1 << 16;
  private static final int ENTRY_BYTES = 16;

  private final ImageInfo image;
  private final StateBudget.Account account;
  private final long[] sites;
  private final Long2LongOpenHashMap remembered = new Long2LongOpenHashMap();

  /**
   * Begins with the call sites of an image.
   *
   * @param account pays for the bytes that it remembers
   */
  public CallerPcs(ImageInfo image, StateBudget.Account account) {
    this.account = account;
    this.image = image;
    this.sites = sorted(image);
  }

  private static long[] sorted(ImageInfo image) {
    long[] sites = image.sites().toLongArray();
    LongArrays.unstableSort(sites, Long::compareUnsigned);
    return sites;
  }

  /** The selfPc of the function that contains an address. */
  public long of(long address) {
    if (remembered.containsKey(address)) {
      return remembered.get(address);
    }
    ImageInfo in = image.of(address);
    long at = image.in(address);
    long found = address - at + find(at, in.symbols(), image.isOwn(address) ? sites : sorted(in));
    if (remembered.size() < MAX_REMEMBERED && account.takeEntry(remembered.size(), ENTRY_BYTES)) {
      remembered.put(address, found);
    }
    return found;
  }

  /** The last site of the function: where a table lists two addresses, the call is the later. */
  private static long find(long address, SymbolTable symbols, long[] sites) {
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
