package dev.retstack.fleet.probe;

import dev.retstack.schema.record.RecordBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Where a core records while it runs: a batch, and in front of it the ring that the probe in C
 * fills. Cores that take turns on a thread may share one. Not safe for use by several threads at
 * once.
 */
public final class RecordBuffer {
  private static final int CACHE_LINE = 64;

  private final RecordBatch batch;
  private final boolean mayRun;
  private MemorySegment ring = MemorySegment.NULL;

  /**
   * An empty buffer.
   *
   * @param capacity records of a batch
   */
  public RecordBuffer(int capacity) {
    this(capacity, true);
  }

  private RecordBuffer(int capacity, boolean mayRun) {
    batch = new RecordBatch(capacity);
    this.mayRun = mayRun;
  }

  /** An empty buffer of a core that waits for its turn: there is no ring, so it cannot run. */
  public static RecordBuffer resting(int capacity) {
    return new RecordBuffer(capacity, false);
  }

  /** The records, but for those in the ring. */
  public RecordBatch batch() {
    return batch;
  }

  /** The ring, made when it is first asked for; as long-lived as this buffer. Empty: none. */
  public MemorySegment ring(long bytes) {
    if (ring.byteSize() == 0 && mayRun) {
      ring = Arena.ofAuto().allocate(bytes, CACHE_LINE);
    }
    return ring;
  }
}
