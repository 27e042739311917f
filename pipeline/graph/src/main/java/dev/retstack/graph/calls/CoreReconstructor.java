package dev.retstack.graph.calls;

import static dev.retstack.graph.limits.Saturating.sum;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.AddressMap;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.TaskNames;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.tree.Ending;
import dev.retstack.schema.record.EndDetail;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.TaskName;
import it.unimi.dsi.fastutil.longs.LongImmutableList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Collection;
import java.util.Map;

/**
 * Rebuilds the calls of one core from its chunks. It checks the sequence, counts what is missing
 * and keeps time from running backwards. It hands each record to its ret_stack: that of a task or
 * of an interrupt.
 *
 * <p>Deterministic: the same records give the same calls, however they are cut into chunks. Not
 * safe for use by several threads at once.
 */
public final class CoreReconstructor {
  /** Largest chunk number taken; a stream that claims more is refused. */
  public static final long MAX_SEQUENCE = Long.MAX_VALUE / 2;

  private static final int MAX_DETAIL = 1000;

  private final CallAccounts accounts;
  private final CoreTasks tasks;
  private final TaskNames names;
  private final AddressMap map;
  private final int maxDepth;
  private long nextSequence;
  private long recordsExpected;
  private long records;
  private long lost;
  private long time;
  private long keyframes;

  /** Whether no chunk was taken. */
  private boolean isNew = true;

  /** Whether something may be open ahead of the first chunk. */
  private boolean begunInside;

  /** Whether it begins with the calls of a keyframe, to be joined to what was before. */
  private boolean isSegment;

  /** Number of the chunk at hand, and of its first record. */
  private long chunk;

  private long firstRecord;
  private long overrunsTold; // entries refused in it of which there is a record
  private CoreEnd end = CoreEnd.RUNNING;
  private String endDetail = "";

  /**
   * A core of which nothing was seen.
   *
   * @param maxDepth frames of one ret_stack: records of more are refused as impossible
   * @param maxTasks tasks that are kept
   * @param account of the bytes that tasks, frames and mappings take
   */
  CoreReconstructor(
      ImageInfo image,
      int maxDepth,
      int maxTasks,
      CallAccounts accounts,
      StateBudget.Account account) {
    this.accounts = accounts;
    this.maxDepth = maxDepth;
    this.map = new AddressMap(image.others(), account);
    this.tasks = new CoreTasks(image.traits(), maxDepth, maxTasks, accounts, account);
    this.names = new TaskNames(maxTasks, account);
  }

  /**
   * Takes a chunk behind all that were taken.
   *
   * @return false where it came after the core's end: it is counted and changes nothing else
   */
  boolean apply(ChunkMeta meta, RecordBatch batch) {
    if (end != CoreEnd.RUNNING || meta.sequence() > MAX_SEQUENCE) {
      accounts.count(Stat.CONTRADICTORY_CHUNKS, 1);
      return false;
    }
    final boolean told = batch.keyframe() != null;
    boolean inside =
        isNew && (begunInside || nextSequence > 0 || meta.task() != 0 || meta.interrupts() != 0);
    if (inside) {
      tasks.first(meta.task(), meta.interrupts(), told, Math.max(meta.firstTime(), 0));
    }
    boolean loss = takeLosses(meta, told);
    if (inside) {
      time = Math.max(time, meta.firstTime()); // what was open then is open since then
    }
    tasks.begin(meta.task(), meta.interrupts(), loss, told, time);
    if (told) {
      takeMap(batch, loss || inside);
      tasks.keyframe(map.behind(batch.keyframe()), loss || inside, time);
      names.keyframe(batch.keyframe(), tasks.running());
      keyframes++;
    }
    chunk = meta.sequence();
    firstRecord = Math.max(meta.recordsBefore(), 0);
    apply(map.behind(batch));
    takeInputStats();
    if (batch.size() == 0) {
      time = Math.max(time, meta.firstTime()); // nothing was lost by then
    }
    takeUntraced(meta);
    isNew = false;
    nextSequence = meta.sequence() + 1;
    recordsExpected = sum(Math.max(meta.recordsBefore(), 0), batch.size());
    if (meta.end() != CoreEnd.RUNNING) {
      end(meta);
    }
    if (!tasks.table().isBalanced()) {
      throw new IllegalStateException("entries and endings of calls do not add up: " + this);
    }
    return true;
  }

