package dev.retstack.service.aggregate;

import it.unimi.dsi.fastutil.longs.Long2LongMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;

/** Which rows of one profile were published, and with which numbers. */
final class PublishedRows {
  /** Digest of a row of which only the key is known. */
  static final long UNKNOWN = 2;

  /** Takes rows; a caller of null stands for the total of the function. */
  interface Visitor {
    void row(Long caller, long selfPc);
  }

  private final Long2LongOpenHashMap functions = new Long2LongOpenHashMap();
  private final Long2ObjectOpenHashMap<Long2LongOpenHashMap> edges = new Long2ObjectOpenHashMap<>();
  private long size;

  /** Digest that the row was published with; 0 where it was not. */
  long digest(Long caller, long selfPc) {
    Long2LongOpenHashMap rows = caller == null ? functions : edges.get((long) caller);
    return rows == null ? 0 : rows.get(selfPc);
  }

  /** The row is published, with this digest, which is not 0. */
  void put(Long caller, long selfPc, long digest) {
    Long2LongOpenHashMap rows =
        caller == null
            ? functions
            : edges.computeIfAbsent((long) caller, _ -> new Long2LongOpenHashMap(2));
    size += rows.put(selfPc, digest) == 0 ? 1 : 0;
  }

  /** Rows published. */
  long size() {
    return size;
  }

  /** Visits all rows. */
  void forEach(Visitor visitor) {
    for (Long2LongMap.Entry row : functions.long2LongEntrySet()) {
      visitor.row(null, row.getLongKey());
    }
    edges.forEach(
        (caller, rows) -> rows.keySet().forEach((long selfPc) -> visitor.row(caller, selfPc)));
  }
}
