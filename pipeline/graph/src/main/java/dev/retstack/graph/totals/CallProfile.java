package dev.retstack.graph.totals;

import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.snapshot.StateLog;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.NavigableMap;

/**
 * Totals per function and per call edge of one image. Functions are known by selfPc, edges by the
 * pair of caller and callee; both have dense ids in the order of their first appearance. Mergeable
 * in any order.
 *
 * <p>A call is counted once, under its <em>arc</em>: its edge, or, if the caller is unknown or the
 * edge is not kept, the function's one arc without a caller. A function's totals are sums over its
 * arcs, computed when asked for. Only its total time, in which recursion counts once, is kept
 * separately.
 */
public final class CallProfile {
  /** Id of what the limits keep out. */
  public static final int NOT_KEPT = -1;

  /** Caller of an arc that has none. */
  public static final int NO_CALLER = -1;

  private static final int FIRST = 16;

  /** Rows of a block of totals in the log of the state. */
  private static final int BLOCK_SHIFT = 8;

  /** Usual size of such a block. */
  private static final int BLOCK_ROOM = 1 << 12;

  private final int maxFunctions;
  private final int maxEdges;
  private final ProfileRoom room;
  private final StateBudget.Account account;

  /** Functions and arcs for which there is room. */
  private int functionCapacity;

  private int arcCapacity;

  /** What it will be merged into: what is there already needs no room. Null for none. */
  private final CallProfile base;

  private final Long2IntOpenHashMap functionIds = new Long2IntOpenHashMap();
  private final LongArrayList selfPcs = new LongArrayList(0);

  /** Total time by function. */
  private long[] totals = {};

  /** By function, how much longer its calls were from begin to end; nothing without switches. */
  private long[] beyond = {};

  /** Number in the state's log, and the hash of the identity that the log holds. */
  private long number;

  private long written = StateLog.NONE;
  private final Blocks functionBlocks = new FunctionBlocks();
  private final Blocks arcBlocks = new ArcBlocks();

  /** Whether it is not what the log holds. */
  private boolean touched = true;

  private final ArcIds arcIds = new ArcIds();
  private final CallTotals arcs = new CallTotals();
  private final OpenCounts open = new OpenCounts();

  /** Caller by arc. */
  private final IntArrayList callers = new IntArrayList(0);

  /** Arc by edge. */
  private final IntArrayList edges = new IntArrayList(0);

  public CallProfile(int maxFunctions, int maxEdges, StateBudget.Account account) {
    this(maxFunctions, maxEdges, new ProfileRoom(maxFunctions, maxEdges), null, account);
  }

  /** A profile that shares its room with others. */
  public CallProfile(ProfileRoom room) {
    this(Integer.MAX_VALUE, Integer.MAX_VALUE, room, null, StateBudget.UNLIMITED.open(0));
  }

  private CallProfile(
      int maxFunctions,
      int maxEdges,
      ProfileRoom room,
      CallProfile base,
      StateBudget.Account account) {
    this.account = account;
    this.maxFunctions = maxFunctions;
    this.maxEdges = maxEdges;
    this.room = room;
    this.base = base;
    functionIds.defaultReturnValue(NOT_KEPT);
  }

  /** An empty profile of what may be merged into this one, with the room that is left here. */
  public CallProfile beside(StateBudget.Account of) {
    return new CallProfile(maxFunctions, maxEdges, room.copy(), this, of);
  }

  /** A profile with the same contents and limits. */
  public CallProfile copy() {
    CallProfile copy = new CallProfile(maxFunctions, maxEdges, StateBudget.UNLIMITED.open(0));
    copy.merge(this);
    return copy;
  }

  /** A profile that merges others without a limit. */
  public static CallProfile unlimited() {
    return new CallProfile(Integer.MAX_VALUE, Integer.MAX_VALUE, StateBudget.UNLIMITED.open(0));
  }

  /** Id of the function, new where it was not seen before, {@link #NOT_KEPT} beyond the limit. */
  public int function(long selfPc) {
    int id = functionIds.get(selfPc);
    if (id >= 0 || !growFunctions() || !(hasRoom(selfPc) || room.takeFunction())) {
      return id;
    }
    id = selfPcs.size();
    functionIds.put(selfPc, id);
    selfPcs.add(selfPc);
    return id;
  }

  /** Bytes for functions: the list, two of totals, keys and values of the table of ids. */
  private long functionBytes(int n) {
    return 4 * account.array(8L * n) + account.array(16L * n);
  }

  /** Bytes for arcs: totals, the table of ids, callers and edges, open counts. */
  private long arcBytes(int n) {
    return account.array(64L * n)
        + account.array(32L * n)
        + 2 * account.array(4L * n)
        + account.array(8L * n);
  }

