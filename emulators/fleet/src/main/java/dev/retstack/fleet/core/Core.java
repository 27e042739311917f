package dev.retstack.fleet.core;

import dev.retstack.fleet.core.interrupt.InterruptController;
import dev.retstack.fleet.core.interrupt.InterruptException;
import dev.retstack.fleet.core.interrupt.InterruptPlaces;
import dev.retstack.fleet.probe.Arrival;
import dev.retstack.fleet.probe.HostClock;
import dev.retstack.fleet.probe.Pacer;
import dev.retstack.fleet.probe.Probe;
import dev.retstack.fleet.probe.RecordBuffer;
import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.fleet.settings.TraceChange;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.delivery.SignalDelivery;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.isa.system.BringUp;
import dev.retstack.machine.landing.AstrayException;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.landing.SeenHandlers;
import dev.retstack.machine.landing.Trampolines;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.LinuxProcess;
import dev.retstack.machine.linux.call.Cpu;
import dev.retstack.machine.linux.shared.Sysroot;
import dev.retstack.machine.linux.signal.SignalInfo;
import dev.retstack.machine.linux.signal.Signals;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.machine.memory.VirtualTlb;
import dev.retstack.schema.record.EndDetail;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.Mark;
import dev.retstack.unicorn.Hook;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.UcError;
import dev.retstack.unicorn.Unicorn;
import dev.retstack.unicorn.UnicornException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One emulated core that runs one image: {@code open -> run, run, ... -> ended -> close}.
 *
 * <p>Between two runs a core may move to another thread. A fault of the guest ends the core with a
 * sentence, never the process.
 */
public final class Core implements AutoCloseable {
  /** Why {@link #run} came back. */
  public enum Slice {
    /** The instructions are used up. */
    DEADLINE,
    /** The probe's batch is full: take it, then continue. */
    BATCH_FULL,
    /** It is over: see {@link #ending}. */
    ENDED
  }

  /** With that many regions or fewer, a change takes the engine less time than the call does. */
  private static final int REGIONS_FREE = 256;

  /** A change of one mapping has the engine go through all: about 2 µs for each, as this many. */
  private static final long INSTRUCTIONS_PER_REGION = 64;

  private final LoadedImage image;
  private final Isa isa;
  private final Unicorn engine;
  private final GuestMemory memory;
  private final VirtualTlb tlb;
  private final LandingPage landing;
  private final List<LandingPage.Range> tracers;
  private final TraceClock clock;
  private final Tracing tracing;
  private final Pacer pacer;
  private final LinuxProcess process;
  private final ThreadSwitch threads;
  private final SignalDelivery signals;
  private final TaskNames names;
  private final GuestFaults faults;
  private final Optional<InterruptController> interrupts;
  private final int recordsPerChunk;
  private final long instructionLimit;
  private final long firstStackPointer;
  private long pc;

  /** Made when the program is to be interrupted for the first time: most never are. */
  private InterruptPlaces places;

  /** Where the block hook stopped it last; elsewhere it was put. */
  private long stoppedAt;

  private boolean recording;
  private volatile boolean hurried;

  /** True where a system call has the core stop behind it. */
  private boolean stopsBehind;

  /** What the processor could not do, and where; null: nothing. */
  private SignalInfo raised;

  private long raisedAt;

  /** True where the core stopped only to call a handler. */
  private boolean handled;

  /** Its number; -1: none of the processor's. */
  private int exceptionRaised = -1;

  /** Instructions that stand for the time in which the engine changed its mappings. */
  private long mappingWork;

  private CoreEnding pending;
  private CoreEnding ending;

  /** True where the end was returned to the caller. */
  private boolean over;