  /** A keyframe says what is mapped: behind a loss it is believed, else it is compared. */
  private void takeMap(RecordBatch batch, boolean loss) {
    boolean same = map.isAs(batch.keyframe(), batch.images());
    if (!same && !loss) {
      accounts.count(Stat.MAPS_DISAGREE, 1);
    }
    if (!same && loss) {
      map.begin(batch.keyframe(), batch.images());
    }
  }

  private void takeInputStats() {
    accounts.count(Stat.MAPS_OVERLAP, map.takeOverlaps());
    accounts.count(Stat.MAPS_NOT_KEPT, map.takeNotKept());
    accounts.count(Stat.IMAGES_UNKNOWN, map.takeUnknown());
    accounts.count(Stat.TASKS_NOT_KEPT, names.takeNotKept());
  }

  /** What was before this chunk, the first one that will be taken, is not asked for. */
  void beginAt(ChunkMeta meta) {
    nextSequence = meta.sequence();
    recordsExpected = Math.max(meta.recordsBefore(), 0);
    begunInside = true;
  }

  /**
   * Begins with a chunk that is not the core's first, and the calls of its keyframe, as {@link
   * CoreSegment} does.
   *
   * @return false where a limit keeps one of them out
   */
  boolean inherit(ChunkMeta meta, Keyframe keyframe) {
    nextSequence = meta.sequence();
    recordsExpected = Math.max(meta.recordsBefore(), 0);
    isNew = false;
    isSegment = true;
    names.keyframe(keyframe, tasks.running());
    return tasks.current().inherit(keyframe);
  }

  /** Whether this chunk is the next one, and none of its records is missing. */
  boolean isAt(ChunkMeta meta) {
    return nextSequence == meta.sequence()
        && recordsExpected == meta.recordsBefore()
        && records > 0;
  }

  /** Whether there is one task, in no interrupt, of which all is known, and nothing is mapped. */
  boolean isPlain() {
    return map.isEmpty() && names.isOfFirst() && tasks.isPlain();
  }

  /** Whether what is open is what a segment began with, and there is room for what it has open. */
  boolean fits(CoreReconstructor segment, Keyframe keyframe) {
    return tasks.current().fits(segment.tasks.current(), keyframe);
  }

  /** Takes what a segment, which {@link #fits}, adds to this. */
  void join(CoreReconstructor segment, CallProfile theirs, CallProfile profile) {
    nextSequence = segment.nextSequence;
    recordsExpected = segment.recordsExpected;
    records += segment.records;
    keyframes += segment.keyframes;
    time = segment.time;
    names.put(0, segment.names.get(0));
    tasks.join(segment.tasks, theirs, profile);
  }

  /**
   * A chunk without records behind what was taken, for a core that continues elsewhere from here.
   *
   * @param at earliest time of the chunk and of its open calls
   * @param unit of the core
   */
  public ChunkMeta behind(long at, ClockUnit unit) {
    return here(ChunkMeta.running(Math.max(0, nextSequence - 1), recordsExpected, at, at, unit));
  }

  /** That chunk, beginning where the core is now. */
  public ChunkMeta here(ChunkMeta meta) {
    return tasks.here(meta);
  }

  /**
   * Gives a batch that begins here the keyframe that a chunk would have: what is known to be open
   * now, and what is mapped.
   *
   * @param since entered by then at the earliest
   * @param known false where records are missing behind it: then nothing is
   */
  public void open(long since, boolean known, RecordBatch batch) {
    map.setKeyframe(names.withNames(tasks.open(since, known)), batch);
  }