  /** Makes room for one function more; false where the budget has none. */
  private boolean growFunctions() {
    if (selfPcs.size() < functionCapacity) {
      return true;
    }
    int next = Math.max(FIRST, 2 * functionCapacity);
    if (!account.take(functionBytes(next) - functionBytes(functionCapacity))) {
      return false;
    }
    selfPcs.ensureCapacity(next);
    totals = Arrays.copyOf(totals, next);
    beyond = Arrays.copyOf(beyond, next);
    functionCapacity = next;
    return true;
  }

  /** Makes room for an arc. Arcs without a caller always fit: each function has only one. */
  private boolean growArcs(int caller) {
    if (callers.size() < arcCapacity) {
      return true;
    }
    int next = Math.max(FIRST, 2 * arcCapacity);
    long bytes = arcBytes(next) - arcBytes(arcCapacity);
    if (!account.fits(bytes) && caller != NO_CALLER) {
      return false;
    }
    account.charge(bytes);
    callers.ensureCapacity(next);
    edges.ensureCapacity(next);
    arcCapacity = next;
    return true;
  }

  private boolean hasRoom(long selfPc) {
    return base != null && base.functionIds.containsKey(selfPc);
  }

  private boolean hasRoom(int caller, int function) {
    return base != null
        && hasRoom(selfPc(caller))
        && base.arc(base.functionIds.get(selfPc(caller)), selfPc(function)) >= 0;
  }

  /**
   * Id of an arc, {@link #NOT_KEPT} where {@link #newArc} must be asked.
   *
   * @param caller function id or {@link #NO_CALLER}
   */
  public int arc(int caller, long selfPc) {
    return arcIds.get(caller, selfPc);
  }

  /**
   * Id of an arc that {@link #arc} does not know: a new one, or {@link #NOT_KEPT} beyond the limit
   * of edges.
   *
   * @param function id of {@code selfPc}
   */
  public int newArc(int caller, int function) {
    if (!growArcs(caller)
        || (caller != NO_CALLER && !(hasRoom(caller, function) || room.takeEdge()))) {
      return NOT_KEPT;
    }
    int arc = callers.size();
    arcIds.put(caller, selfPc(function), arc);
    callers.add(caller);
    arcs.ensure(arc, function);
    if (caller != NO_CALLER) {
      edges.add(arc);
    }
    return arc;
  }

  /** Id of an arc of kept functions, made where need be, without a caller beyond the limit. */
  public int arcOf(int caller, int function) {
    int arc = arc(caller, selfPc(function));
    if (arc < 0) {
      arc = newArc(caller, function);
    }
    return arc < 0 ? arcOf(NO_CALLER, function) : arc;
  }

  /** Id of the arc that is in another profile of this image under this id. */
  public int sameArc(CallProfile other, int arc) {
    if (other == this) {
      return arc;
    }
    int theirs = other.callers.getInt(arc);
    int caller = theirs == NO_CALLER ? NO_CALLER : function(other.selfPc(theirs));
    return arcOf(caller, function(other.selfPc(other.arcs.callee(arc))));
  }

  /** Number of arcs; their ids are 0 up to this. */
  public int arcCount() {
    return callers.size();
  }

  /** Open calls of the core whose chunk is being taken. */
  public OpenCounts openCounts() {
    return open;
  }

  /** Totals by arc id. */
  public CallTotals arcs() {
    return arcs;
  }

  /**
   * Counts a call of which nothing but its beginning is known, under a separate arc.
   *
   * @return false where the function is not kept
   */
  public boolean call(int caller, int function) {
    if (function == NOT_KEPT) {
      return false;
    }
    arcs.entered(arcOf(caller == NOT_KEPT ? NO_CALLER : caller, function));
    return true;
  }

  /** Adds to the total time of a function: a call that no other call of it encloses. */
  public void addTotal(int function, long duration) {
    totals[function] = Saturating.sum(totals[function], duration);
  }

  /**
   * The calls of a function were so much longer from begin to end than their total says; negative
   * where own times were added of which the outermost call has not ended.
   */
  public void addBeyond(int function, long time) {
    beyond[function] = Saturating.signed(beyond[function], time);
  }

  /** Time of a function's calls from begin to end, recursion counted once. */
  private long wall(int function) {
    return Math.max(0, Saturating.signed(totals[function], beyond[function]));
  }

  /** Total time by function id, until a function is added. */
  public long[] totals() {
    return totals;
  }

  /** What of the budget it holds. */
  public StateBudget.Account account() {
    return account;
  }

  /** Number of functions; their ids are 0 up to this. */
  public int functionCount() {
    return selfPcs.size();
  }

