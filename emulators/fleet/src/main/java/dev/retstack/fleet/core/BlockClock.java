package dev.retstack.fleet.core;

import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.probe.Probe;
import dev.retstack.unicorn.BlockHook;
import dev.retstack.unicorn.Unicorn;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.Arrays;
import java.util.List;

/**
 * The one block hook of a core: clock, deadline, the only place where the core stops, and where the
 * probe sees entries and exits. A stop happens before the block, none of which has run; starting
 * there again is exact.
 */
final class BlockClock implements BlockHook {
  /** Why the core stopped in a block hook. */
  enum Stop {
    NONE,
    DEADLINE,
    BATCH_FULL,
    OUTERMOST_RETURN,
    IDLE_LOOP,
    /** The block runs into a site: to be split. */
    SPLIT
  }

  private static final long UNKNOWN = -1;

  /** Most instructions of a jump to itself: it may have a delay slot. */
  private static final int IDLE_LOOP = 2;

  private final Unicorn engine;
  private final GuestMemory memory;
  private final LandingPage landing;
  private final VirtualClock instructions;
  private final List<byte[]> idleLoops;
  private final boolean stopsAtJumps;
  private final Probe probe;
  private final BlockSplitter splitter;
  private final Runnable resumed;

  /** Block address to {@code size << 32 | instructions}. */
  private final Long2LongOpenHashMap blocks = new Long2LongOpenHashMap();

  private long deadline;
  private long previous;
  private long stopAddress;
  private int stopSize;
  private int lastCount;

  /** One past the last block. */
  private long lastEnd;

  private Stop stop = Stop.NONE;

  /** True where the next block is the rest of one that was counted. */
  private boolean resuming;

  BlockClock(
      Unicorn engine,
      GuestMemory memory,
      LandingPage landing,
      VirtualClock instructions,
      Isa isa,
      Probe probe,
      BlockSplitter splitter,
      Runnable resumed) {
    this.engine = engine;
    this.memory = memory;
    this.landing = landing;
    this.instructions = instructions;
    this.idleLoops = isa.stops().idleLoops();
    this.stopsAtJumps = isa.engine().stopsAtJumps();
    this.probe = probe;
    this.splitter = splitter;
    this.resumed = resumed;
    blocks.defaultReturnValue(UNKNOWN);
  }

  /** Before a start: the core shall stop at the first block at or after this virtual time. */
  void arm(long untilTime) {
    deadline = untilTime;
    stop = Stop.NONE;
  }

  /** The core left a block in its middle and starts again there: the rest is not another block. */
  void resume() {
    resuming = true;
  }

  /** Why the core stopped here; NONE where it stopped by itself. */
  Stop stop() {
    return stop;
  }

  /** The block before which it stopped. */
  long stopAddress() {
    return stopAddress;
  }

  /** Its size in bytes. */
  int stopSize() {
    return stopSize;
  }

  /** Forgets the sizes of blocks: code changed. */
  void codeChanged() {
    blocks.clear();
  }

  @Override
  public void onBlock(long address, int size) {
    if (resuming) {
      resuming = false;
      resumed.run();
      return;
    }
    if (splitter.takeRest()) {
      instructions.advance(-Math.min(count(address, size), lastCount));
    }
    boolean mayStop = !stopsAtJumps || address != lastEnd;
    lastEnd = address + size;
    if (instructions.now() >= deadline && mayStop) {
      stopBefore(address, size, Stop.DEADLINE);
      return;
    }
    if (isNew(address, size) && splitter.mustSplit(address, size)) {
      stopBefore(address, size, Stop.SPLIT);
      return;
    }
    switch (probe.onBlock(address, size)) {
      case PROGRAM -> program(address, size);
      case TRACER -> {}
      case FULL -> stopBefore(address, size, Stop.BATCH_FULL);
    }
  }

  private void program(long address, int size) {
    if (landing.holds(address)) {
      if (address == landing.stopAddress()) {
        stopBefore(address, size, Stop.OUTERMOST_RETURN);
      }
      return;
    }
    int count = count(address, size);
    if (address == previous && count <= IDLE_LOOP && isIdleLoop(address, size)) {
      stopBefore(address, size, Stop.IDLE_LOOP);
      return;
    }
    splitter.begin(address, size);
    previous = address;
    lastCount = count;
    instructions.advance(count);
  }

  private int count(long address, int size) {
    if (isNew(address, size)) {
      blocks.put(address, (long) size << 32 | engine.ctl_request_cache(address));
    }
    return (int) blocks.get(address);
  }

  private boolean isNew(long address, int size) {
    long known = blocks.get(address);
    return known == UNKNOWN || (int) (known >>> 32) != size;
  }

  private boolean isIdleLoop(long address, int size) {
    byte[] code = memory.read(address, size);
    return idleLoops.stream().anyMatch(loop -> Arrays.equals(loop, code));
  }

  private void stopBefore(long address, int size, Stop reason) {
    stop = reason;
    stopAddress = address;
    stopSize = size;
    engine.emu_stop();
  }
}
