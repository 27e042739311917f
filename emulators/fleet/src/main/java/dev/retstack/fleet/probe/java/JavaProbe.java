package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.EventRecords;
import dev.retstack.fleet.probe.ProbePlan;
import dev.retstack.fleet.probe.RecordBuffer;
import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.fleet.probe.Triggers;
import dev.retstack.fleet.probe.frame.GivenUp;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.site.EntryPoints.Site;
import dev.retstack.fleet.probe.site.Operands;
import dev.retstack.fleet.probe.site.SiteRules;
import dev.retstack.fleet.probe.site.ValueRange;
import dev.retstack.fleet.probe.unwind.SmashedReturns;
import dev.retstack.fleet.probe.unwind.Unwinding;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.isa.call.SiteFacts.Where;
import dev.retstack.machine.landing.AstrayException;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.Mark;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.unicorn.Unicorn;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.util.Map;

/**
 * The reference probe: entry hijack and exit restore in Java, driven only by the ABI card.
 *
 * <p>The counting function, every handler slot and every function that begins with nops begin a
 * block, so the core's block hook sees all of them. An entry writes the address of a handler slot
 * over the function's return address. The return then arrives there, and the landing code continues
 * at the saved address through the mailbox.
 */
public final class JavaProbe implements BlockProbe {
  /** Sites that are named of those that are left alone, at most. */
  private static final int LEFT_ALONE = 16;

  private final Unicorn engine;
  private final LandingPage landing;
  private final TraceClock clock;
  private final CodeAddresses addresses;
  private final int stackPointer;
  private final int result;

  /** Added to the stack pointer at exit: below that lie the slots that may be the frame's own. */
  private final long slotReach;

  private final long wordMask;
  private final EntryPoints points;
  private final AbiCard[] cards;
  private final CountingCalls calls;
  private final JavaContexts contexts;
  private RuledStack frames;
  private RetStack stack;
  private LateEntries late;
  private RecordBatch batch = new RecordBatch(0);
  private long overruns;
  private long unhijackable;
  private final LongSet leftAlone = new LongLinkedOpenHashSet();

  private final Operands operands;
  private final EntrySlot slot;
  private final EventRecords events = new EventRecords();
  private Triggers triggers;

  /** True where the next entry has fired its triggers already. */
  private boolean triggered;

  /** True where the next entry is in its context already. */
  private boolean placed;

  private final GivenUp givenUp;

  /** What exits when there is room for records, where it had been given up. */
  private GivenUp.Frame revived;

  /** True where returns are hijacked. */
  private boolean graphCaller = true;

  /** True where no entry is recorded. */
  private boolean paused;

  /** True where a stack is of pieces that lie anywhere. */
  private final boolean inPieces;

  private final ReturnWatch watch;
  private final Unwinding unwinding;
  private long elsewhere;

  /** A probe of one core. */
  public JavaProbe(Machine machine, ProbePlan plan, TraceClock clock) {
    Isa isa = machine.isa();
    this.engine = machine.engine();
    this.landing = machine.landing();
    this.clock = clock;
    this.addresses = isa.addresses();
    this.stackPointer = isa.registers().sp();
    this.result = isa.registers().result();
    this.wordMask = machine.wordMask();
    this.points = plan.points();
    this.cards = points.cards().toArray(AbiCard[]::new);
    this.slotReach = points.slotReach(isa);
    this.inPieces = plan.regions().inPieces();
    this.calls = new CountingCalls(points, machine.memory(), addresses);
    this.operands = new Operands(machine, points, this::lastBlock, this::returned);
    this.slot = new EntrySlot(engine, machine.memory(), operands, wordMask);
    this.triggers = new Triggers(points.rules());
    long mask = addresses.instruction(-1);
    this.givenUp = new GivenUp(new GivenUp.GuestSlots(machine.memory(), landing::address));
    this.contexts =
        new JavaContexts(
            events, () -> batch, clock, mask, plan, givenUp, operands, isa.wordBytes());
    var smashed = new SmashedReturns(machine, points, to -> landing.placeAt(to) >= 0);
    this.watch =
        new ReturnWatch(smashed, events, clock, addresses, plan.checkReturns(), contexts::giveUp);
    this.unwinding =
        new Unwinding(machine, _ -> Unwinding.NOWHERE, points, this::lastBlock, contexts);
    useCurrentContext();
  }

