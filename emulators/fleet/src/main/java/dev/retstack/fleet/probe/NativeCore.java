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
      set(names[i], columns[i]);
    }
    set("record_capacity", capacity);
  }

  int recordCount() {
    return (int) struct.get(JAVA_LONG, records);
  }

  void clearRecords() {
    struct.set(JAVA_LONG, records, 0);
  }

  /** Appends the records from {@code from} on to a batch that has room for them. */
  void copyRecords(int from, RecordBatch to) {
    int count = recordCount() - from;
    int at = to.size();
    MemorySegment.copy(columns[0], JAVA_BYTE, from, to.kind, at, count);
    longs(1, from, to.time, at, count);
    MemorySegment.copy(columns[2], JAVA_INT, from * 4L, to.depth, at, count);
    longs(3, from, to.selfPc, at, count);
    longs(4, from, to.fromPc, at, count);
    longs(5, from, to.retP, at, count);
    longs(6, from, to.fp, at, count);
    to.setSize(at + count);
  }

  private void longs(int column, int from, long[] to, int at, int count) {
    MemorySegment.copy(columns[column], JAVA_LONG, from * 8L, to, at, count);
  }
}
