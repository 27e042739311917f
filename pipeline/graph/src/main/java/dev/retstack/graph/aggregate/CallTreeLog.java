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

  /** Writes differences to the call before, which are small: a tree is most of a snapshot. */
  void writeTo(DataOutput out) throws IOException {
    out.writeInt(size());
    long selfPc = 0;
    long enter = 0;
    for (int i = 0; i < size(); i++) {
      long step = selfPc(i) - selfPc;
      Fields.writeVarint(out, (step << 1) ^ (step >> 63));
      Fields.writeVarint(out, i - 1 - parent(i));
      Fields.writeVarint(out, enter(i) - enter);
      Fields.writeVarint(out, exit(i) - enter(i));
      out.writeByte(endings.getByte(i));
      selfPc = selfPc(i);
      enter = enter(i);
    }
  }

  void readFrom(DataInput in) throws IOException {
    int count = Fields.readCount(in, limit, "calls in a tree");
    long selfPc = 0;
    long enter = 0;
    for (int i = 0; i < count; i++) {
      long step = Fields.readVarint(in);
      selfPc += (step >>> 1) ^ -(step & 1);
      long above = Fields.readVarint(in);
      enter += Fields.readVarint(in);
      long exit = enter + Fields.readVarint(in);
      int ending = in.readUnsignedByte();
      if (above < 0 || above > i || enter < 0 || exit < enter || ending >= Ending.count()) {
        throw new IOException("corrupt snapshot: call " + i + " of a tree");
      }
      finish(enter(selfPc, (int) (i - 1 - above), enter), exit, Ending.of(ending));
    }
  }
}
