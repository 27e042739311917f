package dev.retstack.graph.aggregate;

import static dev.retstack.graph.symbol.SymbolTable.textBytes;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.ChunkMeta;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.reconstruct.CoreEnd;
import dev.retstack.graph.reconstruct.CoreReconstructor;
import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.reconstruct.GraphListener;
import dev.retstack.graph.reconstruct.Loss;
import dev.retstack.graph.reconstruct.StateBudget;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.codec.RecordBatch;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * All that is known of one core: its reconstruction, and what its calls add up to. The totals go to
 * a profile that it shares with the other cores of its session and image.
 */
public final class CoreGraph {
  /** What stands between reconstruction and who adds up: tests have a listener here that throws. */
  static volatile BiFunction<CoreKey, GraphListener, GraphListener> between =
      (_, accountant) -> accountant;

  /** Names of its parts in the log of the state, behind its number. */
  static final String TREE = "/t";

  static final String LOGS = "/l";
  static final String HELD = "/h";

  /** Usual sizes of its parts. */
  private static final int FRAMES_ROOM = 512;

  private static final int TREE_ROOM = 1 << 13;
  private static final int LOGS_ROOM = 256;

  /** What a core takes of which nothing was seen but that it is there. */
  private static final int BYTES = 5_000;

  private final CoreKey key;
  private final ImageInfo image;
  private final ClockUnit unit;
  private final CallProfile profile;
  private final CoreReconstructor reconstructor;
  private final CallTreeLog tree;
  private final LossLog losses;
  private final AnomalyLog anomalies;
  private final StatCounts stats = new StatCounts();
  private final CoreEvents other;
  private final InterruptTotals interrupts;
  private final LinkedCalls linked;
  private final TimeRules rules;
  private final Optional<ContextProfiles> byTask;
  private final CoreAccountant accountant;
  private final StateBudget.Account account;

  /** Its number in the log of the state, and hashes of what that holds of it. */
  private long number;

  private long writtenFrames = StateLog.NONE;
  private long writtenTree = StateLog.NONE;
  private long writtenLogs = StateLog.NONE;

  /** Whether it is not what the log holds. */
  private boolean touched = true;

  private long digest;
  private int revision;
  private HeldChunks held;
  private GraphEvents events;

  /**
   * A core of which nothing was seen; {@code linked} serves all cores of the state, {@code callers}
   * those of the image.
   *
   * @param byTask whether what calls add up to is kept for each task, and not in {@code profile}
   * @param account of which the bytes are taken that it holds
   */
  CoreGraph(
      CoreKey key,
      ImageInfo image,
      ClockUnit unit,
      CallProfile profile,
      LinkedCalls linked,
      CallerPcs callers,
      GraphLimits limits,
      TimeRules rules,
      boolean byTask,
      StateBudget.Account account) {
    this.key = key;
    this.image = image;
    this.unit = unit;
    this.profile = profile;
    this.linked = linked;
    this.rules = rules;
    this.account = account;
    account.charge(BYTES + 2 * (textBytes(key.session()) + textBytes(key.core())));
    this.losses = new LossLog(account);
    this.interrupts = new InterruptTotals(account);
    this.tree = new CallTreeLog(limits.treeCallsPerCore(), account);
    this.other = new CoreEvents(tree, account);
    this.anomalies = new AnomalyLog(limits.anomaliesPerKind(), account);
    this.byTask = byTask ? Optional.of(new ContextProfiles(key, limits)) : Optional.empty();
    this.accountant = new CoreAccountant(this, callers);
    this.reconstructor =
        new CoreReconstructor(
            image.traits(),
            limits.maxDepth(),
            limits.tasks(),
            between.apply(key, accountant),
            account);
  }

  boolean apply(ChunkMeta meta, RecordBatch batch, GraphEvents listener) {
    try {
      touch();
      events = listener;
      if (listener != null) {
        listener.chunk(this, meta.sequence());
      }
      linked.begin();
      accountant.contexts().begin();
      boolean taken = reconstructor.apply(meta, batch);
      accountant.contexts().rest();
      stats.add(Stat.STATE_FULL, account.refused() + profile.account().refused());
      tree.sealWhereBounded();
      settle();
      return taken;
    } catch (RuntimeException | StackOverflowError | AssertionError e) {
      // an OutOfMemoryError is no chunk's own doing, and ends the process
      throw BrokenCoreException.of(key, meta.sequence(), e);
    }
  }

  /** Gives back what it was promised and will not need. */
  void settle() {
    if (reconstructor.end() != CoreEnd.RUNNING) {
      account.settle();
    } else if (tree.isOver()) {
      account.calmDown();
    }
  }

  /** What of the budget it holds. */
  StateBudget.Account account() {
    return account;
  }