  private Core(LoadedImage image, CoreOptions options, Unicorn engine) {
    this.image = image;
    this.isa = image.isa();
    this.engine = engine;
    ElfFile elf = image.elf();
    tlb =
        new VirtualTlb(engine, isa, this::instructions, this::forgetBlocks, this::mappingsChanged);
    memory = new GuestMemory(isa.wordBytes(), isa.order(), tlb);
    tlb.serve(memory);
    Optional<Sysroot> sysroot = sysroot(image, options);
    boolean all = isa.syscalls().readImpliesExecute(elf.executableStack());
    ImageLayout.load(elf, memory, all);
    sysroot.ifPresent(root -> ImageLayout.loadInterpreter(elf, root.interpreter(), memory, all));
    StandIns.write(image, memory);
    landing = LandingPage.write(memory, isa, ImageLayout.landingPage(elf));
    options.ram().forEach(ram -> ImageLayout.addRam(ram, elf, landing, memory));
    Optional<HostClock> host =
        options.clock() == CoreOptions.Clock.HOST ? Optional.of(new HostClock()) : Optional.empty();
    Trampolines trampolines = Trampolines.of(memory, isa, elf, landing);
    Machine machine = new Machine(image, engine, memory, tlb, landing, trampolines);
    tracers = machine.tracers();
    tracing = new Tracing(machine, options, host);
    pacer = tracing.pacer();
    clock = host.<TraceClock>map(c -> c).orElseGet(pacer::instructions);
    process =
        new LinuxProcess(
            elf,
            sysroot,
            isa.syscalls(),
            isa.registers(),
            memory,
            new EngineRegisters(engine),
            watched(options.linux()),
            new Threads(mayHaveThreads(options) ? options.schedule() : Schedule.NONE, clock::now));
    threads =
        new ThreadSwitch(
            machine, process, tracing.interrupted(), this::mayBeInterrupted, this::standsInTracer);
    signals = new SignalDelivery(machine, process, tracing.interrupted());
    names = new TaskNames(process.threads(), tracing.interrupted());
    faults = new GuestFaults(elf, tlb, process::place);
    tracers.forEach(range -> process.reserve(range.start(), range.size()));
    landing
        .seen()
        .watch(at -> landing.placeAt(at) >= 0 || trampolines.indexAt(at) >= 0, this::innermost);
    if (image.imports().any()) {
      process.reserve(image.imports().page(), GuestMemory.PAGE);
    }
    process.listen(tracing.mappedObjects());
    process.listen(tracing.systemCalls(() -> engine.reg_read(isa.registers().pc())));
    interrupts =
        InterruptController.of(
            machine,
            options.timers(),
            tracing.interrupted(),
            pacer.instructions(),
            this::mayBeInterrupted,
            this::standsInTracer,
            faults::symbol);
    recordsPerChunk = options.traced() ? options.recordsPerChunk() : 0;
    instructionLimit = options.instructionLimit();
    firstStackPointer = process.start();
    ElfFile first = sysroot.map(Sysroot::interpreter).orElse(elf);
    pc =
        options.entry().isPresent()
            ? elf.jumpTarget(options.entry().getAsLong())
            : first.jumpTarget(first.entry());
    // before the hooks: with a TLB of the host's, segment registers cannot be set from outside
    isa.bringUp()
        .apply(
            engine,
            name ->
                switch (name) {
                  case BringUp.ENTRY -> OptionalLong.of(pc);
                  case BringUp.ENTRY_TOC -> first.entryToc();
                  default -> image.address(name);
                });
    engine.hook_add_tlb_fill(tlb);
    pacer.hook();
    new Traps(
            engine,
            isa,
            memory,
            process,
            faults,
            pacer,
            this::stopWith,
            this::stopBehind,
            this::stopFor)
        .hook();
    engine.reg_write(isa.registers().sp(), firstStackPointer);
    if (!isa.pushesReturnAddress() && !isa.syscalls().linkIsExitHandler()) {
      engine.reg_write(isa.registers().link(), landing.stopAddress() - isa.addresses().linkBias());
    }
  }

