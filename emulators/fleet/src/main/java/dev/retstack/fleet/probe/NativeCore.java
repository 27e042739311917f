package dev.retstack.fleet.probe;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.schema.codec.RecordBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The {@code struct core} of one core, and the ring of records in it. */
final class NativeCore {
  private static final String PREFIX = "core.";

  private final NativeLibrary layout;
  private final Arena arena;
  private final MemorySegment struct;
  private final MemorySegment[] columns = new MemorySegment[7];
  private final long now;
  private final long deadline;
  private final long stop;
  private final long stopAddress;
  private final long records;
  private int ring;

  NativeCore(NativeLibrary layout, Arena arena) {
    this.layout = layout;
    this.arena = arena;
    struct = arena.allocate(layout.at("core"), Long.BYTES);
    now = layout.at("core.now");
    deadline = layout.at("core.deadline");
    stop = layout.at("core.stop");
    stopAddress = layout.at("core.stop_address");
    records = layout.at("core.record_count");
  }

  MemorySegment struct() {
    return struct;
  }

  long get(String field) {
    return struct.get(JAVA_LONG, layout.at(PREFIX + field));
  }

  void set(String field, long value) {
    struct.set(JAVA_LONG, layout.at(PREFIX + field), value);
  }

  /** Sets a pointer; what it points to must live as long as the engine. */
  void set(String field, MemorySegment target) {
    set(field, target.address());
  }

  long now() {
    return struct.get(JAVA_LONG, now);
  }

  /** The core shall stop at this virtual time; why it stopped last is forgotten. */
  void arm(long until) {
    struct.set(JAVA_LONG, deadline, until);
    struct.set(JAVA_LONG, stop, 0);
  }

  long stop() {
    return struct.get(JAVA_LONG, stop);
  }

  void clearStop() {
    struct.set(JAVA_LONG, stop, 0);
  }

  long stopAddress() {
    return struct.get(JAVA_LONG, stopAddress);
  }

  /** Makes the ring of records: a column per field. */
  void allocateRecords(int capacity) {
    String[] names = {"kind", "time", "depth", "self_pc", "from_pc", "ret_p", "fp"};
    long[] bytes = {1, 8, 4, 8, 8, 8, 8};
    for (int i = 0; i < names.length; i++) {
      columns[i] = arena.allocate(Math.max(1, capacity) * bytes[i], Long.BYTES);
      set("columns." + names[i], columns[i]);
    }
    ring = capacity;
  }

  /** Moves the records to the end of a batch, and leaves room for as many as it can take yet. */
  void moveRecords(RecordBatch to) {
    int count = (int) struct.get(JAVA_LONG, records);
    int at = to.size();
    if (count > 0) {
      MemorySegment.copy(columns[0], JAVA_BYTE, 0, to.kind, at, count);
      longs(1, to.time, at, count);
      MemorySegment.copy(columns[2], JAVA_INT, 0, to.depth, at, count);
      longs(3, to.selfPc, at, count);
      longs(4, to.fromPc, at, count);
      longs(5, to.retP, at, count);
      longs(6, to.fp, at, count);
      to.setSize(at + count);
      struct.set(JAVA_LONG, records, 0);
    }
    set("record_capacity", Math.min(ring, to.capacity() - to.size()));
  }

  private void longs(int column, long[] to, int at, int count) {
    MemorySegment.copy(columns[column], JAVA_LONG, 0, to, at, count);
  }
}