  /** Number of edges; their ids are 0 up to this. */
  public int edgeCount() {
    return edges.size();
  }

  /** selfPc of a function. */
  public long selfPc(int function) {
    return selfPcs.getLong(function);
  }

  /** Function id of an edge's caller. */
  public int caller(int edge) {
    return callers.getInt(edges.getInt(edge));
  }

  /** Function id of an edge's callee. */
  public int callee(int edge) {
    return arcs.callee(edges.getInt(edge));
  }

  /** Totals by function id, as they are now; made anew by each call. */
  public CallTotals functions() {
    CallTotals sums = new CallTotals();
    for (int function = 0; function < functionCount(); function++) {
      sums.ensure(function, function);
    }
    for (int arc = 0; arc < arcCount(); arc++) {
      sums.merge(arcs.callee(arc), arcs, arc);
    }
    for (int function = 0; function < functionCount(); function++) {
      sums.setTotal(function, totals[function], wall(function));
    }
    return sums;
  }

  /** Totals by edge id, as they are now; made anew by each call. */
  public CallTotals edges() {
    CallTotals copies = new CallTotals();
    for (int edge = 0; edge < edgeCount(); edge++) {
      copies.ensure(edge, callee(edge));
      copies.merge(edge, arcs, edges.getInt(edge));
    }
    return copies;
  }

  /**
   * Whether all of another profile of the same image can be {@linkplain #merge merged} without
   * reaching a limit, and no sum stops at the largest number.
   */
  public boolean hasRoomFor(CallProfile other) {
    boolean room =
        (long) functionCount() + other.functionCount() <= maxFunctions
            && (long) edgeCount() + other.edgeCount() <= maxEdges;
    for (int arc = 0; room && arc < other.arcCount(); arc++) {
      int theirs = other.callers.getInt(arc);
      int caller = theirs == NO_CALLER ? NO_CALLER : functionIds.get(other.selfPc(theirs));
      int mine = arc(caller, other.selfPc(other.arcs.callee(arc)));
      room = mine < 0 || arcs.isExact(mine, other.arcs, arc);
    }
    return room;
  }

  /** Adds all of another profile of the same image. */
  public void merge(CallProfile other) {
    int[] ids = new int[other.functionCount()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = function(other.selfPc(i));
      if (ids[i] >= 0) {
        addTotal(ids[i], other.totals[i]);
        addBeyond(ids[i], other.beyond[i]);
      }
    }
    for (int arc = 0; arc < other.arcCount(); arc++) {
      int theirs = other.callers.getInt(arc);
      int caller = theirs == NO_CALLER ? NO_CALLER : ids[theirs];
      int callee = ids[other.arcs.callee(arc)];
      if (callee >= 0) {
        arcs.merge(arcOf(caller, callee), other.arcs, arc);
      }
    }
  }

  /** Calls were added to it. */
  public void touch() {
    touched = true;
  }

  public void setNumber(long given) {
    number = given;
  }

  private String part(String name) {
    return "t/" + number + name;
  }

  /** Writes what is not what the log of the state holds of it. */
  public void writeChanges(StateLog log, StateChanges to, ProfileKey key) throws IOException {
    if (!touched && !log.isCopy()) {
      return;
    }
    if (written == StateLog.NONE || log.isCopy()) {
      ByteOutput identity = new ByteOutput(64);
      key.writeTo(identity);
      written = log.put(to, part(""), written, identity);
    }
    functionBlocks.writeChanges(log, to);
    arcBlocks.writeChanges(log, to);
    touched &= log.isCopy();
  }

  /** Removes the profile from the state's log. */
  public void leave(StateLog log) {
    written = log.remove(part(""), written);
    functionBlocks.leave(log);
    arcBlocks.leave(log);
  }

  /**
   * Reads what {@link #writeChanges} wrote into this empty profile.
   *
   * @param identity the part that says whose it is
   * @param functions the blocks by number, as {@code others} those of arcs
   */
  public void readParts(
      byte[] identity, NavigableMap<Long, byte[]> functions, NavigableMap<Long, byte[]> others)
      throws IOException {
    written = StateLog.hash(part(""), identity);
    functionBlocks.read(functions);
    arcBlocks.read(others);
    touched = false;
  }

  /** Blocks of rows in the log of the state: of each a mark of what the log holds, and its hash. */
  private abstract class Blocks {
    private final String name;
    private final LongArrayList marks = new LongArrayList(0);
    private final LongArrayList hashes = new LongArrayList(0);

    Blocks(String name) {
      this.name = name;
    }

    /** Rows that there are. */
    abstract int count();

    /** Another number than before where one of these rows was added or changed. */
    abstract long mark(int from, int end);

    abstract void write(DataOutput out, int row) throws IOException;