  /** Nothing behind this time counts: what is open ends there. */
  void closeAt(long at) {
    tasks.end(advance(Math.max(time, at)));
  }

  /** No chunk is taken any more: one of them made this fail. What was taken before it stays. */
  void breakOff(String why) {
    end = CoreEnd.BROKEN;
    endDetail = why.length() > MAX_DETAIL ? why.substring(0, MAX_DETAIL) : why;
  }

  /**
   * A chunk behind {@link #breakOff} is left out.
   *
   * @return its records, and those before it that never came, which are lost; none where it came
   *     again
   */
  long leaveOut(ChunkMeta meta, int size) {
    long expected = sum(Math.max(meta.recordsBefore(), 0), size);
    long missing = Math.max(0, expected - recordsExpected);
    recordsExpected = Math.max(expected, recordsExpected);
    lost = sum(lost, missing);
    return missing;
  }

  private boolean takeLosses(ChunkMeta meta, boolean told) {
    long missing = meta.recordsBefore() - recordsExpected;
    if (meta.recordsBefore() < recordsExpected) {
      accounts.count(Stat.COUNT_DISAGREES, 1);
      missing = 0;
    }
    boolean gap = meta.sequence() > nextSequence || missing > 0;
    if (gap) {
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
      accounts.count(Stat.GAP_RECORDS, missing);
      accounts.count(Stat.GAP_CHUNKS, meta.sequence() - nextSequence);
      report(Anomaly.ofGap(at, nextSequence, meta.sequence(), missing));
      // a missing chunk may have reported records dropped before it
      lose(loss, StackLosses.UNBOUNDED, told);
    }
    if (meta.lostBefore() > 0) {
      long before = Math.max(meta.recordsBefore(), 0);
      drop(meta.firstTime(), meta.lostBefore(), meta.sequence(), before, told);
    }
    return gap || meta.lostBefore() > 0;
  }

  private void takeUntraced(ChunkMeta meta) {
    accounts.count(Stat.OVERRUNS, Math.max(meta.overruns(), overrunsTold));
    if (meta.overruns() > overrunsTold) {
      report(Anomaly.ofRecords(AnomalyKind.OVERRUN, time, meta.overruns() - overrunsTold));
    }
    overrunsTold = 0;
    if (meta.unhijackable() > 0) {
      accounts.count(Stat.UNHIJACKABLE, meta.unhijackable());
    }
    if (meta.abandoned() > 0) {
      accounts.count(Stat.ABANDONED_CALLS, meta.abandoned());
    }
  }

  private void end(ChunkMeta meta) {
    end = meta.end();
    endDetail = meta.endDetail();
    long at = advance(meta.lastTime());
    if (end == CoreEnd.FAULTED) {
      faulted(at); // while the calls in which it happened are open
    }
    if (EndDetail.waits(endDetail)) {
      accounts.count(Stat.WAITING_CORES, 1);
    }
    tasks.end(at);
  }

  private void faulted(long at) {
    accounts.count(Stat.FAULTED_CORES, 1);
    ShadowStack stack = tasks.stack();
    long[] open = stack == null ? new long[0] : stack.knownCalls();
    report(
        new Anomaly(
            AnomalyKind.FAULTED,
            Anomaly.Variant.PLAIN,
            at,
            open.length == 0 ? 0 : open[0],
            0,
            0,
            map.of(EndDetail.place(endDetail).orElse(0)),
            1,
            LongImmutableList.of(open)));
  }