  /** A chunk made it fail: it takes none any more. */
  void breakOff(BrokenCoreException why) {
    touch();
    reconstructor.breakOff(why.getMessage());
    account.settle();
  }

  /** A chunk behind that is left out, and counts as lost. */
  void leaveOut(ChunkMeta meta, int size) {
    touch();
    count(Stat.BROKEN_CHUNKS, 1);
    long time = reconstructor.time();
    long record = Math.max(meta.recordsBefore(), 0);
    long missing = reconstructor.leaveOut(meta, size);
    if (missing > 0) {
      count(Stat.GAP_RECORDS, missing);
      long chunk = meta.sequence();
      losses.add(new Loss(Loss.Kind.MISSING, chunk, chunk + 1, record, missing, time, time));
    }
  }

  boolean isBroken() {
    return reconstructor.end() == CoreEnd.BROKEN;
  }

  void count(Stat stat, long amount) {
    touched = true;
    stats.add(stat, amount);
  }

  private void touch() {
    touched = true;
    profile.touch();
  }

  /** How often what was told of it was amended, since a chunk came late. */
  public int revision() {
    return revision;
  }

  void setRevision(int times) {
    touched = true;
    revision = times;
  }

  /** Its chunks that wait for one ahead of them. */
  HeldChunks held() {
    if (held == null) {
      held = new HeldChunks();
    }
    return held;
  }

  /** Whether chunks wait for one ahead of them. */
  boolean isHolding() {
    return held != null && !held.isEmpty();
  }

  public CoreKey key() {
    return key;
  }

  public ImageInfo image() {
    return image;
  }

  public ClockUnit unit() {
    return unit;
  }

  /** Sequence, records, losses, endings. */
  public CoreReconstructor progress() {
    return reconstructor;
  }

  public CallTreeLog tree() {
    return tree;
  }

  /** What happened besides calls with a frame. */
  public CoreEvents other() {
    return other;
  }

  public AnomalyLog anomalies() {
    return anomalies;
  }

  /** Where records are missing. */
  public LossLog losses() {
    return losses;
  }

  public StatCounts stats() {
    return stats;
  }

  /** Another stack is at hand: that is part of the digest. */
  void mixContext(TreeKind kind, long id, long detail, long time) {
    digest = mix(digest, id, time, detail, kind.code(), Ending.count());
  }

  /** Digest of every finished or truncated call of this core, in order, with its times. */
  public long digest() {
    return digest;
  }

  void setDigest(long value) {
    digest = value;
  }

  /**
   * What its calls add up to, with those of others, unless it {@link GraphState#holding() holds}.
   */
  public CallProfile profile() {
    return profile;
  }

  /** Whether what calls add up to is kept for each task. */
  boolean isByTask() {
    return byTask.isPresent();
  }

  /** What the calls of a stack add up to. */
  CallProfile profile(ContextCalls context) {
    return byTask.isPresent() ? byTask.get().of(context) : profile;
  }

  /** What the calls of each task add up to; empty where they are added up for all together. */
  public Map<ContextKey, CallProfile> profiles() {
    return byTask.isPresent() ? byTask.get().all() : Map.of();
  }

  /** Interrupts, by number. */
  public InterruptTotals interrupts() {
    return interrupts;
  }

  /** What counts in totals. */
  public TimeRules rules() {
    return rules;
  }

  /** The calls that are open on the stack at hand. */
  OpenCalls calls() {
    return accountant.calls();
  }

  OpenCounts openCounts() {
    return accountant.openCounts();
  }

  LinkedCalls linked() {
    return linked;
  }

  /**
   * A row of the tree that is an open call.
   *
   * @param lostSince time of the last record before a loss that may have ended it, else negative
   * @param notRun how much of its time it did not run
   * @param leftOut how much of its time does not count in totals
   */
  public record OpenRow(long lostSince, long notRun, long leftOut) {
    /** A row that is no call of a stack. */
    public static final OpenRow UNKNOWN = new OpenRow(-1, 0, 0);
  }

  /** The open calls by their rows, as they stand now. */
  public Int2ObjectMap<OpenRow> openRows() {
    return accountant.contexts().openRows(reconstructor, rules);
  }

  /** Who hears of calls, null for none. */
  GraphEvents events() {
    return events;
  }

  static long mix(long h, long selfPc, long enter, long exit, int level, int ending) {
    long call = selfPc * 0x9e3779b97f4a7c15L + Long.rotateLeft(enter, 21) * 31 + exit;
    call = (call ^ (call >>> 29)) + level * 8L + ending;
    return (Long.rotateLeft(h, 5) ^ call) * 0xbf58476d1ce4e5b9L;
  }

  /** Its number in the log of the state. */
  long number() {
    return number;
  }

