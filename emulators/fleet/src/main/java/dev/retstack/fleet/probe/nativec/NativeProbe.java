package dev.retstack.fleet.probe.nativec;

import dev.retstack.fleet.probe.Arrival;
import dev.retstack.fleet.probe.EventRecords;
import dev.retstack.fleet.probe.Pacer;
import dev.retstack.fleet.probe.Probe;
import dev.retstack.fleet.probe.ProbePlan;
import dev.retstack.fleet.probe.RecordBuffer;
import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.fleet.probe.Triggers;
import dev.retstack.fleet.probe.frame.GivenUp;
import dev.retstack.fleet.probe.site.BlockSplitter;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.site.Operands;
import dev.retstack.fleet.probe.site.SiteRules;
import dev.retstack.fleet.probe.unwind.SmashedReturns;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.landing.AstrayException;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.Mark;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.unicorn.NativeCallback;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The probe and the clock in C ({@code src/main/c/probe.c}), driven by the ABI cards as plain
 * numbers. The engine calls it directly. It asks Java only about blocks and call sites that are
 * seen for the first time; for these the core stops before the block, and then continues there. The
 * records are those of {@code JavaProbe}, bit for bit.
 */
final class NativeProbe implements Probe, Pacer, BlockSplitter.Passage {
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
  private final SmashedReturns returns;
  private final CodeAddresses addresses;
  private final Stops stops;
  private final long batchFull;
  private final EventRecords events = new EventRecords();
  private final TraceClock clock;
  private Triggers triggers;
  private final NativeContexts contexts;
  private final int stackPointer;
  private RecordBuffer buffer = RecordBuffer.resting(0);
  private final NativeCore.Clock time;

  /** The probe of one core. */
  NativeProbe(NativeLibrary library, Machine machine, ProbePlan plan) {
    Isa isa = machine.isa();
    this.library = library;
    engine = machine.engine();
    memory = machine.memory();
    points = plan.points();
    splitter = new BlockSplitter(machine, points, this);
    core = new NativeCore(library, arena);
    time = new NativeCore.Clock(core);
    sites = new NativeSites(library, arena, plan.patcher(), points);
    blocks = new NativeBlocks(library, arena, machine, points, sites);
    rules = new NativeRules(library, core);
    ways = new NativeTrampolines(library, core, arena, machine.trampolines());
    homes = new NativeHomes(library, core, arena, machine.landing().homes());
    stops = new Stops(library);
    batchFull = library.at("STOP_BATCH_FULL");
    returns = new SmashedReturns(machine, points, to -> isHandler(machine, to));
    addresses = isa.addresses();
    triggers = new Triggers(points.rules());
    clock = plan.host().<TraceClock>map(c -> c).orElseGet(this::instructions);
    stackPointer = isa.registers().sp();
    core.describe(machine, points, plan.retStackLimit());
    GivenUp givenUp = new GivenUp(new GivenUp.GuestSlots(memory, place -> address(machine, place)));
    contexts =
        new NativeContexts(
            library,
            core,
            arena,
            events,
            this::batch,
            plan,
            givenUp,
            place -> target(machine, place));
    answer(
        new Operands(machine, points, core::lastBlock, () -> core.get("returned")),
        new NativeUnwinding(library, core, contexts, machine, plan));
    describeCards(isa);
    NativeCallback back = engine.callback((_, _) -> machine.tlb().refill());
    core.set("resumed", back.function());
    core.set("resumed_user", back.userData());
    plan.host()
        .ifPresent(
            host -> {
              core.set("host_clock", 1);
              core.set("host_origin", host.origin());
            });
    core.set("watching", plan.checkReturns() ? 1 : 0);
    pointToTables();
    core.set("regions_stale", 1);
    core.forgetLastBlock();
  }

  /** True for addresses that a hijacked slot may hold. */
  private static boolean isHandler(Machine machine, long to) {
    return machine.landing().placeAt(to) >= 0 || machine.trampolines().indexAt(to) >= 0;
  }

  /** Address of a place; behind those of the landing page trampolines are numbered. */
  private static long address(Machine machine, int place) {
    return place < LandingPage.PLACES
        ? machine.landing().address(place)
        : machine.trampolines().address(place - LandingPage.PLACES);
  }

  /** Where a home or a trampoline leads. */
  private static long target(Machine machine, int place) {
    return place < LandingPage.PLACES
        ? machine.landing().homes().target(place - LandingPage.SLOTS)
        : machine.trampolines().target(place - LandingPage.PLACES);
  }

