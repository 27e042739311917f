package dev.retstack.fleet.probe;

import dev.retstack.fleet.core.AstrayException;
import dev.retstack.fleet.core.BlockSplitter;
import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.core.HostClock;
import dev.retstack.fleet.core.LandingPage;
import dev.retstack.fleet.core.TraceClock;
import dev.retstack.fleet.core.Trampolines;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.schema.codec.Mark;
import dev.retstack.schema.codec.RecordBatch;
import dev.retstack.unicorn.NativeCallback;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The probe and the clock in C ({@code src/main/c/probe.c}), driven by the ABI cards as plain
 * numbers. The engine calls it directly; Java is asked only for blocks and call sites that are seen
 * for the first time, for which the core stops before the block and goes on there. The records are
 * those of {@link JavaProbe}, bit for bit.
 */
public final class NativeProbe implements Probe, Pacer, BlockSplitter.Passage {
  private final NativeLibrary library;
  private final Unicorn engine;
  private final GuestMemory memory;
  private final EntryPoints points;
  private final BlockSplitter splitter;
  private final Arena arena = Arena.ofShared();
  private final NativeCore core;
  private final NativeBlocks blocks;
  private final NativeSites sites;
  private final NativeRules rules;
  private final NativeTrampolines ways;
  private final NativeHomes homes;
  private final NativeReturns returns;
  private final NativeStops stops;
  private final long batchFull;
  private final EventRecords events = new EventRecords();
  private final TraceClock clock;
  private Triggers triggers;
  private final NativeContexts contexts;
  private final int stackPointer;
  private final NativeRegions regions;
  private RecordBuffer buffer = new RecordBuffer(0);
  private final NativeClock time;

  /**
   * The probe of one core.
   *
   * @param points where the functions of the image are entered; nowhere in an untraced run
   * @param patcher has the calls that the core goes without
   * @param splitter sees to it that a block begins at each site
   * @param resumed is run in the hook of the block that the core started again with
   * @param host what the times of records are; empty: virtual time
   * @param regionsOfStacks where one stack may end and another begin
   * @param tasks which task runs, where the image tells
   * @param retStackLimit most hijacked returns at a time, in each context
   * @param checkReturns true looks for returns by an overwritten slot at each block
   */
  public NativeProbe(
      NativeLibrary library,
      Unicorn engine,
      GuestMemory memory,
      LandingPage landing,
      Trampolines trampolines,
      Isa isa,
      EntryPoints points,
      SitePatcher patcher,
      Function<BlockSplitter.Passage, BlockSplitter> splitter,
      Runnable resumed,
      Optional<HostClock> host,
      StackRegions regionsOfStacks,
      TaskRules tasks,
      int retStackLimit,
      boolean checkReturns) {
    this.library = library;
    this.engine = engine;
    this.memory = memory;
    this.points = points;
    this.splitter = splitter.apply(this);
    core = new NativeCore(library, arena);
    time = new NativeClock(core);
    sites = new NativeSites(library, arena, patcher, points);
    blocks = new NativeBlocks(library, arena, isa, memory, landing, trampolines, points, sites);
    rules = new NativeRules(library, core);
    regions = new NativeRegions(library, core, arena);
    ways = new NativeTrampolines(library, core, arena, trampolines);
    homes = new NativeHomes(library, core, arena, landing.homes());
    stops = new NativeStops(library);
    batchFull = library.at("STOP_BATCH_FULL");
    returns = new NativeReturns(library, core, engine, memory, landing, trampolines, isa, points);
    triggers = new Triggers(points.rules());
    clock = host.<TraceClock>map(c -> c).orElseGet(this::instructions);
    stackPointer = isa.registers().sp();
    core.describe(isa, memory, landing, points, retStackLimit);
    contexts =
        new NativeContexts(
            library,
            core,
            arena,
            events,
            this::batch,
            regionsOfStacks,
            tasks,
            retStackLimit,
            new GivenUp(
                new GivenUp.GuestSlots(
                    memory,
                    place ->
                        place < LandingPage.PLACES
                            ? landing.address(place)
                            : trampolines.address(place - LandingPage.PLACES))),
            place ->
                place < LandingPage.PLACES
                    ? landing.homes().target(place - LandingPage.SLOTS)
                    : trampolines.target(place - LandingPage.PLACES));
    GivenUp.Arrival arrival =
        returns.arrival(new EntrySlot(engine, memory, core.get("word_mask"), stackPointer), points);
    NativeUnwinding unwinding =
        new NativeUnwinding(
            library,
            core,
            contexts,
            engine,
            memory,
            landing,
            trampolines,
            isa,
            points,
            regionsOfStacks);
    stops
        .on("SMASHED", () -> smashed(core.stopAddress(), core.get("stop_count")))
        .on("BLOCK", this::meetBlock)
        .on("SITE", this::addSite)
        .on("FRAMES", this::growFrames)
        .on("REGIONS", this::describeRegions)
        .on("UNWINDER", unwinding::meet)
        .on("TRIGGER", this::fireTriggers)
        .on("TRAMPOLINE", () -> ways.add(core.get("stop_value")))
        .on("HOME", () -> homes.add(core.get("stop_value")))
        .on("ENTRY_TASK", contexts::enter)
        .on("EXIT_TASK", () -> contexts.exit(engine.reg_read(stackPointer), arrival))
        .on("GIVEN_UP", () -> contexts.giveUp((int) core.get("stop_value")))
        .on("WHICH_GIVEN_UP", contexts::showGivenUp)
        .on("HANDLER_LEFT", contexts::leaveHandler);
    List<AbiCard> cards = points.cards();
    NativeRegisters registers = NativeRegisters.of(engine, isa, cards);
    core.name(registers, isa.registers());
    core.set("cards", NativeCards.write(library, arena, isa, registers, cards));
    core.set("arguments", NativeCards.writeArguments(library, arena, isa, registers, cards));
    NativeCallback back = engine.callback((_, _) -> resumed.run());
    core.set("resumed", back.function());
    core.set("resumed_user", back.userData());
    host.ifPresent(
        clock -> {
          core.set("host_clock", 1);
          core.set("host_origin", clock.origin());
        });
    core.set("watching", checkReturns ? 1 : 0);
    pointToTables();
    core.set("regions_stale", 1);
    core.forgetLastBlock();
  }

