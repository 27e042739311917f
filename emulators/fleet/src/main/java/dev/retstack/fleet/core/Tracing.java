package dev.retstack.fleet.core;

import dev.retstack.fleet.control.TraceChange;
import dev.retstack.fleet.control.TraceSettings;
import dev.retstack.fleet.linux.SystemCallListener;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.probe.NoProbe;
import dev.retstack.fleet.probe.Pacer;
import dev.retstack.fleet.probe.Probe;
import dev.retstack.fleet.probe.SitePatcher;
import dev.retstack.fleet.probe.SiteRules;
import dev.retstack.fleet.probe.TaskFunctions;
import dev.retstack.fleet.probe.TaskRules;
import dev.retstack.unicorn.Unicorn;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Dynamic ftrace of one core: which of its call sites count, and what becomes of an entry. Changed
 * while the core stands still.
 */
final class Tracing {
  /** Before the first instruction. */
  private static final long NOWHERE = 0;

  private final LoadedImage image;
  private final VirtualTlb tlb;
  private final SitePatcher patcher;
  private final Pacer pacer;
  private final boolean traced;
  private final int recordsPerChunk;
  private final List<LandingPage.Range> ranges;
  private final TaskFunctions tasks;
  private SiteRules rules;

  /** A core that traces what its options say, its block hook not yet added to the engine. */
  Tracing(
      LoadedImage image,
      CoreOptions options,
      Unicorn engine,
      GuestMemory memory,
      LandingPage landing,
      Optional<HostClock> host,
      VirtualTlb tlb) {
    this.image = image;
    Trampolines trampolines = Trampolines.of(memory, image.isa(), image.elf(), landing);
    ranges = new ArrayList<>(landing.ranges());
    if (trampolines.start() != 0) {
      ranges.add(new LandingPage.Range(trampolines.start(), Trampolines.BYTES));
    }
    this.tlb = tlb;
    traced = options.traced();
    recordsPerChunk = options.recordsPerChunk();
    tasks = TaskFunctions.require(image, options.tasks());
    rules = new SiteRules(image, options.trace(), tasks);
    patcher =
        new SitePatcher(image.patchSites(), memory, Pacers.library(options.probe()).isPresent());
    TaskRules running = new TaskRules(tasks, memory);
    pacer =
        Pacers.of(
            image, options, engine, memory, landing, trampolines, patcher, running, host, tlb);
    if (traced) {
      returnAtOnce(memory);
      follow(options.trace(), NOWHERE);
    }
  }

  /** Guest addresses that the tracer keeps for itself. */
  List<LandingPage.Range> ranges() {
    return ranges;
  }

  /** The counting functions do nothing any more: the probe counts. */
  private void returnAtOnce(GuestMemory memory) {
    image
        .conventions()
        .forEach(
            c ->
                c.countingFunctions()
                    .forEach(
                        f ->
                            memory.write(
                                f.address(),
                                c.card()
                                    .entryStub(image.elf().secondInstructionSet(f.address())))));
  }

  /**
   * Records the system calls that the settings ask for.
   *
   * @param pc where the core stands
   */
  SystemCallListener systemCalls(LongSupplier pc) {
    return traced
        ? new SystemCallTrace(() -> rules.events(), pacer.probe(), pc)
        : SystemCallListener.NONE;
  }

  /** The block hook. */
  Pacer pacer() {
    return pacer;
  }

  /** Who is told of interrupts: nobody in a core that is untraced. */
  Probe interrupted() {
    return traced ? pacer.probe() : new NoProbe();
  }

  /**
   * From here on the settings count.
   *
   * @param pc the instruction before which the core stands
   */
  TraceChange follow(TraceSettings settings, long pc) {
    if (!traced) {
      return new TraceChange(
          0, 0, List.of("the core runs untraced: open it with a tracer, if only nop"));
    }
    rules = new SiteRules(image, settings, tasks);
    List<String> refused = new ArrayList<>(rules.refused(recordsPerChunk));
    if (recordsPerChunk < SiteRules.RECORDS_TOGETHER) {
      rules = new SiteRules(image, settings.withArguments(List.of()).withReturns(List.of()), tasks);
    }
    TraceChange[] change = new TraceChange[1];
    tlb.together(() -> change[0] = patcher.follow(rules, pc));
    refused.addAll(change[0].refused());
    pacer.probe().updateFtraceFunc(rules);
    pacer.sitesChanged();
    return new TraceChange(change[0].sitesOn(), change[0].sitesOff(), refused);
  }

  /**
   * Before the core runs on: changes sites that it stood in the middle of.
   *
   * @param pc the instruction before which it stands now
   * @return false where it still does
   */
  boolean goOn(long pc) {
    if (patcher.isWaiting()) {
      tlb.together(() -> patcher.goOn(pc));
    }
    return !patcher.isWaiting();
  }
}
