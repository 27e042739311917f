package dev.retstack.cli.demo;

import dev.retstack.schema.record.RecordBatch;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;

/**
 * What one core recorded before and after the last command: the latest records before its MARK, the
 * first ones from the MARK on, and the functions entered on either side. If a core does not follow
 * the command, the sides are before and after the command was sent.
 */
public final class CoreRecords {
  /** Records kept of either side. */
  private static final int KEPT = 256;

  private RecordBatch before = new RecordBatch(2 * KEPT);
  private RecordBatch after = new RecordBatch(KEPT);
  private LongSet functionsBefore = new LongOpenHashSet();
  private LongSet functionsAfter = new LongOpenHashSet();
  private long number = -1;
  private boolean marked;
  private long entriesAfter;
  private long firstNanos;

  /** What comes from here on is of a command: from its MARK on, where one comes. */
  void expect(long command) {
    number = command;
    if (marked) {
      before = new RecordBatch(2 * KEPT);
      before.addAll(after, 0, after.size());
      functionsBefore.clear();
    }
    functionsBefore.addAll(functionsAfter);
    beginAfter();
    marked = false;
  }

  private void beginAfter() {
    after = new RecordBatch(KEPT);
    functionsAfter = new LongOpenHashSet();
    entriesAfter = 0;
    firstNanos = 0;
  }

  /**
   * Takes the records of the core's next chunk.
   *
   * @param nanos when it was read, by {@link System#nanoTime}
   */
  void add(RecordBatch batch, long nanos) {
    int from = 0;
    if (!marked) {
      int mark = markIn(batch);
      keepLatest(batch, mark);
      if (mark < batch.size()) {
        enter(batch, 0, mark, nanos);
        functionsBefore.addAll(functionsAfter);
        beginAfter();
        marked = true;
        from = mark;
      }
    }
    enter(batch, from, batch.size(), nanos);
    after.addAll(batch, from, Math.min(batch.size(), from + KEPT - after.size()));
  }

  private int markIn(RecordBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      if (batch.kind[i] == RecordBatch.MARK && batch.retP[i] == number) {
        return i;
      }
    }
    return batch.size();
  }

  private void keepLatest(RecordBatch batch, int end) {
    int from = Math.max(0, end - KEPT);
    if (before.size() + end - from > before.capacity()) {
      RecordBatch latest = new RecordBatch(2 * KEPT);
      latest.addAll(before, before.size() - (2 * KEPT - (end - from)), before.size());
      before = latest;
    }
    before.addAll(batch, from, end);
  }

  private void enter(RecordBatch batch, int from, int end, long nanos) {
    for (int i = from; i < end; i++) {
      // what was hijacked before still exits, whatever the settings
      if (batch.kind[i] == RecordBatch.ENTRY || batch.kind[i] == RecordBatch.FUNCTION) {
        functionsAfter.add(batch.selfPc[i]);
        entriesAfter++;
        firstNanos = firstNanos == 0 ? nanos : firstNanos;
      }
    }
  }

  /** The latest records ahead of the MARK. */
  public RecordBatch before() {
    return before;
  }

  /** The first records from the MARK on. */
  public RecordBatch after() {
    return after;
  }

  /** selfPc of the functions entered before, back to the command that the core followed last. */
  public LongSet functionsBefore() {
    return functionsBefore;
  }

  /** selfPc of the functions entered since the MARK. */
  public LongSet functionsAfter() {
    return functionsAfter;
  }

  /** True where the core noted in its records that it followed the command. */
  public boolean isMarked() {
    return marked;
  }

  /** Functions entered since the MARK. */
  public long entriesAfter() {
    return entriesAfter;
  }

  /** When the first entry after the MARK was read, by {@link System#nanoTime}; 0: not yet. */
  public long firstNanos() {
    return firstNanos;
  }
}
