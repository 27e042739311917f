package dev.retstack.fleet.probe.nativec;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.retstack.fleet.probe.Arrival;
import dev.retstack.fleet.probe.RecordBuffer;
import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.unwind.SmashedReturns;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.memory.HostRange;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.List;

/** The {@code struct core} of one core, and the ring of records in it. */
final class NativeCore {
  private static final String PREFIX = "core.";

  private final NativeLibrary layout;
  private final Arena arena;
  private final MemorySegment struct;
  private MemorySegment regions = MemorySegment.NULL;
  private MemorySegment callers = MemorySegment.NULL;
  private final long now;
  private final long deadline;
  private final long deadlineKind;
  private final long stop;
  private final long stopAddress;
  private final long records;

  NativeCore(NativeLibrary layout, Arena arena) {
    this.layout = layout;
    this.arena = arena;
    struct = arena.allocate(layout.at("core"), NativeTable.CACHE_LINE);
    now = layout.at("core.now");
    deadline = layout.at("core.deadline");
    deadlineKind = layout.at("core.deadline_kind");
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

  /** The first elements of an array. */
  long[] longs(String field, long count) {
    return struct.asSlice(layout.at(PREFIX + field), count * Long.BYTES).toArray(JAVA_LONG);
  }

  void set(String field, long value) {
    struct.set(JAVA_LONG, layout.at(PREFIX + field), value);
  }

  /** Sets a pointer; what it points to must live as long as the engine. */
  void set(String field, MemorySegment target) {
    set(field, target.address());
  }

  /** What never changes. */
  void describe(Machine machine, EntryPoints points, int retStackLimit) {
    Isa isa = machine.isa();
    LandingPage landing = machine.landing();
    for (String function : List.of("reg_read", "reg_write", "emu_stop", "ctl")) {
      set(function, Unicorn.function("uc_" + function));
    }
    set("request_cache", Unicorn.CTL_REQUEST_CACHE);
    set("landing_start", landing.start());
    set("handlers_end", landing.end());
    set("landing_shift", Integer.numberOfTrailingZeros(isa.landing().stride()));
    set("handlers", LandingPage.SLOTS);
    set("mailbox", machine.memory().host(landing.mailbox(), isa.wordBytes()));
    set("home_word", isa.landing().homeWord());
    set("frame_limit", retStackLimit);
    set("word_mask", machine.wordMask());
    set("code_mask", isa.addresses().instruction(-1));
    set("word_bytes", isa.wordBytes());
    set("swap", isa.order() == ByteOrder.nativeOrder() ? 0 : 1);
    set("slot_reach", points.slotReach(isa));
    set("watched", SmashedReturns.UNWATCHED);
    set("watch_shift", isa.wordBytes() == Long.BYTES ? 0 : Integer.SIZE);
    set("split_time", -1);
    set("pushes", isa.pushesReturnAddress() ? 1 : 0);
    set("stops_at_jumps", isa.engine().stopsAtJumps() ? 1 : 0);
    set("attention", isa.engine().stopsAtJumps() ? layout.at("ATTENTION_RARE") : 0);
  }

  /** How registers are read, and which are no operands of a card. */
  void name(NativeRegisters registers, Registers special) {
    set("registers", registers.base());
    int stackPointer = registers.number(special.sp());
    set("stack_pointer", stackPointer);
    if (registers.base() == 0) {
      set("attention", layout.at("ATTENTION_RARE"));
      set("stack_pointer_at", struct.asSlice(layout.at("core.nothing")));
    } else {
      set("long_words", get("word_bytes") == Long.BYTES ? 1 : 0);
      set("stack_pointer_at", registers.base() + stackPointer - get("watch_shift") / Byte.SIZE);
    }
    set("result", registers.number(special.result()));
  }

  long now() {
    return struct.get(JAVA_LONG, now);
  }

  /** The core shall stop at this virtual time; why it stopped last is forgotten. */
  void arm(long until, long kind) {
    struct.set(JAVA_LONG, deadline, until);
    struct.set(JAVA_LONG, deadlineKind, kind);
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

  /** As if the last block had been the tracer's. */
  void forgetLastBlock() {
    MemorySegment nowhere = struct.asSlice(layout.at("core.nowhere"), layout.at("block"));
    nowhere.set(JAVA_LONG, layout.at("block.address"), -1);
    set("last", nowhere);
  }

  /** Records go into the ring of a buffer, as many as its batch has room for. */
  void recordInto(RecordBuffer buffer) {
    RecordBatch batch = buffer.batch();
    MemorySegment ring = buffer.ring(layout.at("ring"));
    int room = ring.byteSize() == 0 ? 0 : batch.capacity() - batch.size();
    set("ring", ring);
    set("record_capacity", Math.min((int) layout.at("RING"), room));
  }

  /** Moves the records of the ring to the end of the batch. */
  RecordBatch moveRecords(RecordBuffer buffer) {
    RecordBatch to = buffer.batch();
    int count = (int) struct.get(JAVA_LONG, records);
    if (count > 0) {
      MemorySegment ring = buffer.ring(layout.at("ring"));
      int at = to.size();
      MemorySegment.copy(ring, JAVA_BYTE, layout.at("ring.kind"), to.kind, at, count);
      MemorySegment.copy(ring, JAVA_INT, layout.at("ring.depth"), to.depth, at, count);
      longs(ring, "ring.time", to.time, at, count);
      longs(ring, "ring.self_pc", to.selfPc, at, count);
      longs(ring, "ring.from_pc", to.fromPc, at, count);
      longs(ring, "ring.ret_p", to.retP, at, count);
      longs(ring, "ring.fp", to.fp, at, count);
      to.setSize(at + count);
      struct.set(JAVA_LONG, records, 0);
      recordInto(buffer);
    }
    return to;
  }

  private void longs(MemorySegment ring, String column, long[] to, int at, int count) {
    MemorySegment.copy(ring, JAVA_LONG, layout.at(column), to, at, count);
  }

  /** Where guest memory is, sorted by address. */
  void describeRegions(List<HostRange> ranges) {
    long bytes = layout.at("host_range");
    if (regions.byteSize() < bytes * ranges.size()) {
      regions = arena.allocate(2 * bytes * ranges.size(), Long.BYTES);
    }
    for (int i = 0; i < ranges.size(); i++) {
      long at = i * bytes;
      regions.set(JAVA_LONG, at + layout.at("host_range.all.start"), ranges.get(i).start());
      regions.set(
          JAVA_LONG, at + layout.at("host_range.all.size"), ranges.get(i).host().byteSize());
      regions.set(JAVA_LONG, at + layout.at("host_range.all.host"), ranges.get(i).host().address());
      regions.set(JAVA_LONG, at + layout.at("host_range.pages"), ranges.get(i).pages().address());
    }
    set("regions", regions);
    set("region_count", ranges.size());
    set("last_region.size", 0); // none
    set("regions_stale", 0);
  }

  /** The code from which functions are called by their addresses: addresses, each with a size. */
  void describeCallers(long[] pairs) {
    if (callers.byteSize() < (long) pairs.length * Long.BYTES) {
      callers = arena.allocate(2L * pairs.length * Long.BYTES, Long.BYTES);
    }
    MemorySegment.copy(pairs, 0, callers, JAVA_LONG, 0, pairs.length);
    set("callers", callers);
    set("caller_count", pairs.length / 2);
  }

  /** Address of the block of the program that ran last; none is at -1. */
  long lastBlock() {
    layout.keepLastBlock(struct);
    boolean known = get("last") == struct.address() + layout.at("core.unlisted");
    return known
        ? struct.get(JAVA_LONG, layout.at("core.unlisted") + layout.at("block.address"))
        : -1;
  }

  /** How it came to the block before which it stopped. */
  Arrival arrival() {
    long start = lastBlock();
    if (start == -1) {
      return Arrival.TRACER;
    }
    long size = struct.get(JAVA_SHORT, layout.at("core.unlisted") + layout.at("block.size"));
    boolean split = get("split_time") == now();
    return new Arrival(split ? Arrival.How.SPLIT : Arrival.How.RAN, start, start + (size & 0xffff));
  }

  /** Instructions of that block. */
  int lastCount() {
    layout.keepLastBlock(struct);
    return struct.get(JAVA_SHORT, layout.at("core.unlisted") + layout.at("block.count")) & 0xffff;
  }

  /** The virtual time of a core whose probe is in C. */
  static final class Clock implements TraceClock {
    private final NativeCore core;
    private long last;
    private boolean stopped;

    Clock(NativeCore core) {
      this.core = core;
    }

    /** The memory of the core is about to go: time stands still. */
    void stop() {
      last = core.now();
      stopped = true;
    }

    @Override
    public long now() {
      return stopped ? last : core.now();
    }

    @Override
    public ClockUnit unit() {
      return ClockUnit.INSTRUCTIONS;
    }
  }
}