  private void apply(RecordBatch batch) {
    int size = batch.size();
    if (records == 0 && size > 0 && !isSegment) {
      tasks.firstRecord(Math.max(time, batch.time[0]));
    }
    int i = 0;
    while (i < size) {
      int first = i;
      ShadowStack stack = tasks.stack();
      i = stack == null ? first : stack.takeOrdinary(batch, first, time);
      if (i > first) {
        records += i - first;
        time = batch.time[i - 1];
        tasks.seen(i - first);
        assert stack.isBalanced();
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
      assert tasks.stack() == null || tasks.stack().isBalanced();
    }
  }

  private void record(
      int index, byte kind, long at, int depth, long selfPc, long fromPc, long retP, long fp) {
    switch (kind) {
      case RecordBatch.ENTRY, RecordBatch.EXIT, RecordBatch.SMASHED -> {
        if (depth < 0 || depth >= maxDepth) { // a frame
          bad(at);
          return;
        }
      }
      case RecordBatch.SYS_ENTER,
          RecordBatch.SYS_EXIT,
          RecordBatch.INTERRUPT_ENTER,
          RecordBatch.INTERRUPT_EXIT -> {
        if (depth < 0 || depth > maxDepth) { // how many frames there are
          bad(at);
          return;
        }
      }
      case RecordBatch.LOST -> {
        drop(at, Math.max(selfPc, 0), chunk, sum(firstRecord, index + 1L), false);
        return;
      }
      case RecordBatch.VALUES -> {
        records++;
        time = Math.max(time, at); // that of the record ahead, if there is one
        tasks.seen(1);
        accounts.values(depth, selfPc, fromPc, retP, fp);
        return;
      }
      case RecordBatch.TASK -> {
        if (TaskEvent.of(fromPc).isEmpty()) {
          bad(at);
          return;
        }
      }
      case RecordBatch.FUNCTION,
          RecordBatch.MARK,
          RecordBatch.TASK_NAME,
          RecordBatch.MAP,
          RecordBatch.UNMAP -> {}
      default -> {
        bad(at);
        return;
      }
    }
    records++;
    accounts.next();
    long now = advance(at);
    switch (kind) {
      case RecordBatch.TASK -> tasks.task(TaskEvent.of(fromPc).orElseThrow(), selfPc, depth, now);
      case RecordBatch.INTERRUPT_ENTER -> tasks.interrupt(selfPc, fromPc, now);
      case RecordBatch.INTERRUPT_EXIT -> tasks.interruptEnd(selfPc, now);
      case RecordBatch.TASK_NAME -> names.put(selfPc, new TaskName(fromPc, retP));
      case RecordBatch.MAP, RecordBatch.UNMAP -> {} // the map was followed already
      default -> record(tasks.stack(), now, kind, depth, selfPc, fromPc, retP, fp);
    }
    tasks.seen(1);
  }

  private void record(
      ShadowStack stack,
      long now,
      byte kind,
      int depth,
      long selfPc,
      long fromPc,
      long retP,
      long fp) {
    if (stack == null) {
      accounts.count(Stat.TASKS_NOT_KEPT, 1);
      return;
    }
    switch (kind) {
      case RecordBatch.ENTRY -> stack.entry(now, depth, selfPc, fromPc, retP, fp);
      case RecordBatch.EXIT -> stack.exit(now, depth, selfPc, fromPc, retP, fp);
      case RecordBatch.SMASHED -> stack.smashed(now, depth, selfPc, fromPc, retP, fp);
      case RecordBatch.FUNCTION -> {
        overrunsTold += depth > 0 ? 1 : 0;
        stack.called(now, depth, selfPc, fromPc);
      }
      case RecordBatch.SYS_ENTER -> stack.systemCall(now, selfPc);
      case RecordBatch.SYS_EXIT -> stack.systemCallEnded(now, selfPc, fromPc);
      default -> stack.mark(now, fromPc, selfPc, retP);
    }
  }

  /** An invalid record: only its time is used. */
  private void bad(long at) {
    accounts.count(Stat.BAD_RECORDS, 1);
    time = Math.max(time, at);
  }

  /** The core dropped records and says so. */
  private void drop(long when, long count, long chunk, long before, boolean told) {
    long since = time;
    long at = advance(when);
    lost = sum(lost, count);
    accounts.count(Stat.LOST_RECORDS, count);
    report(Anomaly.ofRecords(AnomalyKind.LOST, at, count));
    lose(new Loss(Loss.Kind.DROPPED, chunk, chunk, before, count, since, at), count, told);
  }

  /**
   * Notes a loss: open calls may have ended.
   *
   * @param told whether a keyframe follows
   */
  private void lose(Loss loss, long atMost, boolean told) {
    accounts.lost(loss);
    tasks.lose(loss.after(), loss.until(), atMost, told);
    accounts.next();
  }

  private long advance(long to) {
    if (to < time) {
      accounts.count(Stat.TIME_BACKWARDS, 1);
    } else {
      time = to;
    }
    return time;
  }

  private void report(Anomaly anomaly) {
    if (accounts.found(
        anomaly.kind(), anomaly.selfPc(), anomaly.place(), anomaly.time(), anomaly.count())) {
      accounts.anomaly(anomaly);
    } else {
      accounts.count(Stat.ANOMALIES_NOT_KEPT, 1);
    }
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

  /** Chunks that began with the core's own stacks, with which these were compared. */
  public long keyframes() {
    return keyframes;
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
    return tasks.table().counts().entries();
  }

  /** Calls that began in a loss and are known from a keyframe. */
  public long adopted() {
    return tasks.table().counts().adopted();
  }

  /** Calls that have not ended. */
  public int open() {
    return tasks.table().open();
  }

  /** Calls that ended so. */
  public long ended(Ending ending) {
    return tasks.table().counts().ended(ending);
  }

  /** All tasks that are kept, in the order in which they appeared. */
  public Collection<TracedTask> tasks() {
    return tasks.table().all();
  }

  /** How the program calls the task of this id. */
  TaskName taskName(long id) {
    return names.get(id);
  }

  /** How the program calls its tasks now, by id. */
  public Map<Long, TaskName> taskNames() {
    return names.all();
  }

  /** The stack at hand, null where the task is not kept or the core ended. */
  ShadowStack current() {
    return tasks.current();
  }

  /** Frames on the stack at hand. */
  public int slots() {
    return current() == null ? 0 : current().frames.size();
  }

  /** Stretches of the stack at hand of which nothing is known since a loss. */
  public int holes() {
    return current() == null ? 0 : current().losses.holes();
  }

  /** Whether every entry is open or ended exactly once. */
  public boolean balanced() {
    return tasks.table().isBalanced();
  }

  @Override
  public String toString() {
    return "CoreReconstructor[chunk %d, %d records, %d lost, %d entries, %d open]"
        .formatted(nextSequence, records, lost, entries(), open());
  }

  /** Writes the whole state. */
  void writeTo(DataOutput out) throws IOException {
    out.writeLong(nextSequence);
    out.writeLong(recordsExpected);
    out.writeLong(records);
    out.writeLong(lost);
    out.writeLong(time);
    out.writeLong(keyframes);
    Fields.writeText(out, end.name());
    Fields.writeText(out, endDetail);
    tasks.writeTo(out);
    map.writeTo(out);
    names.writeTo(out);
  }

  /**
   * Reads what {@link #writeTo} wrote into this new reconstructor; nothing is added up.
   *
   * @param written the profile by whose arcs it was written
   * @param profile the profile of this core
   * @throws IOException where the bytes are not such a state
   */
  void readFrom(DataInput in, CallProfile written, CallProfile profile) throws IOException {
    nextSequence = in.readLong();
    recordsExpected = in.readLong();
    records = in.readLong();
    lost = in.readLong();
    time = in.readLong();
    keyframes = in.readLong();
    isNew = nextSequence == 0;
    if (nextSequence < 0
        || recordsExpected < 0
        || records < 0
        || lost < 0
        || time < 0
        || keyframes < 0) {
      throw new IOException("corrupt snapshot: a negative count");
    }
    end = Fields.readEnum(in, CoreEnd.class);
    endDetail = Fields.readText(in);
    tasks.readFrom(in, written, profile);
    map.readFrom(in);
    names.readFrom(in);
    if (nextSequence == 0 && tasks.stack() == null) {
      throw new IOException("corrupt snapshot: no stack ahead of the first chunk");
    }
  }
}