  void setNumber(long given) {
    number = given;
  }

  private String part(String name) {
    return "c/" + number + name;
  }

  /** Writes what is not what the log of the state holds of it. */
  void writeChanges(StateLog log, StateChanges to) throws IOException {
    if (touched) {
      ByteOutput frames = new ByteOutput(FRAMES_ROOM);
      ByteOutput logs = new ByteOutput(LOGS_ROOM);
      writeIdentity(frames);
      tree.seal();
      if (writtenTree == StateLog.NONE || !tree.isKept()) {
        ByteOutput rows = new ByteOutput(TREE_ROOM);
        write(frames, rows, logs);
        writtenTree = log.put(to, part(TREE), writtenTree, rows);
        tree.keep();
      } else {
        write(frames, null, logs);
      }
      writtenFrames = log.put(to, part(""), writtenFrames, frames);
      writtenLogs = log.put(to, part(LOGS), writtenLogs, logs);
      touched = false;
    }
    if (held != null) {
      held.writeChanges(log, to, part(HELD));
    }
  }

  /** It leaves the state, and its log. */
  void leave(StateLog log) {
    writtenFrames = log.remove(part(""), writtenFrames);
    writtenTree = log.remove(part(TREE), writtenTree);
    writtenLogs = log.remove(part(LOGS), writtenLogs);
    if (held != null) {
      held.leave(log, part(HELD));
    }
  }

  /** Reads what {@link #writeChanges} wrote of a new core, identity and held chunks excepted. */
  void readParts(ByteInput frames, StateParts.Core parts) throws IOException {
    ByteInput rows = new ByteInput(parts.tree);
    ByteInput logs = new ByteInput(parts.logs);
    readFrom(frames, rows, logs, profile);
    if (frames.remaining() + rows.remaining() + logs.remaining() > 0) {
      throw new IOException("corrupt state: core %s has more than it needs".formatted(key.core()));
    }
    writtenFrames = StateLog.hash(part(""), parts.frames);
    writtenTree = StateLog.hash(part(TREE), parts.tree);
    writtenLogs = StateLog.hash(part(LOGS), parts.logs);
    touched = false;
  }

  /** These are the bytes of what it holds. */
  void heldIs(byte[] bytes, ByteInput rest) throws IOException {
    if (rest.remaining() > 0) {
      throw new IOException("corrupt state: core %s holds more".formatted(key.core()));
    }
    held.setWritten(StateLog.hash(part(HELD), bytes));
  }

  /** Writes all but {@link #writeIdentity identity}, profile and held chunks. */
  void writeTo(DataOutput out) throws IOException {
    tree.seal();
    write(out, out, out);
  }

  /**
   * @param rows null where the tree is not to be written
   */
  private void write(DataOutput frames, DataOutput rows, DataOutput logs) throws IOException {
    try {
      reconstructor.writeTo(frames);
      if (rows != null) {
        tree.writeTo(rows);
      }
      tree.writeOpenTo(frames);
      accountant.writeTo(frames, reconstructor);
      stats.writeTo(frames);
      frames.writeLong(digest);
      frames.writeInt(revision);
      losses.writeTo(logs);
      anomalies.writeTo(logs);
      other.writeTo(logs);
      interrupts.writeTo(logs);
    } catch (RuntimeException | StackOverflowError e) {
      throw BrokenCoreException.of(key, 0, e); // which of its chunks since the last one, none knows
    }
  }

  /** Reads what {@link #writeTo} wrote into this new core; the profile is complete already. */
  void readFrom(DataInput in) throws IOException {
    readFrom(in, profile);
  }

  /**
   * Reads what {@link #writeTo} wrote into this new core, which adds up elsewhere.
   *
   * @param written the profile of the core that wrote it
   */
  void readFrom(DataInput in, CallProfile written) throws IOException {
    readFrom(in, in, in, written);
  }

  private void readFrom(DataInput frames, DataInput rows, DataInput logs, CallProfile written)
      throws IOException {
    reconstructor.readFrom(frames);
    tree.readFrom(rows, frames);
    accountant.readFrom(frames, reconstructor, written);
    stats.readFrom(frames);
    digest = frames.readLong();
    revision = frames.readInt();
    if (revision < 0) {
      throw new IOException("corrupt snapshot: revision " + revision);
    }
    losses.readFrom(logs);
    anomalies.readFrom(logs);
    other.readFrom(logs);
    interrupts.readFrom(logs);
    tree.seal();
  }

  void writeIdentity(DataOutput out) throws IOException {
    Fields.writeText(out, key.session());
    Fields.writeText(out, key.core());
    Fields.writeText(out, image.id());
    Fields.writeText(out, unit.name());
  }
}