  @Override
  public long elsewhere() {
    return elsewhere;
  }

  @Override
  public Block onBlock(long address, int size) {
    return watch.ran(meet(address, size), address, size);
  }

  private Block meet(long address, int size) {
    int[] among = calls.of(address);
    if (among != null) {
      return !batch.isFull() && called(among) ? Block.TRACER : Block.FULL;
    }
    int place = landing.placeAt(address);
    if (place >= 0) {
      return !batch.isFull() && exit(place, address) ? Block.TRACER : Block.FULL;
    }
    boolean isProgram = !landing.holds(address);
    // the handler of an interrupt returns to a stop on the landing page
    if ((isProgram || landing.stopsAt(address)) && unwinding.asks(address)) {
      elsewhere = unwinding.meet(address);
      if (contexts.frames() != frames) {
        useCurrentContext();
      }
      watch.top();
      if (elsewhere != address) {
        return Block.ELSEWHERE;
      }
    }
    if (isProgram && !watch.check(address, batch, false)) {
      return Block.FULL;
    }
    Site site = points.hasBlocks() ? points.ofBlock(address, size) : null;
    boolean enters = site != null && (!site.byAddress() || isCalledByAddress(site));
    return enters && (batch.isFull() || !entry(site)) ? Block.FULL : Block.PROGRAM;
  }

  /**
   * True where the function at a block is called from a file whose calls by address count, or in
   * place of an instrumented function that jumped to it.
   */
  private boolean isCalledByAddress(Site site) {
    try {
      if (!slot.find(cards[site.convention()], site)) {
        return false;
      }
    } catch (GuestAccessException noFrameThere) {
      return false;
    }
    long from = addresses.instruction(slot.from());
    return landing.placeAt(from) >= 0
        ? stack.size() > 0 && stack.convention(stack.size() - 1) != site.convention()
        : points.isCaller(from);
  }

  /** False where the batch is full. */
  private boolean called(int[] among) {
    Site site = calls.site(among, operands);
    unhijackable += site == null ? 1 : 0;
    if (site != null && site.passed()) {
      return site.facts().where() != Where.UNREAD || leaveAlone(cards[site.convention()], site);
    }
    return site == null || entry(site);
  }

  private boolean entry(Site site) {
    int flags = points.rules().of(site.selfPc());
    if ((flags & SiteRules.TRIGGER) != 0 && !triggered) {
      triggers.fire(site.selfPc(), clock.now(), this);
      triggered = true;
      if (batch.isFull()) {
        return false; // the probe in C stops here too, so keyframes of both have the same frames
      }
    }
    boolean noticed = (flags & (SiteRules.MUTE | SiteRules.TASK)) != SiteRules.MUTE && !paused;
    boolean done = !noticed || (hasRoom(site, flags) && record(site, flags));
    triggered = triggered && !done;
    placed = placed && !done;
    return done;
  }

  private boolean hasRoom(Site site, int flags) {
    int records = 1 + points.rules().arguments(site.selfPc(), flags).records();
    return !events.isWaiting() && batch.capacity() - batch.size() >= records;
  }

  /** False where the batch is full: it comes again. */
  private boolean record(Site site, int flags) {
    AbiCard card = cards[site.convention()];
    try {
      if (slot.find(card, site)) {
        return enter(card, site, flags);
      }
    } catch (GuestAccessException noFrameThere) {
      // counted like any other place without a slot
    }
    return leaveAlone(card, site);
  }

  /**
   * Nothing shows where the function returns: it is counted. Where entries alone are wanted, it is
   * recorded all the same, from where the card has the return address once more, if it has.
   */
  private boolean leaveAlone(AbiCard card, Site site) {
    if (!graphCaller && !contexts.areAsked()) {
      long from = 0;
      try {
        from = card.parent().isPresent() ? operands.value(card.parent().get()) : 0;
      } catch (GuestAccessException notThere) {
        // then it is not known
      }
      return function(site, 0, from);
    }
    unhijackable++;
    if (leftAlone.size() < LEFT_ALONE) {
      leftAlone.add(site.selfPc());
    }
    return true;
  }

