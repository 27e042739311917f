package dev.retstack.fleet.core;

import dev.retstack.fleet.core.interrupt.InterruptController;
import dev.retstack.fleet.core.interrupt.InterruptException;
import dev.retstack.fleet.isa.BringUp;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.landing.AstrayException;
import dev.retstack.fleet.landing.LandingPage;
import dev.retstack.fleet.landing.Machine;
import dev.retstack.fleet.landing.Trampolines;
import dev.retstack.fleet.linux.LinuxProcess;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.loader.elf.ElfFile;
import dev.retstack.fleet.memory.GuestMemory;
import dev.retstack.fleet.memory.VirtualTlb;
import dev.retstack.fleet.probe.HostClock;
import dev.retstack.fleet.probe.Pacer;
import dev.retstack.fleet.probe.Probe;
import dev.retstack.fleet.probe.RecordBuffer;
import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.fleet.settings.TraceChange;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.schema.record.EndDetail;
import dev.retstack.schema.record.Mark;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.Unicorn;
import dev.retstack.unicorn.UnicornException;
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
    /** The probe's batch is full: take it, then go on. */
    BATCH_FULL,
    /** It is over: see {@link #ending}. */
    ENDED
  }

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
  private final GuestFaults faults;
  private final Optional<InterruptController> interrupts;
  private final int recordsPerChunk;
  private final long instructionLimit;
  private final long firstStackPointer;
  private long pc;
  private boolean recording;
  private volatile boolean hurried;
  private CoreEnding pending;
  private CoreEnding ending;

  /** True where the end was told. */
  private boolean over;

  private Core(LoadedImage image, CoreOptions options, Unicorn engine) {
    this.isa = image.isa();
    this.engine = engine;
    ElfFile elf = image.elf();
    tlb = new VirtualTlb(engine, isa, this::instructions, this::forgetBlocks, this::forgetMappings);
    memory = new GuestMemory(isa.wordBytes(), isa.order(), tlb);
    tlb.serve(memory);
    ImageLayout.load(elf, memory, isa.syscalls().readImpliesExecute(elf.executableStack()));
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
    faults = new GuestFaults(elf, tlb);
    process =
        new LinuxProcess(
            elf,
            isa.syscalls(),
            isa.registers(),
            memory,
            new EngineRegisters(engine),
            options.linux(),
            clock::now);
    tracers.forEach(range -> process.reserve(range.start(), range.size()));
    process.listen(tracing.systemCalls(() -> engine.reg_read(isa.registers().pc())));
    interrupts =
        InterruptController.of(
            machine, options.timers(), tracing.interrupted(), pacer.instructions(), faults::symbol);
    recordsPerChunk = options.traced() ? options.recordsPerChunk() : 0;
    instructionLimit = options.instructionLimit();
    firstStackPointer = process.start();
    pc = elf.jumpTarget(options.entry().orElse(elf.entry()));
    // before the hooks: with a TLB of the host's, segment registers cannot be set from outside
    isa.bringUp()
        .apply(
            engine, name -> name.equals(BringUp.ENTRY) ? OptionalLong.of(pc) : image.address(name));
    engine.hook_add_tlb_fill(tlb);
    pacer.hook();
    new Traps(engine, isa, process, faults, this::stopWith).hook();
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

  private void stopWith(CoreEnding how) {
    pending = how;
    engine.emu_stop();
  }

  /**
   * Runs up to so many instructions, to the end of the block.
   *
   * @throws IllegalStateException when it was told that the core has ended
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
    while (!hurried && !tracing.goOn(isa.addresses().instruction(pc))) {
      Slice step = advance(1);
      if (step != Slice.DEADLINE) {
        return step;
      }
    }
    long left = instructionCount - (instructions() - start);
    return left <= 0 || interrupts.isPresent() ? interrupted(left) : advance(left);
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
      } while (error == null && pending == null && goOn());
    } catch (AstrayException e) {
      return end(CoreEnding.faulted(e.getMessage()));
    }
    if (error != null) {
      return end(pending != null ? pending : failed(error));
    }
    tlb.endOfSlice();
    if (pending != null) {
      return end(pending);
    }
    pc = isa.addresses().target(pacer.stopAddress(), engine::reg_read);
    return switch (pacer.stop()) {
      case DEADLINE ->
          last && !hurried
              ? end(CoreEnding.stopped("limit of %d instructions".formatted(instructionLimit)))
              : Slice.DEADLINE;
      case BATCH_FULL -> Slice.BATCH_FULL;
      case OUTERMOST_RETURN -> outermostReturn();
      case IDLE_LOOP -> end(CoreEnding.halted(0, "idle loop at " + faults.symbol(pc)));
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

  /** True where the block hook stopped the engine for needs of its own. */
  private boolean goOn() {
    if (!pacer.goOn()) {
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

  private Slice end(CoreEnding how) {
    ending = how;
    return Slice.ENDED;
  }

  private CoreEnding failed(UnicornException error) {
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
    }
    return CoreEnding.faulted(faults.describe(error, at));
  }

  /**
   * Lets the instruction that failed fail again, under a hook that is told the address. Not before:
   * with any hook on memory every store takes a slow path, 8 times slower.
   */
  private void repeat() {
    engine.hook_add_mem(UcConst.UC_HOOK_MEM_INVALID, faults::onInvalidAccess, 1, 0);
    // where it does not fail, not beyond its block
    pacer.arm(pacer.instructions().now(), Pacer.Deadline.ROUGH);
    pacer.resume();
    pc = isa.addresses().target(pc, engine::reg_read);
    start();
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
  }

  /**
   * Between two runs: where it records to from now on. A core that was not told makes a buffer of
   * its own. What it has recorded must have been taken.
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

  /** The engine, for measurements that need hooks of their own; hook before the first run. */
  public Unicorn engine() {
    return engine;
  }

  private void forgetMappings() {
    if (pacer != null) {
      pacer.mappingsChanged();
    }
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
}
