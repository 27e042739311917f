package dev.retstack.graph.reconstruct;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.codec.RecordBatch;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Rebuilds the calls of one core from its chunks: keeps the sequence, counts what is missing, keeps
 * time from running backwards, and hands the records to the task they belong to. All records belong
 * to task 0 until contexts are told apart.
 *
 * <p>Deterministic: the same records give the same callbacks however they are cut into chunks. Not
 * safe for use by several threads at once.
 */
public final class CoreReconstructor {
  /** Largest chunk number taken; a stream that claims more is refused. */
  private static final long MAX_SEQUENCE = Long.MAX_VALUE / 2;

  private static final int MAX_DETAIL = 1000;

  private final GraphListener listener;
  private final TaskReconstructor task;
  private final int maxDepth;
  private long nextSequence;
  private long recordsExpected;
  private long records;
  private long lost;
  private long time;

  /** Number of the chunk at hand, and of its first record. */
  private long chunk;

  private long firstRecord;
  private CoreEnd end = CoreEnd.RUNNING;
  private String endDetail = "";

  /**
   * A core of which nothing was seen.
   *
   * @param maxDepth records at this ret_stack index or above are refused as impossible
   */
  public CoreReconstructor(ImageTraits traits, int maxDepth, GraphListener listener) {
    this.listener = listener;
    this.maxDepth = maxDepth;
    this.task = new TaskReconstructor(traits, maxDepth, listener);
  }

  /**
   * Takes the next chunk.
   *
   * @return false where it was stale (came again, or after a later one) or came after the core's
   *     end; such a chunk is counted and changes nothing else
   */
  public boolean apply(ChunkMeta meta, RecordBatch batch) {
    if (meta.sequence() < nextSequence) {
      listener.count(Stat.STALE_CHUNKS, 1);
      return false;
    }
    if (end != CoreEnd.RUNNING || meta.sequence() > MAX_SEQUENCE) {
      listener.count(Stat.CONTRADICTORY_CHUNKS, 1);
      return false;
    }
    takeLosses(meta);
    chunk = meta.sequence();
    firstRecord = Math.max(meta.recordsBefore(), 0);
    apply(batch);
    takeUntraced(meta);
    nextSequence = meta.sequence() + 1;
    recordsExpected = sum(Math.max(meta.recordsBefore(), 0), batch.size());
    if (meta.end() != CoreEnd.RUNNING) {
      end(meta);
    }
    if (!task.balanced()) {
      throw new IllegalStateException("entries and endings of calls do not add up: " + this);
    }
    return true;
  }

  private void takeLosses(ChunkMeta meta) {
    long missing = meta.recordsBefore() - recordsExpected;
    if (meta.recordsBefore() < recordsExpected) {
      listener.count(Stat.COUNT_DISAGREES, 1);
      missing = 0;
    }
    if (meta.sequence() > nextSequence || missing > 0) {
      long since = time;
      long at = advance(meta.firstTime());
      Loss loss =
          new Loss(
              Loss.Kind.MISSING,
              nextSequence,
              meta.sequence(),
              recordsExpected,
              missing,
              since,
              at);
      lost = sum(lost, missing);
      listener.count(Stat.GAP_RECORDS, missing);
      listener.count(Stat.GAP_CHUNKS, meta.sequence() - nextSequence);
      report(Anomaly.ofGap(at, nextSequence, meta.sequence(), missing));
      // a chunk that did not come may have told of records dropped before it
      lose(loss, TaskLosses.UNBOUNDED);
    }
    if (meta.lostBefore() > 0) {
      drop(meta.firstTime(), meta.lostBefore(), meta.sequence(), Math.max(meta.recordsBefore(), 0));
    }
  }

  private void takeUntraced(ChunkMeta meta) {
    if (meta.overruns() > 0) {
      listener.count(Stat.OVERRUNS, meta.overruns());
      report(Anomaly.ofRecords(AnomalyKind.OVERRUN, time, meta.overruns()));
    }
    if (meta.unhijackable() > 0) {
      listener.count(Stat.UNHIJACKABLE, meta.unhijackable());
    }
  }

  private void end(ChunkMeta meta) {
    task.end(advance(meta.lastTime()));
    end = meta.end();
    String detail = meta.endDetail();
    endDetail = detail.length() > MAX_DETAIL ? detail.substring(0, MAX_DETAIL) : detail;
    if (end == CoreEnd.FAULTED) {
      listener.count(Stat.FAULTED_CORES, 1);
    }
  }

  private void apply(RecordBatch batch) {
    int size = batch.size();
    int i = 0;
    while (i < size) {
      int first = i;
      i = task.ordinary(batch, first, time);
      if (i > first) {
        records += i - first;
        time = batch.time[i - 1];
        assert task.balanced();
      }
      if (i == size) {
        break;
      }
      record(
          i,
          batch.kind[i],
          batch.time[i],
          batch.depth[i],
          batch.selfPc[i],
          batch.fromPc[i],
          batch.retP[i],
          batch.fp[i]);
      i++;
      assert task.balanced();
    }
  }

