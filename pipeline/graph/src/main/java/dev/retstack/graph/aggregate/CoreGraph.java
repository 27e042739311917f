package dev.retstack.graph.aggregate;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.ChunkMeta;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.reconstruct.CoreReconstructor;
import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.reconstruct.GraphListener;
import dev.retstack.graph.reconstruct.Loss;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.codec.RecordBatch;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * All that is known of one core: its reconstruction, and what its calls add up to. The totals go to
 * a profile that it shares with the other cores of its session and image.
 */
public final class CoreGraph {
  private final CoreKey key;
  private final ImageInfo image;
  private final ClockUnit unit;
  private final CallProfile profile;
  private final CoreReconstructor reconstructor;
  private final CallTreeLog tree;
  private final TreeLosses treeLosses;
  private final LossLog losses = new LossLog();
  private final AnomalyLog anomalies;
  private final StatCounts stats = new StatCounts();
  private final OpenCalls calls = new OpenCalls();

  private final OpenCounts open = new OpenCounts();
  private final CoreEvents other;
  private final CallerPcs callers;
  private final LinkedCalls linked;
  private long digest;
  private GraphEvents events;

  /**
   * A core of which nothing was seen; {@code linked} serves all cores of the state, {@code callers}
   * those of the image.
   */
  CoreGraph(
      CoreKey key,
      ImageInfo image,
      ClockUnit unit,
      CallProfile profile,
      LinkedCalls linked,
      CallerPcs callers,
      GraphLimits limits) {
    this.key = key;
    this.image = image;
    this.unit = unit;
    this.profile = profile;
    this.linked = linked;
    this.callers = callers;
    this.tree = new CallTreeLog(limits.treeCallsPerCore());
    this.treeLosses = new TreeLosses(tree);
    this.other = new CoreEvents(tree);
    this.anomalies = new AnomalyLog(limits.anomaliesPerKind());
    this.reconstructor = new CoreReconstructor(image.traits(), limits.maxDepth(), new Accountant());
  }

  boolean apply(ChunkMeta meta, RecordBatch batch, GraphEvents listener) {
    events = listener;
    linked.begin();
    return reconstructor.apply(meta, batch);
  }