  /**
   * Opens a core, ready at the first instruction of its image.
   *
   * @throws UnicornException where the engine refuses
   * @throws IllegalArgumentException where options and image do not go together
   */
  public static Core open(LoadedImage image, CoreOptions options) {
    Isa.Engine how = image.isa().engine();
    Unicorn engine = Unicorn.open(how.arch(), how.mode());
    try {
      how.cpuModel().ifPresent(engine::ctl_set_cpu_model);
      engine.ctl_set_tcg_buffer_size(TranslationBuffer.bytesFor(image.elf()));
      engine.ctl_tlb_mode(UcConst.UC_TLB_VIRTUAL);
      return new Core(image, options, engine);
    } catch (Throwable t) {
      engine.close();
      throw t;
    }
  }

  private LinuxOptions watched(LinuxOptions linux) {
    SeenHandlers seen = landing.seen();
    return linux.withStreams(
        linux.stdin(), seen.watched(linux.stdout()), seen.watched(linux.stderr()));
  }

  /** The function of the innermost open call; empty where there are several tasks, or none. */
  private String innermost() {
    Collection<Long> calls = probe().innermost().values();
    return calls.size() == 1
        ? image.elf().functionAt(calls.iterator().next()).map(Symbol::name).orElse("")
        : "";
  }

