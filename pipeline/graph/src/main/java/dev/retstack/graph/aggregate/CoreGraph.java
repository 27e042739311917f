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
      events = listener;
      if (listener != null) {
        listener.chunk(this, meta.sequence());
      }
      linked.begin();
      accountant.contexts().begin();
      boolean taken = reconstructor.apply(meta, batch);
      accountant.contexts().rest();
      stats.add(Stat.STATE_FULL, account.refused() + profile.account().refused());
      if (reconstructor.end() != CoreEnd.RUNNING) {
        account.settle();
      }
      return taken;
    } catch (RuntimeException | StackOverflowError | AssertionError e) {
      // an OutOfMemoryError is no chunk's own doing, and ends the process
      throw BrokenCoreException.of(key, meta.sequence(), e);
    }
  }

  /** What of the budget it holds. */
  StateBudget.Account account() {
    return account;
  }

  /** A chunk made it fail: it takes none any more. */
  void breakOff(BrokenCoreException why) {
    reconstructor.breakOff(why.getMessage());
    account.settle();
  }

  /** A chunk behind that is left out, and counts as lost. */
  void leaveOut(ChunkMeta meta, int size) {
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
    stats.add(stat, amount);
  }

  /** How often what was told of it was amended, since a chunk came late. */
  public int revision() {
    return revision;
  }

  void setRevision(int number) {
    revision = number;
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

  /** Writes all but {@link #writeIdentity identity} and profile. */
  void writeTo(DataOutput out) throws IOException {
    try {
      write(out);
    } catch (RuntimeException | StackOverflowError e) {
      throw BrokenCoreException.of(key, 0, e); // which of its chunks since the last one, none knows
    }
  }

  private void write(DataOutput out) throws IOException {
    reconstructor.writeTo(out);
    tree.seal(); // here and not with the chunk that filled it: that one is not to wait for it
    tree.writeTo(out);
    accountant.writeTo(out, reconstructor);
    losses.writeTo(out);
    anomalies.writeTo(out);
    stats.writeTo(out);
    out.writeLong(digest);
    other.writeTo(out);
    interrupts.writeTo(out);
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
    reconstructor.readFrom(in);
    tree.readFrom(in);
    accountant.readFrom(in, reconstructor, written);
    losses.readFrom(in);
    anomalies.readFrom(in);
    stats.readFrom(in);
    digest = in.readLong();
    other.readFrom(in);
    interrupts.readFrom(in);
    tree.seal();
  }

  void writeIdentity(DataOutput out) throws IOException {
    Fields.writeText(out, key.session());
    Fields.writeText(out, key.core());
    Fields.writeText(out, image.id());
    Fields.writeText(out, unit.name());
  }
}