  /** Records an entry, and hijacks the return where the tracer does. */
  private boolean enter(AbiCard card, Site site, int flags) {
    if (!graphCaller && !contexts.areAsked()) {
      return function(site, 0, slot.from());
    }
    long fp = card.fpAtEntry().isPresent() ? operands.value(card.fpAtEntry().get()) : 0;
    boolean isTask = (flags & SiteRules.TASK) != 0;
    if (!placed && (isTask || contexts.isToAsk(slot.retP()))) {
      if (!contexts.place(isTask, site, slot, card, original(slot.from()), fp)) {
        overruns++;
        return true;
      }
      placed = true;
      useCurrentContext();
      if (!hasRoom(site, flags)) {
        return false;
      }
    }
    boolean muted = contexts.isMuted() || (flags & SiteRules.MUTE) != 0;
    if (!graphCaller) {
      return muted || function(site, 0, slot.from());
    }
    frames.lookForTailCall(site, slot, givenUp, landing, addresses);
    if (!inPieces || slot.tailCaller() >= 0) { // else addresses do not say what a longjmp left
      contexts.giveUp(frames.living(card, slot.tailCaller(), slot.retP(), fp, wordMask));
    }
    if (muted || frames.ignores(flags, settings())) {
      return true;
    }
    if (stack.isFull()) {
      overruns++;
      return late.isUnwritten() || function(site, stack.size(), slot.from());
    }
    int index = frames.hijack(site, slot, card, landing, !givenUp.isEmpty());
    frames.setFp(index, fp);
    watch.top();
    if (points.reads(site.selfPc()) != ReturnReads.Kind.NONE) {
      unwinding.enter(site.convention(), site.selfPc(), slot.retP(), slot.address());
    }
    if (frames.hides(index, flags, points.rules())) {
      return true;
    }
    frames.openGraph(settings());
    if (!late.keep(index, clock.now())) {
      frames.showEntry();
      long from = addresses.instruction(slot.from());
      ValueRange arguments = points.rules().arguments(site.selfPc(), flags);
      slot.enter(batch, clock.now(), index, site.selfPc(), from, fp, card, arguments);
    }
    return true;
  }

  /** Records a function without a frame: 0, or where ret_stack is full the frames in it. */
  private boolean function(Site site, int depth, long from) {
    batch.add(RecordBatch.FUNCTION, clock.now(), depth, site.selfPc(), original(from), 0, 0);
    return true;
  }

  /** Where the function that is entered returns to, by what is in its slot. */
  private long original(long from) {
    return addresses.instruction(frames.original(from, landing, addresses));
  }

  /** False where the batch is full: it comes again. */
  private boolean exit(int place, long address) {
    long sp = engine.reg_read(stackPointer);
    long above = sp + slotReach;
    int frame = stack.find(place, above);
    GivenUp.Frame back = null;
    if (revived != null
        || !contexts.holds(sp)
        || !frames.fits(frame, above)
        || isDoubtful(place, frame, above)) {
      back = revived == null ? contexts.exit(place, sp, above, operands) : revived;
      useCurrentContext();
      if (events.isWaiting()) {
        revived = back;
        return false;
      }
      frame = stack.find(place, above);
    }
    if (back != null) { // its call ended for the records when it was taken for dead
      revived = null;
      continueAt(back.fromPc(), place, address);
      return true;
    }
    if (frame < 0 && place >= LandingPage.SLOTS) { // it was forgotten
      continueAt(landing.homes().target(place - LandingPage.SLOTS), place, address);
      return true;
    }
    if (frame < 0) {
      throw new AstrayException(address);
    }
    contexts.giveUp(frame + 1);
    long to = stack.fromPc(frame);
    boolean isShown = false;
    if (!stack.isHidden(frame)) {
      int records = stack.isReturnWanted(frame) ? 2 : 1;
      switch (late.exit(frame, clock.now(), batch, records, addresses.instruction(-1))) {
        case RECORDED -> {
          slot.exit(batch, clock.now(), frame, stack, cards, addresses, result);
          isShown = true;
        }
        case SILENT -> {}
        case FULL -> {
          return false;
        }
      }
    }
    stack.truncate(Math.min(frame, stack.size()));
    if (isShown) {
      stack.showExit(frame);
    }
    watch.top();
    if (contexts.leaveHandler(addresses.instruction(to))) {
      useCurrentContext();
    }
    continueAt(to, place, address);
    return true;
  }