  void count(Stat stat, long amount) {
    stats.add(stat, amount);
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

  /** Digest of every finished or truncated call of this core, in order, with its times. */
  public long digest() {
    return digest;
  }

  void setDigest(long value) {
    digest = value;
  }

  CallProfile profile() {
    return profile;
  }

  OpenCalls calls() {
    return calls;
  }

  OpenCounts openCounts() {
    return open;
  }

  /** Who hears of calls, null for none. */
  GraphEvents events() {
    return events;
  }

  /** Hears the reconstruction and adds up. */
  private final class Accountant implements GraphListener {
    @Override
    public void entered(int slot, int parent, int caller, long selfPc, long time) {
      OpenCalls c = calls;
      int callerFunction = caller < 0 ? CallProfile.NO_CALLER : c.function(caller);
      int arc = profile.arc(callerFunction, selfPc);
      if (arc < 0) {
        arc = newArc(callerFunction, selfPc);
      }
      int function = CallProfile.NOT_KEPT;
      if (arc >= 0) {
        function = profile.arcs().entered(arc);
        open.open(arc, function);
      }
      int row = enterTree(parent, selfPc, time);
      other.begun(row);
      c.enter(
          slot,
          selfPc,
          caller < 0 ? 0 : c.selfPc(caller),
          time,
          arc,
          function,
          parent < 0 ? 0 : c.level(parent) + 1,
          row);
    }

    @Override
    public int linked(RecordBatch batch, int first, int parent, int room, IntArrayList opened) {
      if (!tree.isFull()) {
        return first;
      }
      other.next();
      int end = linked.run(CoreGraph.this, batch, first, parent, room);
      stats.add(Stat.TREE_CALLS_NOT_KEPT, (end - first + linked.frames()) / 2);
      linked.handOver(calls, parent, batch, first, end, opened);
      return end;
    }

    /** Not met before, or beyond the limits. */
    private int newArc(int caller, long selfPc) {
      int function = profile.function(selfPc);
      if (function < 0) {
        stats.add(Stat.FUNCTIONS_NOT_KEPT, 1);
        return CallProfile.NOT_KEPT;
      }
      int arc = profile.newArc(caller, function);
      if (arc < 0) {
        stats.add(Stat.EDGES_NOT_KEPT, 1);
        arc = profile.arcOf(CallProfile.NO_CALLER, function);
      }
      return arc;
    }

    private int enterTree(int parent, long selfPc, long time) {
      if (tree.isFull()) {
        stats.add(Stat.TREE_CALLS_NOT_KEPT, 1);
        return CallTreeLog.NONE;
      }
      return tree.enter(selfPc, row(parent), time);
    }

    /** Row of the tree of the call in a slot, or none. */
    private int row(int slot) {
      return slot < 0 ? treeLosses.row() : calls.treeCall(slot);
    }

    @Override
    public void finished(int slot, int parent, long time, Ending ending) {
      OpenCalls c = calls;
      long enter = c.entered(slot);
      long duration = time - enter;
      long self = duration - c.children(slot);
      int arc = c.arc(slot);
      if (arc >= 0) {
        close(arc, c.function(slot), duration, self, ending.finished());
      }
      if (parent >= 0) {
        c.addChild(parent, duration);
      }
      int row = c.treeCall(slot);
      other.ended(row);
      if (row >= 0) {
        tree.finish(row, time, ending);
      }
      digest = mix(digest, c.selfPc(slot), enter, time, c.level(slot), ending.code());
      if (events != null && ending.finished() && duration >= events.threshold()) {
        events.finished(
            key, image, c.selfPc(slot), c.callerPc(slot), c.level(slot), enter, time, self, ending);
      }
    }

    private void close(int arc, int function, long duration, long self, boolean counts) {
      boolean outermostOfArc = open.closeArc(arc);
      boolean outermost = open.closeFunction(function);
      if (counts) {
        profile.arcs().finished(arc, duration, self, outermostOfArc);
        if (outermost) {
          profile.addTotal(function, duration);
        }
      }
    }

    @Override
    public void called(int parent, int caller, long selfPc, long fromPc, long time) {
      int callerFunction =
          caller < 0 ? profile.function(callers.of(fromPc)) : calls.function(caller);
      if (!profile.call(callerFunction, profile.function(selfPc))) {
        stats.add(Stat.FUNCTIONS_NOT_KEPT, 1);
      }
      countNotKept();
      other.function(row(parent), selfPc, fromPc, time);
    }

    @Override
    public void systemCall(int parent, long number, long time) {
      countNotKept();
      other.systemCall(row(parent), number, time);
    }

    @Override
    public void systemCallEnded(long result, long time, Ending ending) {
      other.systemCallEnded(result, time, ending);
    }

    @Override
    public void mark(int parent, long what, long selfPc, long command, long time, LongList stack) {
      countNotKept();
      other.mark(row(parent), what, selfPc, command, time, stack);
    }

    private void countNotKept() {
      if (tree.isFull()) {
        stats.add(Stat.TREE_CALLS_NOT_KEPT, 1);
      }
    }

    @Override
    public void values(int depth, long... values) {
      other.values(depth, values);
    }

    @Override
    public void next() {
      other.next();
    }

    @Override
    public void lost(Loss loss) {
      losses.add(loss);
      treeLosses.add(loss);
    }

    @Override
    public void settled() {
      treeLosses.settled();
    }

    @Override
    public void holeOpened(int slot) {
      treeLosses.opened(slot < 0 ? CallTreeLog.NONE : calls.treeCall(slot));
    }

    @Override
    public void holeClosed(int slot, long since, long now) {
      if (slot >= 0) {
        calls.addChild(slot, now - since); // unknown calls ran: it is nobody's own time
      }
      treeLosses.closed(now);
    }

    @Override
    public void bounded(int slot, long now) {
      int row = calls.treeCall(slot);
      if (row >= 0) {
        tree.bound(row, now);
      }
    }

    @Override
    public boolean wants(AnomalyKind kind, long selfPc) {
      return anomalies.accepts(kind, selfPc);
    }

    @Override
    public void anomaly(Anomaly anomaly) {
      anomalies.add(anomaly);
      if (events != null) {
        events.anomaly(AnomalyRow.of(key, image, anomaly));
      }
    }

    @Override
    public void count(Stat stat, long amount) {
      stats.add(stat, amount);
    }
  }

  static long mix(long h, long selfPc, long enter, long exit, int level, int ending) {
    long call = selfPc * 0x9e3779b97f4a7c15L + Long.rotateLeft(enter, 21) * 31 + exit;
    call = (call ^ (call >>> 29)) + level * 8L + ending;
    return (Long.rotateLeft(h, 5) ^ call) * 0xbf58476d1ce4e5b9L;
  }

  void writeTo(DataOutput out) throws IOException {
    reconstructor.writeTo(out);
    calls.writeTo(out, reconstructor.slots());
    tree.writeTo(out);
    treeLosses.writeTo(out);
    losses.writeTo(out);
    anomalies.writeTo(out);
    stats.writeTo(out);
    out.writeLong(digest);
    other.writeTo(out);
  }

  /** Reads what {@link #writeTo} wrote into this new core; the profile is complete already. */
  void readFrom(DataInput in) throws IOException {
    reconstructor.readFrom(in);
    calls.readFrom(in, reconstructor.slots(), profile);
    for (int slot = 0; slot < reconstructor.slots(); slot++) {
      if (reconstructor.isOpen(slot) && calls.arc(slot) >= 0) {
        open.open(calls.arc(slot), calls.function(slot));
      }
    }
    tree.readFrom(in);
    for (int slot = 0; slot < reconstructor.slots(); slot++) {
      if (calls.treeCall(slot) < CallTreeLog.NONE || calls.treeCall(slot) >= tree.size()) {
        throw new IOException("corrupt snapshot: an open call is not in the tree");
      }
    }
    treeLosses.readFrom(in, reconstructor.holes());
    losses.readFrom(in);
    anomalies.readFrom(in);
    stats.readFrom(in);
    digest = in.readLong();
    other.readFrom(in);
  }

  void writeIdentity(DataOutput out) throws IOException {
    Fields.writeText(out, key.session());
    Fields.writeText(out, key.core());
    Fields.writeText(out, image.id());
    Fields.writeText(out, unit.name());
  }
}
