package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.snapshot.Fields;
import it.unimi.dsi.fastutil.bytes.ByteArrayList;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * The first calls of a core in the order of their entries, as primitive columns; a call knows its
 * parent. A call whose parent is not kept is not kept either, since parents enter first.
 */
public final class CallTreeLog {
  /** Not kept, or no parent. */
  public static final int NONE = -1;

  private final int limit;
  private final LongArrayList selfPcs = new LongArrayList(0);
  private final IntArrayList parents = new IntArrayList(0);
  private final LongArrayList enters = new LongArrayList(0);
  private final LongArrayList exits = new LongArrayList(0);
  private final ByteArrayList endings = new ByteArrayList(0);

  CallTreeLog(int limit) {
    this.limit = limit;
  }

  /** Whether no call is kept any more. */
  boolean isFull() {
    return selfPcs.size() >= limit;
  }

  /** Number of the new call; the log is not full. */
  int enter(long selfPc, int parent, long time) {
    final int call = selfPcs.size();
    selfPcs.add(selfPc);
    parents.add(parent);
    enters.add(time);
    exits.add(time);
    endings.add((byte) Ending.OPEN.code());
    return call;
  }

  void finish(int call, long time, Ending ending) {
    exits.set(call, time);
    endings.set(call, (byte) ending.code());
  }

  /** Calls kept. */
  public int size() {
    return selfPcs.size();
  }

  public long selfPc(int call) {
    return selfPcs.getLong(call);
  }

  /** Number of the enclosing call, smaller than {@code call}, or {@link #NONE}. */
  public int parent(int call) {
    return parents.getInt(call);
  }

  public long enter(int call) {
    return enters.getLong(call);
  }

  /** Time of the end; of the loss where it was truncated; of the entry where it is open. */
  public long exit(int call) {
    return exits.getLong(call);
  }

  public Ending ending(int call) {
    return Ending.of(endings.getByte(call));
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(size());
    for (int i = 0; i < size(); i++) {
      out.writeLong(selfPc(i));
      out.writeInt(parent(i));
      out.writeLong(enter(i));
      out.writeLong(exit(i));
      out.writeByte(endings.getByte(i));
    }
  }

  void readFrom(DataInput in) throws IOException {
    int count = Fields.readCount(in, limit, "calls in a tree");
    for (int i = 0; i < count; i++) {
      long selfPc = in.readLong();
      int parent = in.readInt();
      enter(selfPc, parent, in.readLong());
      long exit = in.readLong();
      int ending = in.readUnsignedByte();
      if (parent < NONE || parent >= i || ending >= Ending.count()) {
        throw new IOException("corrupt snapshot: call " + i + " of a tree");
      }
      finish(i, exit, Ending.of(ending));
    }
  }
}
