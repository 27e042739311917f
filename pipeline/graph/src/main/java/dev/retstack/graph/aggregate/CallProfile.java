package dev.retstack.graph.aggregate;

import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Totals per function and per call edge of one image. Functions are known by selfPc, edges by the
 * pair of caller and callee; both have dense ids in the order in which they were first seen.
 * Mergeable in any order.
 */
public final class CallProfile {
  /** Id of what the limits keep out. */
  static final int NOT_KEPT = -1;

  private final int maxFunctions;
  private final int maxEdges;
  private final Long2IntOpenHashMap functionIds = ids();
  private final LongArrayList selfPcs = new LongArrayList();
  private final CallTotals functions = new CallTotals();
  private final Long2IntOpenHashMap edgeIds = ids();
  private final LongArrayList edgeKeys = new LongArrayList();
  private final CallTotals edges = new CallTotals();

  CallProfile(int maxFunctions, int maxEdges) {
    this.maxFunctions = maxFunctions;
    this.maxEdges = maxEdges;
  }

  /** A profile that merges others without a limit of its own. */
  public static CallProfile unlimited() {
    return new CallProfile(Integer.MAX_VALUE, Integer.MAX_VALUE);
  }

  private static Long2IntOpenHashMap ids() {
    // half full at most: most look-ups then meet their key at the first probe
    Long2IntOpenHashMap map = new Long2IntOpenHashMap(16, 0.5f);
    map.defaultReturnValue(NOT_KEPT);
    return map;
  }

  /** Id of the function, new where it was not seen before, {@link #NOT_KEPT} beyond the limit. */
  int function(long selfPc) {
    int id = functionIds.get(selfPc);
    return id >= 0 ? id : newFunction(selfPc);
  }

  /** Id of the edge between two functions that are kept. */
  int edge(int caller, int callee) {
    long key = key(caller, callee);
    int id = edgeIds.get(key);
    return id >= 0 ? id : newEdge(key);
  }

  private int newFunction(long selfPc) {
    int id = selfPcs.size();
    if (id >= maxFunctions) {
      return NOT_KEPT;
    }
    functionIds.put(selfPc, id);
    selfPcs.add(selfPc);
    functions.ensure(id);
    return id;
  }

  private int newEdge(long key) {
    int id = edgeKeys.size();
    if (id >= maxEdges) {
      return NOT_KEPT;
    }
    edgeIds.put(key, id);
    edgeKeys.add(key);
    edges.ensure(id);
    return id;
  }

  private static long key(int caller, int callee) {
    return (long) caller << 32 | callee;
  }

  /** Number of functions; their ids are 0 up to this. */
  public int functionCount() {
    return selfPcs.size();
  }

  /** Number of edges; their ids are 0 up to this. */
  public int edgeCount() {
    return edgeKeys.size();
  }

  /** selfPc of a function. */
  public long selfPc(int function) {
    return selfPcs.getLong(function);
  }

  /** Function id of an edge's caller. */
  public int caller(int edge) {
    return (int) (edgeKeys.getLong(edge) >>> 32);
  }

  /** Function id of an edge's callee. */
  public int callee(int edge) {
    return (int) edgeKeys.getLong(edge);
  }

  /** Totals by function id. */
  public CallTotals functions() {
    return functions;
  }

  /** Totals by edge id. */
  public CallTotals edges() {
    return edges;
  }

  /** Adds all of another profile of the same image. */
  public void merge(CallProfile other) {
    int[] ids = new int[other.functionCount()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = function(other.selfPc(i));
      if (ids[i] >= 0) {
        functions.merge(ids[i], other.functions, i);
      }
    }
    for (int i = 0; i < other.edgeCount(); i++) {
      int caller = ids[other.caller(i)];
      int callee = ids[other.callee(i)];
      int id = caller < 0 || callee < 0 ? NOT_KEPT : edge(caller, callee);
      if (id >= 0) {
        edges.merge(id, other.edges, i);
      }
    }
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(functionCount());
    for (int i = 0; i < functionCount(); i++) {
      out.writeLong(selfPc(i));
      functions.write(out, i);
    }
    out.writeInt(edgeCount());
    for (int i = 0; i < edgeCount(); i++) {
      out.writeInt(caller(i));
      out.writeInt(callee(i));
      edges.write(out, i);
    }
  }

  /** Reads what {@link #writeTo} wrote into this empty profile. */
  void readFrom(DataInput in) throws IOException {
    int functionCount = Fields.readCount(in, maxFunctions, "functions");
    for (int i = 0; i < functionCount; i++) {
      if (function(in.readLong()) != i) {
        throw new IOException("corrupt snapshot: a function stands twice");
      }
      functions.read(in, i);
    }
    int edgeCount = Fields.readCount(in, maxEdges, "edges");
    for (int i = 0; i < edgeCount; i++) {
      int caller = Fields.readCount(in, functionCount - 1, "as a caller");
      int callee = Fields.readCount(in, functionCount - 1, "as a callee");
      if (edge(caller, callee) != i) {
        throw new IOException("corrupt snapshot: an edge stands twice");
      }
      edges.read(in, i);
    }
  }
}