  /** What is done when the probe in C asks. */
  private void answer(GivenUp.Arrival arrival, NativeUnwinding unwinding) {
    stops
        .on("SMASHED", () -> smashed(core.stopAddress(), core.get("stop_count")))
        .on("BLOCK", this::meetBlock)
        .on("SITE", this::addSite)
        .on("FRAMES", this::growFrames)
        .on("REGIONS", this::describeRegions)
        .on("UNWINDER", unwinding::meet)
        .on("READER", unwinding::enter)
        .on("TRIGGER", this::fireTriggers)
        .on("TRAMPOLINE", () -> ways.add(core.get("stop_value")))
        .on("HOME", () -> homes.add(core.get("stop_value")))
        .on("ENTRY_TASK", contexts::enter)
        .on("EXIT_TASK", () -> contexts.exit(engine.reg_read(stackPointer), arrival))
        .on("GIVEN_UP", () -> contexts.giveUp((int) core.get("stop_value")))
        .on("WHICH_GIVEN_UP", contexts::showGivenUp)
        .on("HANDLER_LEFT", contexts::leaveHandler);
  }

  private void describeCards(Isa isa) {
    List<AbiCard> cards = points.cards();
    NativeRegisters registers = NativeRegisters.of(engine, isa, cards);
    core.name(registers, isa.registers());
    core.set("cards", NativeCards.write(library, arena, isa, registers, cards));
    core.set("arguments", NativeCards.writeArguments(library, arena, isa, registers, cards));
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
  public boolean serveStop() {
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

  /** Takes the ring's records; true where the batch has room for more and the core can continue. */
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
    if (points.meet(address, memory)) {
      codeChanged();
    }
    if (splitter.mustSplit(address, size)) {
      splitter.split(address, size);
    } else {
      blocks.add(address, size, (int) core.get("stop_count"));
    }
  }

  private void smashed(long to, long last) {
    NativeFrames frames = contexts.frames();
    core.set("watched", SmashedReturns.UNWATCHED); // if it is none, the block may run
    int frame = returns.find(frames, to, last);
    if (frame >= 0) {
      boolean isShown = !rules.isUnwritten() && !frames.isHidden(frame);
      if (isShown) {
        events.smashed(batch(), clock.now(), frames, frame, to, addresses);
        core.recordInto(buffer);
      }
      contexts.giveUp(frame + 1);
      int first = frames.first(frame);
      frames.truncate(frame);
      if (isShown) {
        frames.showExit(frame);
      }
      frames.truncate(first);
      contexts.useCurrentContext();
    }
  }

  @Override
  public void fetchFailed(long address) {
    smashed(address, core.lastBlock());
  }

  @Override
  public Arrival arrival() {
    return core.arrival();
  }

  @Override
  public long began() { // of both interfaces
    return core.lastBlock();
  }

  @Override
  public int length() {
    return core.lastCount();
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
    core.describeRegions(memory.hosts());
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
    core.describeCallers(points.callers());
  }

  @Override
  public void updateFtraceFunc(SiteRules next) {
    points.follow(next);
    codeChanged(); // blocks are distinguished by their sites
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
  public void note(RecordBatch change) {
    boolean late = rules.isUnwritten();
    long time = late ? contexts.frames().time((int) core.get("written")) : clock.now();
    events.copy(batch(), change, time);
    core.recordInto(buffer);
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
  public void signalEnter(long number, long pc, long sp, long top, long stack, long stackBytes) {
    boolean tell = !rules.is("PAUSED");
    contexts.signalEnter(number, pc, clock.now(), sp, top, stack, stackBytes, tell);
    core.recordInto(buffer);
  }

  @Override
  public void signalExit(long top, long pc) {
    contexts.signalExit(top, pc, clock.now(), engine.reg_read(stackPointer));
    core.recordInto(buffer);
  }

  @Override
  public void threadSwitched(long id, boolean ended) {
    contexts.threadSwitched(id, ended, clock.now(), engine.reg_read(stackPointer));
    core.recordInto(buffer);
  }

  @Override
  public Map<Long, Long> innermost() {
    return contexts.innermost();
  }

  @Override
  public boolean isWaiting() {
    return events.isWaiting();
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
    core.set("left_alone_count", 0);
    contexts.givenUp().clearAbandoned();
  }

  @Override
  public Keyframe keyframe() {
    return batch().size() > 0 || events.isWaiting() ? null : contexts.keyframe();
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
  public long[] leftAlone() {
    return core.longs("left_alone", core.get("left_alone_count"));
  }

  @Override
  public void close() {
    time.stop();
    arena.close();
  }

  /** Why the probe in C stops its core, by number, and what is done about it. */
  private static final class Stops {
    private final NativeLibrary library;
    private final Map<Long, Stop> stops = new HashMap<>();
    private final Map<Long, Runnable> answers = new HashMap<>();

    Stops(NativeLibrary library) {
      this.library = library;
      for (Stop stop : Stop.values()) {
        stops.put(library.at("STOP_" + stop), stop);
      }
    }

    /**
     * What is done where the probe asks, before the core continues at the block it stopped before.
     */
    Stops on(String reason, Runnable answer) {
      answers.put(library.at("ASK_" + reason), answer);
      return this;
    }

    /** What is to be done; null where the probe does not ask. */
    Runnable answer(long number) {
      return answers.get(number);
    }

    /** Why the core stopped, where that is not the probe's affair alone. */
    Stop of(long number) {
      return stops.get(number);
    }
  }
}