  private void pointToTables() {
    core.set("blocks", blocks.table().entries());
    core.set("block_mask", blocks.table().mask());
    core.set("sites", sites.calls().entries());
    core.set("site_mask", sites.calls().mask());
    core.set("block_sites", sites.blocks());
  }

  @Override
  public void hook() {
    engine.hook_add_native(
        UcConst.UC_HOOK_BLOCK, library.onBlock(core.get("watching") != 0), core.struct(), 1, 0);
  }

  @Override
  public void arm(long untilTime, Deadline kind) {
    core.arm(untilTime, library.at("DEADLINE_" + kind));
  }

  @Override
  public void hurry() {
    core.set("deadline", 0);
  }

  @Override
  public void resume() {
    core.set("resuming", 1);
    core.set("attention", library.at("ATTENTION_RARE"));
  }

  @Override
  public boolean goOn() {
    Runnable answer = stops.answer(core.stop());
    if (answer == null) {
      return core.stop() == batchFull && emptyRing();
    }
    answer.run();
    pointToTables();
    core.recordInto(buffer);
    core.set("stop", events.isWaiting() ? batchFull : 0);
    return !events.isWaiting();
  }

  /** Takes the ring's records; true where the batch has room for more and the core can go on. */
  private boolean emptyRing() {
    RecordBatch batch = batch();
    if (batch.capacity() - batch.size() < core.get("stop_value")) {
      return false;
    }
    core.clearStop();
    return true;
  }

  private void meetBlock() {
    long address = core.stopAddress();
    int size = (int) core.get("stop_size");
    if (core.get("stop_value") != -1) {
      throw new AstrayException(address);
    }
    if (splitter.mustSplit(address, size)) {
      splitter.split(address, size);
    } else {
      blocks.add(address, size, (int) core.get("stop_count"));
    }
  }

  private void smashed(long to, long last) {
    NativeFrames frames = contexts.frames();
    int frame = returns.find(frames.segment(), to, last);
    if (frame >= 0) {
      if (!rules.isUnwritten() && !frames.hides(frame)) {
        returns.record(frames.segment(), frame, to, clock.now(), events, batch());
        core.recordInto(buffer);
      }
      contexts.giveUp(frame + 1);
      returns.drop(frames.segment(), frame);
    }
  }

