package dev.retstack.graph.aggregate;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.ChunkMeta;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.reconstruct.CoreReconstructor;
import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.reconstruct.GraphListener;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.codec.RecordBatch;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;

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
  private final AnomalyLog anomalies;
  private final StatCounts stats = new StatCounts();
  private final OpenCalls calls = new OpenCalls();

  /** Open calls on this stack per function and per edge: only the outermost adds to a total. */
  private int[] functionOpen = new int[16];

  private int[] edgeOpen = new int[16];
  private long digest;
  private GraphEvents events;

  CoreGraph(CoreKey key, ImageInfo image, ClockUnit unit, CallProfile profile, GraphLimits limits) {
    this.key = key;
    this.image = image;
    this.unit = unit;
    this.profile = profile;
    this.tree = new CallTreeLog(limits.treeCallsPerCore());
    this.anomalies = new AnomalyLog(limits.anomaliesPerKind());
    this.reconstructor = new CoreReconstructor(image.traits(), limits.maxDepth(), new Accountant());
  }

  boolean apply(ChunkMeta meta, RecordBatch batch, GraphEvents listener) {
    events = listener;
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

  public AnomalyLog anomalies() {
    return anomalies;
  }

  public StatCounts stats() {
    return stats;
  }

  /** Digest of every finished or truncated call of this core, in order, with its times. */
  public long digest() {
    return digest;
  }

  /** Hears the reconstruction and adds up. */
  private final class Accountant implements GraphListener {
    @Override
    public void entered(int slot, int parent, int caller, long selfPc, long time) {
      OpenCalls c = calls;
      c.ensure(slot);
      int function = profile.function(selfPc);
      int edge = CallProfile.NOT_KEPT;
      if (function < 0) {
        stats.add(Stat.FUNCTIONS_NOT_KEPT, 1);
      } else {
        profile.functions().entered(function);
        if (function >= functionOpen.length) {
          functionOpen = Arrays.copyOf(functionOpen, 2 * function);
        }
        functionOpen[function]++;
        if (caller >= 0 && c.function[caller] >= 0) {
          edge = enterEdge(c.function[caller], function);
        }
      }
      c.selfPc[slot] = selfPc;
      c.enter[slot] = time;
      c.children[slot] = 0;
      c.function[slot] = function;
      c.edge[slot] = edge;
      c.callerPc[slot] = caller < 0 ? 0 : c.selfPc[caller];
      c.level[slot] = parent < 0 ? 0 : c.level[parent] + 1;
      enterTree(slot, parent, selfPc, time);
    }

    private int enterEdge(int caller, int callee) {
      int edge = profile.edge(caller, callee);
      if (edge < 0) {
        stats.add(Stat.EDGES_NOT_KEPT, 1);
        return edge;
      }
      profile.edges().entered(edge);
      if (edge >= edgeOpen.length) {
        edgeOpen = Arrays.copyOf(edgeOpen, 2 * edge);
      }
      edgeOpen[edge]++;
      return edge;
    }

    private void enterTree(int slot, int parent, long selfPc, long time) {
      int above = parent < 0 ? CallTreeLog.NONE : calls.treeCall[parent];
      int call = tree.enter(selfPc, above, time);
      if (call < 0) {
        stats.add(Stat.TREE_CALLS_NOT_KEPT, 1);
      }
      calls.treeCall[slot] = call;
    }

    @Override
    public void finished(int slot, int parent, long time, Ending ending) {
      OpenCalls c = calls;
      long enter = c.enter[slot];
      long duration = time - enter;
      long self = duration - c.children[slot];
      close(c.function[slot], c.edge[slot], duration, self, ending.finished());
      if (parent >= 0) {
        c.children[parent] += duration;
      }
      if (c.treeCall[slot] >= 0) {
        tree.finish(c.treeCall[slot], time, ending);
      }
      digest = mix(digest, c.selfPc[slot], enter, time, c.level[slot], ending);
      if (events != null && ending.finished() && duration >= events.threshold()) {
        events.finished(
            key, image, c.selfPc[slot], c.callerPc[slot], c.level[slot], enter, time, self, ending);
      }
    }

    private void close(int function, int edge, long duration, long self, boolean counts) {
      if (function >= 0) {
        boolean outermost = --functionOpen[function] == 0;
        if (counts) {
          profile.functions().finished(function, duration, self, outermost);
        }
      }
      if (edge >= 0) {
        boolean outermost = --edgeOpen[edge] == 0;
        if (counts) {
          profile.edges().finished(edge, duration, self, outermost);
        }
      }
    }

    @Override
    public boolean wants(AnomalyKind kind) {
      return anomalies.accepts(kind);
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

  private static long mix(long h, long selfPc, long enter, long exit, int level, Ending ending) {
    long call = selfPc * 0x9e3779b97f4a7c15L + Long.rotateLeft(enter, 21) * 31 + exit;
    call = (call ^ (call >>> 29)) + level * 8L + ending.code();
    return (Long.rotateLeft(h, 5) ^ call) * 0xbf58476d1ce4e5b9L;
  }

  void writeTo(DataOutput out) throws IOException {
    reconstructor.writeTo(out);
    for (int slot = 0; slot < reconstructor.slots(); slot++) {
      out.writeLong(calls.selfPc[slot]);
      out.writeLong(calls.enter[slot]);
      out.writeLong(calls.children[slot]);
      out.writeInt(calls.function[slot]);
      out.writeInt(calls.edge[slot]);
      out.writeInt(calls.treeCall[slot]);
      out.writeInt(calls.level[slot]);
      out.writeLong(calls.callerPc[slot]);
    }
    tree.writeTo(out);
    anomalies.writeTo(out);
    stats.writeTo(out);
    out.writeLong(digest);
  }

  /** Reads what {@link #writeTo} wrote into this new core; the profile is complete already. */
  void readFrom(DataInput in) throws IOException {
    reconstructor.readFrom(in);
    functionOpen = new int[Math.max(16, profile.functionCount())];
    edgeOpen = new int[Math.max(16, profile.edgeCount())];
    for (int slot = 0; slot < reconstructor.slots(); slot++) {
      calls.ensure(slot);
      calls.selfPc[slot] = in.readLong();
      calls.enter[slot] = in.readLong();
      calls.children[slot] = in.readLong();
      calls.function[slot] = id(in, profile.functionCount());
      calls.edge[slot] = id(in, profile.edgeCount());
      calls.treeCall[slot] = in.readInt();
      calls.level[slot] = in.readInt();
      calls.callerPc[slot] = in.readLong();
      if (reconstructor.isOpen(slot)) {
        reopen(slot);
      }
    }
    tree.readFrom(in);
    for (int slot = 0; slot < reconstructor.slots(); slot++) {
      if (calls.treeCall[slot] < CallTreeLog.NONE || calls.treeCall[slot] >= tree.size()) {
        throw new IOException("corrupt snapshot: an open call is not in the tree");
      }
    }
    anomalies.readFrom(in);
    stats.readFrom(in);
    digest = in.readLong();
  }

  private void reopen(int slot) {
    if (calls.function[slot] >= 0) {
      functionOpen[calls.function[slot]]++;
    }
    if (calls.edge[slot] >= 0) {
      edgeOpen[calls.edge[slot]]++;
    }
  }

  private static int id(DataInput in, int count) throws IOException {
    int id = in.readInt();
    if (id < CallProfile.NOT_KEPT || id >= count) {
      throw new IOException("corrupt snapshot: id " + id + " of " + count);
    }
    return id;
  }

  void writeIdentity(DataOutput out) throws IOException {
    Fields.writeText(out, key.session());
    Fields.writeText(out, key.core());
    Fields.writeText(out, image.id());
    Fields.writeText(out, unit.name());
  }
}