  private void record(
      int index, byte kind, long at, int depth, long selfPc, long fromPc, long retP, long fp) {
    switch (kind) {
      case RecordBatch.ENTRY,
          RecordBatch.EXIT,
          RecordBatch.SMASHED,
          RecordBatch.SYS_ENTER,
          RecordBatch.SYS_EXIT -> {
        if (depth < 0 || depth >= maxDepth) {
          listener.count(Stat.BAD_RECORDS, 1);
          return;
        }
      }
      case RecordBatch.LOST -> {
        drop(at, Math.max(selfPc, 0), chunk, sum(firstRecord, index + 1L));
        return;
      }
      case RecordBatch.VALUES -> {
        records++;
        listener.values(depth, selfPc, fromPc, retP, fp);
        return;
      }
      case RecordBatch.FUNCTION, RecordBatch.MARK -> {}
      default -> {
        listener.count(Stat.BAD_RECORDS, 1);
        return;
      }
    }
    records++;
    listener.next();
    long now = advance(at);
    switch (kind) {
      case RecordBatch.ENTRY -> task.entry(now, depth, selfPc, fromPc, retP, fp);
      case RecordBatch.EXIT -> task.exit(now, depth, selfPc, fromPc, retP, fp);
      case RecordBatch.SMASHED -> task.smashed(now, depth, selfPc, fromPc, retP, fp);
      case RecordBatch.FUNCTION -> task.events().called(now, selfPc, fromPc);
      case RecordBatch.SYS_ENTER -> task.events().systemCall(now, selfPc);
      case RecordBatch.SYS_EXIT -> task.events().systemCallEnded(now, selfPc, fromPc);
      default -> task.events().mark(now, fromPc, selfPc, retP);
    }
  }

  /** The core dropped records and says so. */
  private void drop(long when, long count, long told, long before) {
    long since = time;
    long at = advance(when);
    lost = sum(lost, count);
    listener.count(Stat.LOST_RECORDS, count);
    report(Anomaly.ofRecords(AnomalyKind.LOST, at, count));
    lose(new Loss(Loss.Kind.DROPPED, told, told, before, count, since, at), count);
  }

  /** What is open may have ended. */
  private void lose(Loss loss, long atMost) {
    listener.lost(loss);
    task.lose(loss.after(), loss.until(), atMost);
    listener.next();
  }

  private long advance(long to) {
    if (to < time) {
      listener.count(Stat.TIME_BACKWARDS, 1);
    } else {
      time = to;
    }
    return time;
  }

  private void report(Anomaly anomaly) {
    if (listener.wants(anomaly.kind(), anomaly.selfPc())) {
      listener.anomaly(anomaly);
    } else {
      listener.count(Stat.ANOMALIES_NOT_KEPT, 1);
    }
  }

  /** Sum of two counts that stops at the largest number instead of wrapping. */
  private static long sum(long a, long b) {
    long sum = a + b;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  /** Number of the chunk that must come next. */
  public long nextSequence() {
    return nextSequence;
  }

  /** Records taken, of any kind but LOST. */
  public long records() {
    return records;
  }

  /** Records known to be missing, dropped at the core or on the wire. */
  public long lost() {
    return lost;
  }

  /** The core's clock as last seen. */
  public long time() {
    return time;
  }

  public CoreEnd end() {
    return end;
  }

  public String endDetail() {
    return endDetail;
  }

  /** Calls seen to begin. */
  public long entries() {
    return task.entries();
  }

  /** Calls that have not ended. */
  public int open() {
    return task.open();
  }

  /** Calls that ended so. */
  public long ended(Ending ending) {
    return task.ended(ending);
  }

  /** Time of the last record before a loss behind which no entry or exit came, else negative. */
  public long lostSince() {
    return task.lostSince();
  }

  /** Stretches of the stack of which nothing is known since a loss. */
  public int holes() {
    return task.holes();
  }

  /** Whether every entry is open or ended exactly once. */
  public boolean balanced() {
    return task.balanced();
  }

  /** Frames on the stack, open ones and tail-called ones that wait for their exit record. */
  public int slots() {
    return task.stack().size();
  }

  /** Whether the call in this slot is open. */
  public boolean isOpen(int slot) {
    return !task.stack().tailCalled(slot);
  }

  @Override
  public String toString() {
    return "CoreReconstructor[chunk %d, %d records, %d lost, %d entries, %d open]"
        .formatted(nextSequence, records, lost, entries(), open());
  }

  /** Writes the whole state. */
  public void writeTo(DataOutput out) throws IOException {
    out.writeLong(nextSequence);
    out.writeLong(recordsExpected);
    out.writeLong(records);
    out.writeLong(lost);
    out.writeLong(time);
    Fields.writeText(out, end.name());
    Fields.writeText(out, endDetail);
    task.writeTo(out);
  }

  /**
   * Reads what {@link #writeTo} wrote into this new reconstructor; the listener hears nothing.
   *
   * @throws IOException where the bytes are not such a state
   */
  public void readFrom(DataInput in) throws IOException {
    nextSequence = in.readLong();
    recordsExpected = in.readLong();
    records = in.readLong();
    lost = in.readLong();
    time = in.readLong();
    if (nextSequence < 0 || recordsExpected < 0 || records < 0 || lost < 0 || time < 0) {
      throw new IOException("corrupt snapshot: a negative count");
    }
    end = Fields.readEnum(in, CoreEnd.class);
    endDetail = Fields.readText(in);
    task.readFrom(in);
  }
}
