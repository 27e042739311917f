package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.Arrival;
import dev.retstack.fleet.probe.Pacer;
import dev.retstack.fleet.probe.Probe;
import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.fleet.probe.site.BlockSplitter;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.schema.ClockUnit;
import dev.retstack.unicorn.Hook;
import dev.retstack.unicorn.Unicorn;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * The block hook in Java: the reference for the one in C, and its replacement if that could not be
 * compiled.
 */
public final class BlockClock implements Hook.Block, Pacer, BlockSplitter.Passage {
  private static final long UNKNOWN = -1;

  /** As in the probe in C: passes through the tracer's code that take no time. */
  private static final int PASSES_EACH = 4;

  private static final int PASSES_FREE = 1 << 16;

  private final Unicorn engine;
  private final GuestMemory memory;
  private final LandingPage landing;
  private final VirtualClock instructions = new VirtualClock();
  private final List<byte[]> idleLoops;
  private final boolean stopsAtJumps;
  private final BlockProbe probe;
  private final EntryPoints points;
  private final BlockSplitter splitter;
  private final Runnable resumed;

  /** Block address to {@code size << 32 | instructions}. */
  private final Long2LongOpenHashMap blocks = new Long2LongOpenHashMap();

  private long passes;
  private volatile long deadline;
  private long previous;
  private long stopAddress;
  private int stopSize;
  private int stopCount;

  /**
   * True where the core stopped before a block that is new, as it does for the probe in C: a start
   * there may be seen. MIPS forgets that MIPS16 was on.
   */
  private boolean meeting;

  /** True where the core stopped to continue at another address. */
  private boolean moving;

  /** True where that block was left in its middle, at a site. */
  private boolean left;

  private int lastCount;

  /** One past the block of the program that ran last. */
  private long previousEnd;

  /** When a block was left in its middle last. */
  private long splitTime = UNKNOWN;

  /** One past the last block. */
  private long lastEnd;

  private Stop stop = Stop.NONE;

  /** True where the next block is the rest of one that was counted. */
  private boolean resuming;

  /**
   * The hook of one core, not yet added to its engine.
   *
   * @param probe makes what is asked about each block; its argument is the time
   */
  public BlockClock(Machine machine, EntryPoints points, Function<TraceClock, BlockProbe> probe) {
    engine = machine.engine();
    memory = machine.memory();
    landing = machine.landing();
    idleLoops = machine.isa().stops().idleLoops();
    stopsAtJumps = machine.isa().engine().stopsAtJumps();
    this.probe = probe.apply(instructions);
    this.points = points;
    splitter = new BlockSplitter(machine, points, this);
    resumed = machine.tlb()::refill;
    blocks.defaultReturnValue(UNKNOWN);
  }

  @Override
  public void hook() {
    engine.hook_add_block(this, 1, 0);
  }

  @Override
  public void arm(long untilTime, Deadline kind) {
    deadline = untilTime;
    stop = Stop.NONE;
    meeting = false; // this run does not continue where the one before stopped
    moving = false;
  }

  @Override
  public void hurry() {
    deadline = 0;
  }

  @Override
  public void resume() {
    resuming = true;
  }

  @Override
  public boolean serveStop() {
    boolean goesOn = meeting || moving;
    if (meeting) {
      meet();
    }
    meeting = false;
    moving = false;
    return goesOn;
  }

  private void meet() {
    points.meet(stopAddress, memory);
    if (splitter.mustSplit(stopAddress, stopSize)) {
      splitter.split(stopAddress, stopSize);
    } else {
      blocks.put(stopAddress, (long) stopSize << 32 | stopCount);
    }
  }

  @Override
  public Stop stop() {
    return stop;
  }

  @Override
  public long stopAddress() {
    return stopAddress;
  }

  @Override
  public Arrival arrival() {
    if (previous == UNKNOWN) {
      return Arrival.TRACER;
    }
    boolean split = instructions.now() == splitTime;
    return new Arrival(split ? Arrival.How.SPLIT : Arrival.How.RAN, previous, previousEnd);
  }

  @Override
  public long began() { // of both interfaces
    return previous;
  }