  /** A function may return some bytes further on (SPARC, struct results). */
  private void continueAt(long to, int place, long address) {
    landing.goOnAt(place, (to + (address - landing.address(place))) & wordMask);
  }

  /** True where an open frame may not be what returns, but one that was given up. */
  private boolean isDoubtful(int place, int frame, long above) {
    if (givenUp.isEmpty()) {
      return false;
    }
    long up = points.up(stack.convention(frame), stack.selfPc(frame));
    return up > 0
        ? !operands.isUp(up, stack.retP(frame))
        : givenUp.isBetween(place, stack.retP(frame), above);
  }

  private long lastBlock() {
    return watch.last();
  }

  private long returned() {
    return watch.end();
  }

  @Override
  public void fetchFailed(long address) {
    watch.check(address, batch, true);
  }

  @Override
  public void updateFtraceFunc(SiteRules rules) {
    points.follow(rules);
    triggers = new Triggers(rules);
    paused = !settings().on();
    graphCaller = settings().tracer() == Tracer.FUNCTION_GRAPH;
    contexts.follow(rules);
    watch.top();
  }

  /** In the context that is current now. */
  private void useCurrentContext() {
    frames = contexts.frames();
    stack = frames;
    late = frames.late;
    watch.goOnIn(frames);
  }

  @Override
  public void interruptEnter(long number, long pc) {
    placed = false;
    contexts.interruptEnter(number, pc, engine.reg_read(stackPointer), !paused);
    useCurrentContext();
  }

  @Override
  public void interruptExit(long pc) {
    placed = false;
    contexts.interruptExit(pc, engine.reg_read(stackPointer));
    useCurrentContext();
  }

  @Override
  public void signalEnter(long number, long pc, long sp, long top, long stack, long stackBytes) {
    placed = false;
    contexts.signalEnter(number, pc, sp, top, stack, stackBytes, !paused);
    useCurrentContext();
  }

  @Override
  public void signalExit(long top, long pc) {
    placed = false;
    contexts.signalExit(top, pc, engine.reg_read(stackPointer));
    useCurrentContext();
  }

  @Override
  public void threadSwitched(long id, boolean ended) {
    placed = false;
    contexts.threadSwitched(id, ended, engine.reg_read(stackPointer));
    useCurrentContext();
  }

  @Override
  public Map<Long, Long> innermost() {
    return contexts.innermost();
  }

  private TraceSettings settings() {
    return points.rules().settings();
  }

  @Override
  public void codeChanged() {
    calls.clear();
  }

  @Override
  public boolean isPaused() {
    return paused;
  }

  @Override
  public void pause(boolean value) {
    paused = value;
    contexts.forgetSlots();
    watch.top();
  }

  @Override
  public boolean event(byte kind, long selfPc, long fromPc, long... values) {
    if (paused || contexts.isMuted() || late.isUnwritten() || frames.isHidden()) {
      return false;
    }
    events.add(batch, kind, clock.now(), stack.size(), selfPc, fromPc, values);
    return true;
  }

  @Override
  public void mark(Mark mark, long function, long time, long command) {
    if (!late.isUnwritten()) {
      events.mark(batch, time, function, mark.code(), command);
    }
  }

  @Override
  public void note(RecordBatch change) {
    events.copy(batch, change, late.time(clock.now()));
  }

  @Override
  public boolean isWaiting() {
    return events.isWaiting();
  }

  @Override
  public void recordInto(RecordBuffer buffer) {
    batch = buffer.batch();
    events.moveTo(batch);
  }

  @Override
  public RecordBatch batch() {
    return batch;
  }

  @Override
  public void clear() {
    batch.clear();
    events.moveTo(batch);
    overruns = 0;
    unhijackable = 0;
    leftAlone.clear();
    givenUp.clearAbandoned();
  }

  @Override
  public Keyframe keyframe() {
    return batch().size() > 0 || events.isWaiting() ? null : contexts.keyframe();
  }

  @Override
  public long overruns() {
    return overruns;
  }

  @Override
  public long abandoned() {
    return givenUp.abandoned();
  }

  @Override
  public long unhijackable() {
    return unhijackable;
  }

  @Override
  public long[] leftAlone() {
    return leftAlone.toLongArray();
  }
}