  @Override
  public void fetchFailed(long address) {
    smashed(address, returns.lastBlock());
  }

  @Override
  public long began() {
    return returns.lastBlock();
  }

  @Override
  public void leave() {
    core.set("left", 1);
    core.set("attention", library.at("ATTENTION_RARE"));
    core.set("behind", 0);
  }

  private void addSite() {
    long returnAddress = core.get("stop_value");
    int[] among = points.countingFunctions().get(core.stopAddress());
    sites.addCall(returnAddress, points.ofCall(returnAddress, among, memory::code));
  }

  private void growFrames() {
    contexts.frames().grow();
    contexts.load();
  }

  private void describeRegions() {
    regions.describe(memory.mappings());
    contexts.mappingsChanged();
  }

  private void fireTriggers() {
    triggers.fire(core.get("stop_value"), core.get("stop_time"), this);
    core.set("triggered", 1);
  }

  @Override
  public Stop stop() {
    return stops.of(core.stop());
  }

  @Override
  public long stopAddress() {
    return core.stopAddress();
  }

  @Override
  public void codeChanged() { // of both interfaces
    library.keepLastBlock(core.struct());
    blocks.table().clear();
    sites.clear();
  }

  @Override
  public void updateFtraceFunc(SiteRules next) {
    points.follow(next);
    codeChanged(); // blocks are told apart by their sites
    core.set("behind", sites.forget((int) core.get("behind") - 1) + 1);
    rules.follow(next, contexts.all());
    contexts.follow(next.tasks());
    ways.reset();
    contexts.forgetSlots();
    triggers = new Triggers(next);
    pointToTables();
  }

  @Override
  public boolean isPaused() {
    return rules.is("PAUSED");
  }

  @Override
  public void pause(boolean value) {
    rules.set("PAUSED", value);
    contexts.forgetSlots();
  }

  @Override
  public boolean event(byte kind, long selfPc, long fromPc, long... values) {
    if (rules.isQuiet(contexts.frames())) {
      return false;
    }
    int depth = (int) core.get("frame_count");
    events.add(batch(), kind, clock.now(), depth, selfPc, fromPc, values);
    core.recordInto(buffer);
    return true;
  }

  @Override
  public void mark(Mark mark, long function, long time, long command) {
    if (!rules.isUnwritten()) {
      events.mark(batch(), time, function, mark.code(), command);
      core.recordInto(buffer);
    }
  }

  @Override
  public void interruptEnter(long number, long pc) {
    long sp = engine.reg_read(stackPointer);
    contexts.interruptEnter(number, pc, clock.now(), sp, !rules.is("PAUSED"));
    core.recordInto(buffer);
  }

  @Override
  public void interruptExit(long pc) {
    contexts.interruptExit(pc, clock.now(), engine.reg_read(stackPointer));
    core.recordInto(buffer);
  }

  @Override
  public boolean isWaiting() {
    return events.isWaiting();
  }

  @Override
  public void enableFtraceGraphCaller() {
    rules.set("FUNCTION", false);
  }

  @Override
  public void disableFtraceGraphCaller() {
    rules.set("FUNCTION", true);
    contexts.forgetSlots();
  }

  @Override
  public void mappingsChanged() {
    core.set("regions_stale", 1);
  }

  @Override
  public TraceClock instructions() {
    return time;
  }

  @Override
  public Probe probe() {
    return this;
  }

  @Override
  public void recordInto(RecordBuffer next) {
    buffer = next;
    events.moveTo(next.batch());
    core.recordInto(next);
  }

  @Override
  public RecordBatch batch() {
    return core.moveRecords(buffer);
  }

  @Override
  public void clear() {
    batch().clear();
    events.moveTo(buffer.batch());
    core.recordInto(buffer);
    core.set("overruns", 0);
    core.set("unhijackable", 0);
    contexts.givenUp().clearAbandoned();
  }

  @Override
  public long overruns() {
    return core.get("overruns");
  }

  @Override
  public long abandoned() {
    return contexts.givenUp().abandoned();
  }

  @Override
  public long unhijackable() {
    return core.get("unhijackable");
  }

  @Override
  public void close() {
    time.stop();
    arena.close();
  }
}