    /** Reads one row behind those that there are. */
    abstract void read(DataInput in) throws IOException;

    private String key(int block) {
      return part(name + block);
    }

    void writeChanges(StateLog log, StateChanges to) throws IOException {
      for (int block = 0; block << BLOCK_SHIFT < count(); block++) {
        int from = block << BLOCK_SHIFT;
        int end = Math.min(count(), from + (1 << BLOCK_SHIFT));
        long mark = mark(from, end);
        boolean isNew = block >= hashes.size();
        if (log.isCopy() || isNew || marks.getLong(block) != mark) {
          ByteOutput out = new ByteOutput(BLOCK_ROOM);
          out.writeInt(end - from);
          for (int row = from; row < end; row++) {
            write(out, row);
          }
          long before = isNew ? StateLog.NONE : hashes.getLong(block);
          long hash = log.put(to, key(block), before, out);
          if (isNew && !log.isCopy()) {
            marks.add(mark);
            hashes.add(hash);
          } else if (!log.isCopy()) {
            marks.set(block, mark);
            hashes.set(block, hash);
          }
        }
      }
    }

    /** Reads all blocks, by their numbers. */
    void read(NavigableMap<Long, byte[]> blocks) throws IOException {
      for (Map.Entry<Long, byte[]> one : blocks.entrySet()) {
        int block = hashes.size();
        int from = count();
        if (one.getKey() != block || from != block << BLOCK_SHIFT) {
          throw new IOException(
              "corrupt state: block %d of totals behind %d with %d rows"
                  .formatted(one.getKey(), block, from));
        }
        ByteInput in = new ByteInput(one.getValue());
        int rows = Fields.readCount(in, 1 << BLOCK_SHIFT, "rows of totals in a block");
        for (int row = 0; row < rows; row++) {
          read(in);
        }
        if (in.remaining() > 0) {
          throw new IOException("corrupt state: a block of totals has more than its rows");
        }
        marks.add(mark(from, count()));
        hashes.add(StateLog.hash(key(block), one.getValue()));
      }
    }

    void leave(StateLog log) {
      for (int block = 0; block < hashes.size(); block++) {
        log.remove(key(block), hashes.getLong(block));
      }
      marks.clear();
      hashes.clear();
    }
  }

  private final class FunctionBlocks extends Blocks {
    FunctionBlocks() {
      super(StateLog.FUNCTIONS);
    }

    @Override
    int count() {
      return functionCount();
    }

    @Override
    long mark(int from, int end) {
      long mark = end;
      for (int function = from; function < end; function++) {
        mark = (mark * 31 + totals[function]) * 31 + beyond[function];
      }
      return mark;
    }

    @Override
    void write(DataOutput out, int function) throws IOException {
      out.writeLong(selfPc(function));
      out.writeLong(totals[function]);
      out.writeLong(beyond[function]);
    }

    @Override
    void read(DataInput in) throws IOException {
      int next = functionCount();
      if (function(in.readLong()) != next) {
        throw new IOException("corrupt snapshot: a function occurs twice, or beyond the limit");
      }
      totals[next] = in.readLong();
      beyond[next] = in.readLong();
      if (totals[next] < 0 || beyond[next] == Long.MIN_VALUE) {
        throw new IOException("corrupt snapshot: negative totals");
      }
    }
  }

  private final class ArcBlocks extends Blocks {
    ArcBlocks() {
      super(StateLog.ARCS);
    }

    @Override
    int count() {
      return arcCount();
    }

    @Override
    long mark(int from, int end) {
      long mark = 0;
      for (int arc = from; arc < end; arc++) {
        mark += arcs.calls(arc) + arcs.finished(arc); // both only grow
      }
      return (mark << (BLOCK_SHIFT + 1)) + end;
    }

    @Override
    void write(DataOutput out, int arc) throws IOException {
      Fields.writeVarint(out, callers.getInt(arc) - NO_CALLER);
      Fields.writeVarint(out, arcs.callee(arc));
      arcs.writeTo(out, arc);
    }

    @Override
    void read(DataInput in) throws IOException {
      int arc = arcCount();
      long caller = Fields.readVarint(in) + NO_CALLER;
      long callee = Fields.readVarint(in);
      if (caller < NO_CALLER || Math.max(caller, callee) >= functionCount() || callee < 0) {
        throw new IOException("corrupt snapshot: an arc from %d to %d".formatted(caller, callee));
      }
      if (arc((int) caller, selfPc((int) callee)) >= 0
          || newArc((int) caller, (int) callee) != arc) {
        throw new IOException("corrupt snapshot: an arc occurs twice, or beyond the limit");
      }
      arcs.readFrom(in, arc);
    }
  }
}
