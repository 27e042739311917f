package dev.retstack.graph.calls;

import static dev.retstack.graph.symbol.SymbolTable.textBytes;

import dev.retstack.graph.check.AnomalyLog;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.check.StatCounts;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.CallerPcs;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.losses.LossLog;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.snapshot.StateLog;
import dev.retstack.graph.snapshot.StateParts;
import dev.retstack.graph.totals.CallDigest;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.ContextKey;
import dev.retstack.graph.totals.InterruptTotals;
import dev.retstack.graph.totals.OpenCounts;
import dev.retstack.graph.totals.ProfileRoom;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.StackFold;
import dev.retstack.graph.tree.Stacks;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.RecordBatch;
import it.unimi.dsi.fastutil.ints.Int2ObjectMap;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.IntUnaryOperator;

/**
 * All that is known of one core: its reconstruction, and what its calls add up to. The totals go to
 * a profile that it shares with the other cores of its session and image.
 */
public final class CoreGraph extends KnownCore {
  /** Makes what the calls of a core add up to: tests have one here that throws. */
  static volatile BiFunction<CoreGraph, CallerPcs, CallAccounts> accountsOf = CallAccounts::new;

  /** Usual sizes of its parts. */
  private static final int FRAMES_ROOM = 512;

  /** Texts of its identity. */
  private static final int IDENTITY_TEXTS = 4;

  private static final int TREE_ROOM = 1 << 13;
  private static final int LOGS_ROOM = 256;

  /** What a core takes of which nothing was seen but that it is there. */
  private static final int BYTES = 4_818;

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
  private final CallAccounts accounts;

  /** Null where the tree keeps its rows. */
  private final StackFold fold;

  private long digest;

  /** Switches and interrupts in the digest, since the core is in memory. */
  private long contexts;

  /** Bytes from which on the core was too large to rest. */
  private long tooLarge = Long.MAX_VALUE;

  private GraphEvents events;

  /** Null where nobody asks for it. */
  private Pyramid pyramid;

  /** Pyramid of the core's state, whatever else listens; null where there is none. */
  private Pyramid own;

  /**
   * A core of which nothing was seen; {@code linked} serves all cores of the state, {@code callers}
   * those of the image.
   *
   * @param byTask whether what calls add up to is kept for each task, and not in {@code profile}
   * @param account of which the bytes are taken that it holds
   */
  public CoreGraph(
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
    super(key, image, unit, profile, account);
    this.linked = linked;
    this.rules = rules;
    account.charge(BYTES + 2 * (textBytes(key.session()) + textBytes(key.core())));
    this.losses = new LossLog(account);
    this.interrupts = new InterruptTotals(account);
    this.tree = new CallTreeLog(limits.treeCallsPerCore(), account);
    this.fold = limits.stacks() > 0 ? new StackFold(tree, limits.stacks()) : null;
    this.other = new CoreEvents(tree, account);
    this.anomalies = new AnomalyLog(limits.anomaliesPerKind(), account);
    this.byTask = byTask ? Optional.of(new ContextProfiles(key, limits)) : Optional.empty();
    this.accounts = accountsOf.apply(this, callers);
    this.reconstructor =
        new CoreReconstructor(image, limits.maxDepth(), limits.tasks(), accounts, account);
  }

  /** Takes a chunk. One that is not behind all that were taken is counted, and changes nothing. */
  public ApplyResult apply(ChunkMeta meta, RecordBatch batch, GraphEvents listener) {
    if (meta.sequence() < reconstructor.nextSequence()) {
      boolean late = losses.isMissing(meta.sequence());
      count(late ? Stat.LATE_CHUNKS : Stat.STALE_CHUNKS, 1);
      return late ? ApplyResult.LATE : ApplyResult.STALE;
    }
    try {
      touch();
      events = listener;
      pyramid = own != null || listener == null ? own : listener.pyramid(this);
      if (listener != null) {
        listener.chunk(this, meta.sequence());
      }
      linked.begin();
      accounts.begin();
      boolean taken = reconstructor.apply(meta, batch);
      accounts.rest();
      stats.add(Stat.STATE_FULL, account().refused() + profile().account().refused());
      if (fold != null && fold.isDue()) {
        foldRows();
      }
      tree.sealWhereBounded();
      settle();
      return taken ? ApplyResult.APPLIED : ApplyResult.REFUSED;
    } catch (RuntimeException | StackOverflowError | AssertionError e) {
      // an OutOfMemoryError is no chunk's own doing, and ends the process
      throw BrokenCoreException.of(key(), meta.sequence(), e);
    }
  }