  private static Optional<Sysroot> sysroot(LoadedImage image, CoreOptions options) {
    if (image.elf().interpreter().isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(Sysroot.of(image.elf(), image.isa(), options.linux().sysroot()));
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  /** Interrupts and threads would both switch stacks; and a thread must stop behind its call. */
  private boolean mayHaveThreads(CoreOptions options) {
    return options.timers().isEmpty() && !isa.engine().stopsAtJumps();
  }

  private void stopBehind() {
    stopsBehind = true;
    pacer.arm(instructions(), Pacer.Deadline.ROUGH);
  }

  /** An exception of the processor, whose handler is to run. */
  private boolean stopFor(int exception, SignalInfo info, long pcOf) {
    if (!mayHandle(info.signal())) {
      return false;
    }
    raised = info;
    exceptionRaised = exception;
    raisedAt = pcOf;
    engine.emu_stop();
    return true;
  }

  private boolean mayHandle(int signal) {
    Signals all = process.signals();
    boolean blocked = (all.current().mask & 1L << (signal - 1)) != 0;
    return process.runsHandlers() && all.action(signal).hasHandler() && !blocked;
  }

  private void stopWith(CoreEnding how) {
    pending = how;
    engine.emu_stop();
  }

  /**
   * Runs up to this number of instructions, to the end of the block.
   *
   * @throws IllegalStateException when an earlier call returned that the core has ended
   */
  public Slice run(long instructionCount) {
    if (over) {
      requireAlive();
    }
    Slice slice = Slice.ENDED;
    try {
      slice = ending == null && !probe().isWaiting() ? runOn(instructionCount) : slice;
    } catch (InterruptException e) {
      end(CoreEnding.faulted(e.getMessage()));
    }
    if (probe().isWaiting()) {
      return Slice.BATCH_FULL;
    }
    over = ending != null;
    return slice;
  }

  /** A site that the core stands in the middle of changes as soon as the core has left it. */
  private Slice runOn(long instructionCount) {
    requireBuffer();
    long start = instructions();
    while (!hurried && !tracing.changeSites(isa.addresses().instruction(pc))) {
      Slice step = advance(1);
      if (step != Slice.DEADLINE) {
        return step;
      }
    }
    long left = instructionCount - (instructions() - start);
    if (left <= 0 || interrupts.isPresent()) {
      return interrupted(left);
    }
    long end = start + instructionCount;
    Slice step;
    do {
      handled = false;
      step = process.isBusy() ? Slice.DEADLINE : advance(end - instructions());
      step = step == Slice.DEADLINE && process.isBusy() ? inTurns(end) : step;
    } while (handled && mayGoOn(step, end));
    return step;
  }

  private boolean mayGoOn(Slice step, long end) {
    boolean isStopped = hurried || probe().isWaiting();
    return step == Slice.DEADLINE && instructions() < end && !isStopped;
  }

  /** Runs from one place to the next where another thread may run. */
  private Slice inTurns(long end) {
    Slice step = Slice.DEADLINE;
    while (mayGoOn(step, end)) {
      long before = instructions();
      if (!turn(before)) {
        return Slice.ENDED;
      }
      if (probe().isWaiting()) {
        return step;
      }
      long from = pc;
      long wait = turnLength(before);
      step = advance(Math.min(end - before, wait));
      if (step == Slice.DEADLINE && !stopsBehind && instructions() == before && pc == from) {
        // before a call that was switched off, which an exact deadline does not pass
        return wait < end - before ? advance(1) : step;
      }
    }
    return step;
  }

  /** Signals that are due, and whose turn it is; false where the program ended. */
  private boolean turn(long now) {
    OptionalLong next = signals.giveBack(pc, now);
    boolean isBehind = stopsBehind;
    stopsBehind = false;
    if (next.isPresent()) {
      pc = next.getAsLong();
      GuestThread thread = process.threads().current();
      signals.expire(now);
      next = threads.nextPc(pc, now);
      if (next.isEmpty()) {
        end(Traps.ending(process.deadlock(deadlock())));
        return false;
      }
      pc = next.getAsLong();
      boolean may = isBehind || thread != process.threads().current();
      boolean isDue = signals.isDue() && mayBeInterrupted(pc);
      if (may || isDue) {
        next = signals.deliver(pc, now);
      }
    }
    if (next.isEmpty() || process.end().isPresent()) {
      end(Traps.ending(process.end().orElseThrow()));
      return false;
    }
    pc = next.getAsLong();
    return true;
  }

  /** Instructions until the next {@link #turn}; 0: none, but it stands in the tracer's code. */
  private long turnLength(long now) {
    boolean stuck = signals.isDue() && standsInTracer(pc);
    return stuck ? 0 : Math.min(threads.ask(pc, now), signals.ask());
  }

  private String deadlock() {
    return Deadlock.describe(
        process.threads(), probe(), faults::symbol, faults::data, t -> threads.pc(t, pc));
  }

  /** Runs from one place to the next where the program may be interrupted. */
  private Slice interrupted(long instructionCount) {
    long end = instructions() + instructionCount;
    Slice step = Slice.DEADLINE;
    while (step == Slice.DEADLINE && instructions() < end && !hurried) {
      long before = instructions();
      pc = interrupts.orElseThrow().interrupt(pc);
      if (probe().isWaiting()) {
        return step;
      }
      long from = pc;
      long wait = interrupts.get().ask(pc);
      step = advance(Math.min(end - before, wait));
      if (step == Slice.DEADLINE && instructions() == before && pc == from) {
        // before a call that was switched off, which an exact deadline does not pass
        return wait < end - before ? advance(1) : step;
      }
    }
    return step;
  }

  private Slice advance(long instructionCount) {
    boolean last = instructionCount >= instructionLimit - instructions();
    stopsBehind = false;
    Pacer.Deadline exactly = instructionCount > 1 ? Pacer.Deadline.EXACT : Pacer.Deadline.ROUGH;
    pacer.arm(
        last ? instructionLimit : instructions() + instructionCount,
        last ? Pacer.Deadline.END : exactly);
    if (hurried) {
      pacer.hurry();
    }
    UnicornException error;
    try {
      do {
        error = start();
        while (error != null && tlb.startAgain()) {
          pacer.resume();
          pc = isa.addresses().target(pc, engine::reg_read);
          error = start();
        }
      } while (error == null && pending == null && serveStop());
    } catch (AstrayException e) {
      return end(CoreEnding.faulted(e.getMessage()));
    }
    if (raised != null && pending == null) {
      return handle();
    }
    if (error != null && pending == null && process.signals().mustStop() && stopsBehind) {
      return behind();
    }
    if (error != null) {
      return pending != null ? end(pending) : failed(error);
    }
    tlb.endOfSlice();
    if (pending != null) {
      return end(pending);
    }
    pc = isa.addresses().target(pacer.stopAddress(), engine::reg_read);
    stoppedAt = pc;
    return switch (pacer.stop()) {
      case DEADLINE ->
          last && !hurried && !stopsBehind ? end(CoreEnding.stopped(limit())) : Slice.DEADLINE;
      case BATCH_FULL -> Slice.BATCH_FULL;
      case OUTERMOST_RETURN -> outermostReturn();
      case IDLE_LOOP -> idleLoop();
      case ASTRAY -> end(CoreEnding.faulted(new AstrayException(pc).getMessage()));
      case NONE ->
          end(
              CoreEnding.halted(
                  0,
                  EndDetail.waiting(
                      faults.symbol(engine.reg_read(isa.registers().pc())),
                      interrupts.isPresent())));
    };
  }

  /** The end of a program, unless another thread, a signal or a timer may come. */
  private Slice idleLoop() {
    if (!process.isBusy()) {
      return end(CoreEnding.halted(0, "idle loop at " + faults.symbol(pc)));
    }
    landing.waitInIdleLoops();
    pacer.codeChanged();
    return Slice.DEADLINE;
  }

  private Slice outermostReturn() {
    if (interrupts.isEmpty() || !interrupts.get().isGate(pc)) {
      return end(CoreEnding.returned(engine.reg_read(isa.registers().result())));
    }
    pc = interrupts.get().answer(pc);
    return Slice.DEADLINE;
  }

  /** Runs on from {@link #pc}; where the engine fails, that is where it stands then. */
  private UnicornException start() {
    try {
      engine.emu_start(pc, landing.unreached());
      return null;
    } catch (UnicornException e) {
      pc = engine.reg_read(isa.registers().pc());
      return e;
    }
  }

  /** True where the block hook stopped the engine for its own needs. */
  private boolean serveStop() {
    if (!pacer.serveStop()) {
      return false;
    }
    pc = isa.addresses().target(pacer.stopAddress(), engine::reg_read);
    return true;
  }

  /** True for addresses of the tracer's code, which takes no virtual time. */
  public boolean isTracers(long address) {
    return tracers.stream().anyMatch(range -> range.overlaps(address, 1));
  }

  /** How often the engine asked for a page that it did not know. */
  long pageLookUps() {
    return tlb.fills();
  }

  private boolean standsInTracer(long at) {
    return isTracers(isa.addresses().instruction(at));
  }

  private boolean mayBeInterrupted(long at) {
    Arrival came = at == stoppedAt ? pacer.arrival() : Arrival.PUT;
    came = isTracers(came.start()) ? Arrival.TRACER : came;
    return !standsInTracer(at) && places().allows(isa.addresses().instruction(at), came);
  }

  private InterruptPlaces places() {
    places = places == null ? new InterruptPlaces(image) : places;
    return places;
  }

  private Slice end(CoreEnding how) {
    ending = how;
    return Slice.ENDED;
  }

  /** There is no code behind the system call that returns from a handler: nobody goes there. */
  private Slice behind() {
    tlb.forgetRefused();
    return Slice.DEADLINE;
  }

  /** Calls the handler of what was raised. */
  private Slice handle() {
    SignalInfo info = raised;
    raised = null;
    signals.forget(exceptionRaised);
    exceptionRaised = -1;
    String before = memory.instructionHex(raisedAt - Integer.BYTES);
    long from = isa.syscalls().signals().branchOf(raisedAt, before);
    if (from < raisedAt) {
      leaveDelaySlot();
    }
    OptionalLong next = signals.fault(info, from, instructions());
    if (next.isEmpty()) {
      return end(Traps.ending(process.end().orElseThrow()));
    }
    pc = next.getAsLong();
    handled = true;
    return Slice.DEADLINE;
  }

  /** An instruction failed: its handler runs, or the core ends. */
  private Slice failed(UnicornException error) {
    boolean isAccess = GuestFaults.isOfAccess(error);
    boolean isIllegal = error.error() == UcError.INSN_INVALID;
    long at = isa.addresses().instruction(pc);
    SignalAbi abi = isa.syscalls().signals();
    String code = isIllegal ? memory.instructionHex(at) : "";
    SignalAbi.Fault illegal = abi.illegal(code);
    int signal = isIllegal ? illegal.signal() : SignalAbi.SIGSEGV;
    if (!mayHandle(signal)) {
      return end(fault(error));
    }
    SignalInfo.Layout layout = process.signals().layout();
    if (isIllegal) {
      raised = layout.fault(signal, illegal.code(), at);
    } else if (isAccess) {
      repeat();
      raised = layout.fault(signal, SignalAbi.SEGV_MAPERR, faults.address() & -abi.faultBytes());
    } else if (tlb.refusedAccess() == UcConst.UC_MEM_FETCH) {
      boolean mapped = memory.isMapped(at, 1);
      int why = mapped ? SignalAbi.SEGV_ACCERR : SignalAbi.SEGV_MAPERR;
      raised = layout.fault(signal, why, at & -abi.faultBytes());
    } else if (tlb.refusedAccess() >= 0) {
      int why = isUnmapped() ? SignalAbi.SEGV_MAPERR : SignalAbi.SEGV_ACCERR;
      raised = layout.fault(signal, why, refusedAddress() & -abi.faultBytes());
    } else {
      return end(fault(error));
    }
    faults.forget();
    tlb.forgetRefused();
    raisedAt = abi.place(at, code);
    return handle();
  }

  /**
   * The engine still has to take the branch whose delay slot failed, and would do so behind the
   * first instruction of the handler: it does behind one that does nothing. What follows the code
   * of the page for handlers is zeros.
   */
  private void leaveDelaySlot() {
    pc = process.trampoline() + isa.syscalls().signals().trampoline().size();
    pacer.arm(pacer.instructions().now(), Pacer.Deadline.ROUGH);
    pacer.resume();
    start();
  }

  /** True where the refused address is not mapped, though the engine has memory there. */
  private boolean isUnmapped() {
    return memory.isReserved(tlb.refusedAddress()) && !memory.isMapped(tlb.refusedAddress(), 1);
  }

  /** The engine reports the page only: the access fails once more, at an address without memory. */
  private long refusedAddress() {
    long page = GuestMemory.pageDown(tlb.refusedAddress());
    long nowhere = memory.findFree(GuestMemory.PAGE, GuestMemory.PAGE, 1L << 31);
    tlb.missing(page, nowhere);
    repeat();
    tlb.missing(-1, 0);
    long offset = faults.address() - nowhere;
    return offset >= 0 && offset < GuestMemory.PAGE ? page + offset : page;
  }

  private CoreEnding fault(UnicornException error) {
    // where calls push it, a program that returns from its entry point takes argc for an address
    if (isa.pushesReturnAddress()
        && pc == memory.readWord(firstStackPointer)
        && engine.reg_read(isa.registers().sp()) == firstStackPointer + isa.wordBytes()) {
      return CoreEnding.returned(engine.reg_read(isa.registers().result()));
    }
    long at = pc;
    probe().fetchFailed(isa.addresses().instruction(at));
    if (GuestFaults.isOfAccess(error)) {
      repeat();
    } else if (tlb.refusedAccess() >= 0
        && tlb.refusedAccess() != UcConst.UC_MEM_FETCH
        && isUnmapped()) {
      faults.unmapped(tlb.refusedAccess(), refusedAddress());
    }
    return CoreEnding.faulted(faults.describe(error, at));
  }

  /**
   * Lets the instruction that failed fail again, under a hook that receives the address. Not
   * before: with any hook on memory every store takes a slow path, 8 times slower.
   */
  private void repeat() {
    Hook hook = engine.hook_add_mem(UcConst.UC_HOOK_MEM_INVALID, faults::onInvalidAccess, 1, 0);
    // where it does not fail, not beyond its block
    pacer.arm(pacer.instructions().now(), Pacer.Deadline.ROUGH);
    pacer.resume();
    pc = isa.addresses().target(pc, engine::reg_read);
    start();
    engine.hook_del(hook);
  }

  /**
   * Has each run end at its next block, wherever that is: the core is to be stopped. From any
   * thread, while it is not closed.
   */
  public void hurry() {
    hurried = true;
    pacer.hurry();
  }

  /** Ends a core from outside, between two runs; one that has ended stays as it is. */
  public void stop(String why) {
    if (ending == null) {
      end(CoreEnding.stopped(why));
      over = true;
    }
  }

  /** How it ended; empty while it can run. */
  public Optional<CoreEnding> ending() {
    return Optional.ofNullable(ending);
  }

  /**
   * Between two runs: from here on the settings count. Frames that are hijacked already exit as
   * ever, so that every call that was recorded ends. Virtual time does not depend on it.
   *
   * @return what became of the call sites
   * @throws IllegalStateException when the core has ended
   */
  public TraceChange trace(TraceSettings settings) {
    requireAlive();
    return tracing.follow(settings, isa.addresses().instruction(pc));
  }

  /** Between two runs: records that a command was followed, by its number. */
  public void noteCommand(long command) {
    requireAlive();
    requireBuffer();
    probe().mark(Mark.SETTINGS, 0, clock.now(), command);
  }

  private void requireAlive() {
    if (ending != null) {
      throw new IllegalStateException("core has ended: " + ending.detail());
    }
  }

  /** Where records come from. */
  public Probe probe() {
    return pacer.probe();
  }

  private void requireBuffer() {
    if (!recording) {
      recordInto(new RecordBuffer(recordsPerChunk));
    }
    tracing.mapped().recordTo(probe());
  }

  /**
   * What is open where the batch begins, what is mapped, and how tasks are called; see {@link
   * Probe#keyframe}.
   */
  public Keyframe keyframe() {
    return names.with(tracing.mapped().with(probe().keyframe()));
  }

  /** Shared objects in its memory. */
  public MappedImages mapped() {
    return tracing.mapped();
  }

  /**
   * Between two runs: where it records to from now on. A core without a buffer makes its own. What
   * it has recorded must have been taken.
   */
  public void recordInto(RecordBuffer buffer) {
    recording = true;
    pacer.probe().recordInto(buffer);
  }

  /** What the times of records are. */
  public TraceClock clock() {
    return clock;
  }

  /** Guest instructions executed. */
  public long instructions() {
    return pacer.instructions().now();
  }

  /** The program's system calls and what it asked for in vain. */
  public LinuxProcess process() {
    return process;
  }

  /**
   * What the program asked for in vain, what of the tracer it saw, and what it ran that is in no
   * file; a line each.
   *
   * @param failed true where its run failed
   */
  public List<String> lacks(boolean failed) {
    List<String> lines = new ArrayList<>(process.lacks(failed));
    lines.addAll(landing.seen().lines());
    lines.addAll(tracing.limits());
    return lines;
  }

  /** The engine, for measurements that add hooks; hook before the first run. */
  public Unicorn engine() {
    return engine;
  }

  private void mappingsChanged() {
    if (pacer == null) { // while the image is loaded
      return;
    }
    pacer.mappingsChanged();
    long beyond = (long) memory.engineRegions() - REGIONS_FREE;
    if (beyond > 0) {
      mappingWork += beyond * INSTRUCTIONS_PER_REGION;
      if (pending == null && mappingWork >= instructionLimit - instructions()) {
        stopWith(
            CoreEnding.stopped(
                "%s, %d of which stand for changes of %d regions of memory"
                    .formatted(limit(), mappingWork, memory.engineRegions())));
      }
    }
  }

  private String limit() {
    return "limit of %d instructions".formatted(instructionLimit);
  }

  private void forgetBlocks() {
    if (pacer != null) { // not while the image is loaded
      pacer.codeChanged();
    }
  }

  /** Closes the engine and gives the memory back. Not inside a hook. */
  @Override
  public void close() {
    engine.close();
    pacer.close();
    memory.close();
    process.close();
  }

  /** The registers of the engine, for the emulated Linux. */
  private record EngineRegisters(Unicorn engine) implements Cpu {
    @Override
    public long read(int register) {
      return engine.reg_read(register);
    }

    @Override
    public void write(int register, long value) {
      engine.reg_write(register, value);
    }
  }
}