  @Override
  public int length() {
    return lastCount;
  }

  @Override
  public void leave() {
    left = true;
  }

  @Override
  public void sitesChanged() {
    blocks.clear();
  }

  @Override
  public void codeChanged() {
    blocks.clear();
    probe.codeChanged();
  }

  @Override
  public void mappingsChanged() {}

  @Override
  public TraceClock instructions() {
    return instructions;
  }

  @Override
  public Probe probe() {
    return probe;
  }

  @Override
  public void close() {}

  @Override
  public void onBlock(long address, int size) {
    if (resuming) {
      resuming = false;
      resumed.run();
      return;
    }
    boolean mayStop = !stopsAtJumps || address != lastEnd;
    if (isNew(address, size) && mayStop && size > 0) {
      meeting = true;
      stopCount = engine.ctl_request_cache(address);
      stopBefore(address, size, Stop.NONE);
      return;
    }
    if (left) { // the rest of a block that was left at a site: it was counted there already
      left = false;
      instructions.advance(-Math.min(count(address, size), lastCount));
      splitTime = instructions.now();
    }
    lastEnd = address + size;
    if (instructions.now() >= deadline && mayStop && mayStopAt(address)) {
      stopBefore(address, size, Stop.DEADLINE);
      return;
    }
    switch (probe.onBlock(address, size)) {
      case PROGRAM -> program(address, size);
      case TRACER -> {
        previous = UNKNOWN;
        pass();
      }
      case FULL -> stopBefore(address, size, Stop.BATCH_FULL);
      case ELSEWHERE -> {
        moving = true;
        stopBefore(probe.elsewhere(), 0, Stop.NONE);
      }
    }
  }

  private void program(long address, int size) {
    if (landing.stopsAt(address)) {
      stopBefore(address, size, Stop.OUTERMOST_RETURN);
      return;
    }
    if (landing.holds(address)) {
      if (address == previous) {
        stopBefore(address, size, Stop.ASTRAY);
      }
      previous = address;
      pass();
      return;
    }
    int count = count(address, size);
    if (address == previous && count <= IDLE_LOOP && isIdleLoop(address, size)) {
      stopBefore(address, size, Stop.IDLE_LOOP);
      return;
    }
    previous = address;
    previousEnd = address + size;
    lastCount = count;
    instructions.advance(count);
  }

  /** A block of the tracer has done its work. */
  private void pass() {
    if (++passes > PASSES_EACH * instructions.now() + PASSES_FREE) {
      instructions.advance(1);
    }
  }

  /**
   * Not in the tracer's code: whether a return passes there depends on what is traced. But where
   * the program goes round there, or the core is to end.
   */
  private boolean mayStopAt(long address) {
    return !landing.holds(address)
        || deadline == 0
        || passes + PASSES_EACH > PASSES_EACH * instructions.now() + PASSES_FREE;
  }

  private int count(long address, int size) {
    return isNew(address, size) ? engine.ctl_request_cache(address) : (int) blocks.get(address);
  }

  private boolean isNew(long address, int size) {
    long known = blocks.get(address);
    return known == UNKNOWN || (int) (known >>> 32) != size;
  }

  private boolean isIdleLoop(long address, int size) {
    byte[] code = memory.read(address, size);
    return landing.endsInIdleLoop()
        && idleLoops.stream().anyMatch(loop -> Arrays.equals(loop, code));
  }

  private void stopBefore(long address, int size, Stop reason) {
    stop = reason;
    stopAddress = address;
    stopSize = size;
    engine.emu_stop();
  }

  /**
   * Counts the guest instructions executed, except those of the tracer: the counting function and
   * the landing page take no time. The same image with the same input gives the same times on any
   * host.
   */
  private static final class VirtualClock implements TraceClock {
    private long instructions;

    @Override
    public long now() {
      return instructions;
    }

    @Override
    public ClockUnit unit() {
      return ClockUnit.INSTRUCTIONS;
    }

    /**
     * Advances by a number of instructions; back, if it is negative, where they were counted too
     * early.
     */
    void advance(int count) {
      instructions += count;
    }
  }
}