  private void foldRows() {
    BitSet held = new BitSet();
    BitSet unplaced = new BitSet();
    renumber(row -> mark(row, held), row -> mark(row, unplaced));
    int[] numbers = fold.fold(held, unplaced);
    IntUnaryOperator number = row -> row < 0 ? row : numbers[row];
    renumber(number, number);
  }

  private static int mark(int row, BitSet in) {
    if (row >= 0) {
      in.set(row);
    }
    return row;
  }

  private void renumber(IntUnaryOperator numbers, IntUnaryOperator ofWaiting) {
    for (TracedTask task : reconstructor.tasks()) {
      for (ShadowStack stack : task.stacks) {
        stack.renumber(numbers, ofWaiting);
      }
    }
    other.renumber(numbers);
  }

  /**
   * The core's calls, added up by their stacks: of all of them with {@link GraphLimits#withStacks},
   * else of those that its tree keeps. Calls that are open count as if they ended now.
   *
   * @param nodes number of nodes that are kept separate, where the limits do not say it
   */
  public Stacks stacks(int nodes) {
    long now = reconstructor.time();
    Int2ObjectMap<OpenRow> open = openRows();
    StackFold all = fold == null ? new StackFold(tree, nodes) : fold;
    return all.stacks(
        new StackFold.Ends() {
          @Override
          public long ran(int row) {
            OpenRow call = open.getOrDefault(row, OpenRow.UNKNOWN);
            return isCut(row)
                ? call.lostSince() - tree.enter(row)
                : now - tree.enter(row) - call.notRun();
          }

          @Override
          public boolean isCut(int row) {
            return open.getOrDefault(row, OpenRow.UNKNOWN).lostSince() >= 0;
          }
        });
  }

  /** Gives back what it was promised and will not need. */
  public void settle() {
    if (reconstructor.end() != CoreEnd.RUNNING) {
      account().settle();
    } else if (tree.isOver()) {
      account().calmDown();
    }
  }

  /** A chunk made it fail: it takes none any more. */
  public void breakOff(BrokenCoreException why) {
    touch();
    reconstructor.breakOff(why.getMessage());
    account().settle();
  }

  /** A chunk behind that is left out, and counts as lost. */
  public void leaveOut(ChunkMeta meta, int size) {
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

  public boolean isBroken() {
    return reconstructor.end() == CoreEnd.BROKEN;
  }

  public void count(Stat stat, long amount) {
    touched = true;
    stats.add(stat, amount);
  }

  private void touch() {
    touched = true;
    profile().touch();
  }

  @Override
  public CoreSummary summary() {
    return CoreSummary.of(this);
  }

  /** What was before this chunk, the first one that will be taken, is not asked for. */
  public void beginAt(ChunkMeta meta) {
    reconstructor.beginAt(meta);
  }

  /** Nothing of it behind this time counts: what is open ends there. */
  public void closeAt(long time) {
    touch();
    events = null;
    accounts.begin();
    reconstructor.closeAt(time);
    accounts.rest();
    settle();
  }

  /** Sequence, records, losses, endings. */
  public CoreReconstructor progress() {
    return reconstructor;
  }

  /**
   * The name of a task: with its id that which the program gave it, else {@link
   * ImageInfo#taskName}.
   */
  public String taskName(long task, int instance) {
    return image().taskName(task, instance, reconstructor.taskName(task));
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

  /** Adds a change of the current stack to the digest. */
  void mixContext(TreeKind kind, long id, long detail, long time) {
    digest = CallDigest.add(digest, id, time, detail, kind.code(), Ending.count());
    contexts++;
  }

  /** Whether a {@link CoreSegment} can continue from here, or be this core. */
  boolean isPlain() {
    return !isByTask()
        && events == null
        && own == null
        && rules.graphTime()
        && tree.isFullBeside()
        && contexts == 0
        && interrupts.numbers().length == 0
        && reconstructor.isPlain();
  }

  /** Takes what a segment that fits adds to this core; false where that meets a limit. */
  boolean join(CoreGraph segment) {
    long notKept =
        segment.stats.get(Stat.FUNCTIONS_NOT_KEPT) + segment.stats.get(Stat.EDGES_NOT_KEPT);
    if (notKept > 0
        || !profile().hasRoomFor(segment.profile())
        || segment.losses.losses() > 0
        || !other.fits(segment.other)
        || !segment.anomalies.isExact()) {
      return false;
    }
    touch();
    profile().merge(segment.profile());
    long calls = 0;
    for (Ending ending : Ending.values()) {
      calls += segment.reconstructor.ended(ending);
    }
    digest = CallDigest.join(digest, segment.digest, calls);
    other.join(segment.other, reconstructor.current());
    reconstructor.join(segment.reconstructor, segment.profile(), profile());
    stats.add(segment.stats);
    stats.add(Stat.ANOMALIES_NOT_KEPT, anomalies.join(segment.anomalies));
    return true;
  }

  /** Digest of every finished or truncated call of this core, in order, with its times. */
  public long digest() {
    return digest;
  }

  void setDigest(long value) {
    digest = value;
  }

  /** Whether what calls add up to is kept for each task. */
  boolean isByTask() {
    return byTask.isPresent();
  }

  /** What the calls of a stack add up to. */
  CallProfile profile(ShadowStack stack) {
    return byTask.isPresent() ? byTask.get().of(stack) : profile();
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

  OpenCounts openCounts() {
    return accounts.openCounts();
  }

  LinkedCalls linked() {
    return linked;
  }

  /** Takes rows out of the tree and adds them up; null where the tree keeps its rows. */
  StackFold fold() {
    return fold;
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
    Int2ObjectMap<OpenRow> rows = new Int2ObjectOpenHashMap<>();
    for (TracedTask task : reconstructor.tasks()) {
      for (ShadowStack stack : task.stacks) {
        stack.addOpenRows(reconstructor.time(), rules, rows);
      }
    }
    return rows;
  }

  /** Listener for calls, null for none. */
  GraphEvents events() {
    return events;
  }

  /** Puts the core's calls into this pyramid from now on; null for none. */
  public void placeIn(Pyramid pyramidOfState) {
    own = pyramidOfState;
  }

  /** Puts the calls that are open into a pyramid, as if they ended now. */
  public void placeOpen(Pyramid into) {
    for (TracedTask task : reconstructor.tasks()) {
      for (ShadowStack stack : task.stacks) {
        stack.placeOpen(reconstructor.time(), into);
      }
      if (task.isOut()) {
        into.away(task.id(), task.instance(), task.out(), reconstructor.time());
      }
    }
  }

  /** Where calls are put by their times, null for nowhere. */
  Pyramid pyramid() {
    return pyramid;
  }

  @Override
  public void writeChanges(StateLog log, StateChanges to) throws IOException {
    if (touched || log.isCopy()) {
      tree.seal();
      boolean rows = log.isCopy() || !isTreeWritten();
      StateParts.Core parts = parts(rows);
      if (rows) {
        writtenTree = log.put(to, part(StateLog.TREE), writtenTree, parts.tree());
      }
      writtenFrames = log.put(to, part(""), writtenFrames, parts.frames());
      writtenLogs = log.put(to, part(StateLog.LOGS), writtenLogs, parts.logs());
      if (!log.isCopy()) {
        tree.keep();
        touched = false;
      }
    }
  }

  private boolean isTreeWritten() {
    return writtenTree != StateLog.NONE && tree.isKept();
  }

  /**
   * Its parts as they are now.
   *
   * @param rows whether with those of its tree, which is sealed
   */
  private StateParts.Core parts(boolean rows) throws IOException {
    ByteOutput frames = new ByteOutput(FRAMES_ROOM);
    ByteOutput ofTree = new ByteOutput(rows ? TREE_ROOM : 0);
    ByteOutput logs = new ByteOutput(LOGS_ROOM);
    writeIdentity(frames);
    try {
      if (rows) {
        tree.writeTo(ofTree);
      }
      tree.writeOpenTo(frames);
      reconstructor.writeTo(frames);
      stats.writeTo(frames);
      frames.writeLong(digest);
      losses.writeTo(logs);
      anomalies.writeTo(logs);
      other.writeTo(logs);
      interrupts.writeTo(logs);
    } catch (RuntimeException | StackOverflowError e) {
      throw BrokenCoreException.of(
          key(), 0, e); // which of its chunks since the last one, none knows
    }
    return new StateParts.Core(frames.take(), ofTree.take(), logs.take());
  }

  /** A core goes to rest, and is not used after this; empty where it has to stay. */
  public Optional<RestingCore> rest() {
    if (byTask.isPresent() || fold != null || account().used() >= tooLarge) {
      return Optional.empty();
    }
    tree.seal();
    Optional<RestingCore> resting;
    try {
      resting = RestingCore.of(this, parts(true), isTreeWritten());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot happen in memory", e);
    }
    if (resting.isEmpty()) {
      tooLarge = account().used();
    }
    return resting;
  }

  /** This new core is what one at rest is, which is not used after this. */
  public void wake(RestingCore resting) {
    restore(resting.parts(), profile());
    isIn(resting);
    if (!resting.isTreeKept()) {
      tree.unkeep();
    }
  }

  /** Makes this new core what another one is, whose calls add up elsewhere. */
  public void copy(CoreGraph core) {
    core.tree.seal();
    try {
      restore(core.parts(true), core.profile());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot happen in memory", e);
    }
  }

  private void restore(StateParts.Core parts, CallProfile written) {
    try {
      read(parts, written);
    } catch (IOException e) {
      throw new UncheckedIOException("a core just written cannot be read: " + key(), e);
    }
  }

  /**
   * Reads what {@link #writeChanges} wrote into this new core.
   *
   * @param inLog whether the log has these parts; else it had the core at rest
   */
  public void readParts(StateParts.Core parts, boolean inLog) throws IOException {
    read(parts, profile());
    if (inLog) {
      writtenFrames = StateLog.hash(part(""), parts.frames());
      writtenTree = StateLog.hash(part(StateLog.TREE), parts.tree());
      writtenLogs = StateLog.hash(part(StateLog.LOGS), parts.logs());
    }
    touched = !inLog;
  }

  /**
   * Reads the parts of a core into this new one.
   *
   * @param written the profile of the core that wrote them; it is complete already
   */
  private void read(StateParts.Core parts, CallProfile written) throws IOException {
    ByteInput frames = new ByteInput(parts.frames());
    ByteInput rows = new ByteInput(parts.tree());
    ByteInput logs = new ByteInput(parts.logs());
    for (int text = 0; text < IDENTITY_TEXTS; text++) {
      Fields.readText(frames);
    }
    tree.readFrom(rows, frames);
    reconstructor.readFrom(frames, written, profile());
    accounts.restored(reconstructor.current());
    stats.readFrom(frames);
    digest = frames.readLong();
    losses.readFrom(logs);
    anomalies.readFrom(logs);
    other.readFrom(logs);
    interrupts.readFrom(logs);
    tree.seal();
    if (frames.remaining() + rows.remaining() + logs.remaining() > 0) {
      throw new IOException(
          "corrupt state: core %s has more than it needs".formatted(key().core()));
    }
  }

  /**
   * The totals of each task of one core, and of its interrupts. They replace the one profile that
   * all cores of an image share. Together they keep as many functions and edges as that profile.
   * Tasks beyond the limit share one profile.
   */
  private static final class ContextProfiles {
    private final CoreKey core;
    private final int maxTasks;
    private final ProfileRoom room;
    private final Map<ContextKey, CallProfile> profiles = new LinkedHashMap<>();

    ContextProfiles(CoreKey core, GraphLimits limits) {
      this.core = core;
      this.maxTasks = limits.tasks();
      this.room = new ProfileRoom(limits.functions(), limits.edges());
    }

    /** The profile that the calls of a stack go to. */
    CallProfile of(ShadowStack stack) {
      ContextKey key =
          stack.isInterrupt()
              ? ContextKey.ofInterrupts(core)
              : new ContextKey(core, stack.task().id(), stack.task().instance());
      boolean fits = profiles.containsKey(key) || profiles.size() < maxTasks;
      return profiles.computeIfAbsent(
          fits ? key : ContextKey.ofOthers(core), _ -> new CallProfile(room));
    }

    /** All of them, in the order in which they were first needed. */
    Map<ContextKey, CallProfile> all() {
      return Collections.unmodifiableMap(profiles);
    }
  }
}
