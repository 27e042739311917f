package dev.retstack.fleet.core;

import dev.retstack.fleet.probe.HostClock;
import dev.retstack.fleet.probe.Pacer;
import dev.retstack.fleet.probe.Probe;
import dev.retstack.fleet.probe.ProbePlan;
import dev.retstack.fleet.probe.TraceClock;
import dev.retstack.fleet.probe.java.BlockClock;
import dev.retstack.fleet.probe.java.JavaProbe;
import dev.retstack.fleet.probe.java.NoProbe;
import dev.retstack.fleet.probe.nativec.NativeLibrary;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.site.EventRules;
import dev.retstack.fleet.probe.site.SharedCode;
import dev.retstack.fleet.probe.site.SitePatcher;
import dev.retstack.fleet.probe.site.SiteRules;
import dev.retstack.fleet.probe.task.GuestRegions;
import dev.retstack.fleet.probe.task.TaskFunctions;
import dev.retstack.fleet.probe.task.TaskRules;
import dev.retstack.fleet.settings.TraceChange;
import dev.retstack.fleet.settings.TraceEvent;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.linux.call.SystemCallListener;
import dev.retstack.machine.linux.shared.MappedObjects;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.machine.memory.VirtualTlb;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Dynamic ftrace of one core: which of its call sites are traced, and what an entry does. It
 * changes only while the core stands still.
 */
final class Tracing {
  /** PROT_READ. */
  private static final int READ = 1;

  /** Before the first instruction. */
  private static final long NOWHERE = 0;

  private final LoadedImage image;
  private final VirtualTlb tlb;
  private final SitePatcher patcher;
  private final GuestMemory memory;
  private final SharedCode code;
  private final EntryPoints points;
  private final GuestRegions regions;
  private final Pacer pacer;
  private final boolean traced;
  private final int recordsPerChunk;
  private final TaskFunctions tasks;
  private final MappedImages mapped;
  private SiteRules rules;

  /** A core that traces what its options say, its block hook not yet added to the engine. */
  Tracing(Machine machine, CoreOptions options, Optional<HostClock> host) {
    image = machine.image();
    tlb = machine.tlb();
    traced = options.traced();
    mapped = new MappedImages(options.libraryCalls());
    recordsPerChunk = options.recordsPerChunk();
    tasks = TaskFunctions.require(image, options.tasks());
    memory = machine.memory();
    code = new SharedCode(image, libraryCalls(options));
    rules = new SiteRules(code, options.trace(), tasks);
    Optional<NativeLibrary> library = library(options.probe());
    patcher = new SitePatcher(image.patchSites(), machine.memory(), library.isPresent());
    points = traced ? EntryPoints.of(code, patcher, ram(options)) : EntryPoints.none(image);
    regions = new GuestRegions(machine.memory(), image.elf());
    ProbePlan plan =
        new ProbePlan(
            points,
            patcher,
            regions,
            new TaskRules(tasks, machine.memory()),
            host,
            options.retStackLimit(),
            options.checkReturns());
    pacer = library.map(found -> found.probe(machine, plan)).orElseGet(() -> inJava(machine, plan));
    if (traced) {
      returnAtOnce();
      follow(options.trace(), NOWHERE);
    }
  }

  /**
   * True where calls of functions in other files are traced.
   *
   * @throws IllegalArgumentException where the image has none
   */
  private boolean libraryCalls(CoreOptions options) {
    try {
      return options.libraryCalls() && image.requireLibraryCalls() != null;
    } catch (ElfFormatException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static List<LandingPage.Range> ram(CoreOptions options) {
    return options.ram().stream().map(r -> new LandingPage.Range(r.base(), r.size())).toList();
  }

  /** What could not be traced right, a line each: code in no file, kinds of stacks. */
  List<String> limits() {
    List<String> lines = new ArrayList<>(points.stray().lines());
    regions.limit().ifPresent(lines::add);
    return lines;
  }

  /**
   * The probe in C, if it is wanted and there is one.
   *
   * @throws IllegalStateException if it must be and is not
   */
  private static Optional<NativeLibrary> library(CoreOptions.ProbeKind wanted) {
    Optional<NativeLibrary> library = NativeLibrary.find();
    if (wanted == CoreOptions.ProbeKind.NATIVE && library.isEmpty()) {
      throw new IllegalStateException(NativeLibrary.whyNot());
    }
    return wanted == CoreOptions.ProbeKind.JAVA ? Optional.empty() : library;
  }

  private BlockClock inJava(Machine machine, ProbePlan plan) {
    return new BlockClock(
        machine,
        plan.points(),
        instructions ->
            traced
                ? new JavaProbe(
                    machine, plan, plan.host().<TraceClock>map(c -> c).orElse(instructions))
                : new NoProbe());
  }

  /** The counting functions do nothing any more: the probe counts. */
  private void returnAtOnce() {
    image
        .conventions()
        .forEach(
            c ->
                c.countingFunctions()
                    .forEach(f -> returnAtOnce(image, f.address(), f.address(), c.card())));
  }

  /**
   * Not where a function ends behind the memory that there is, or is shorter than what it would be
   * overwritten with: it does as little.
   */
  private void returnAtOnce(LoadedImage of, long inFile, long address, AbiCard card) {
    byte[] stub = entryStub(of, card, inFile);
    if (memory.isMapped(address, stub.length) && stub.length <= of.elf().bytesToNext(inFile)) {
      memory.write(address, stub);
    }
  }

  private static byte[] entryStub(LoadedImage of, AbiCard card, long function) {
    byte[] stub = card.entryStub(of.elf().secondInstructionSet(function));
    return of.imports().entryStub(function, stub);
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

  /** Learns of functions in shared objects that leave the frames of their callers. */
  MappedObjects mappedObjects() {
    return new MappedObjects() {
      // Those with names in records.
      private List<SharedCode.Part> words = List.of();

      @Override
      public void mapped(Mapped object) {
        StandIns.write(image, object.image(), object.bias(), memory);
        long end = object.base() + object.length();
        points
            .learn(new SharedCode.Part(object.image(), object.bias(), object.base(), end))
            .forEach(
                (f, card) ->
                    returnAtOnce(object.image(), f.address() - object.bias(), f.address(), card));
        changed();
        if (traced) {
          mapped.mapped(object);
          nameWords();
        }
      }

      @Override
      public void unmapped(long base, long length) {
        points.forget(base, length);
        changed();
        if (traced) {
          mapped.unmapped(base, length);
          nameWords();
        }
      }

      // Words of shared objects stand for the functions that are called by them.
      private void nameWords() {
        List<SharedCode.Part> now = code.words();
        for (SharedCode.Part part : words) {
          if (!now.contains(part)) {
            mapped.unmapped(part.start(), part.end() - part.start());
          }
        }
        for (SharedCode.Part part : now) {
          if (!words.contains(part)) {
            long bytes = part.end() - part.start();
            mapped.mapped(new Mapped(part.image(), part.bias(), part.start(), 0, bytes, READ));
          }
        }
        words = now;
      }

      private void changed() {
        rules.codeChanged();
        pacer.codeChanged();
      }
    };
  }

  /** Shared objects in the memory of the core. */
  MappedImages mapped() {
    return mapped;
  }

  /** The block hook. */
  Pacer pacer() {
    return pacer;
  }

  /** The probe that records interrupts; one that records nothing in a core that is untraced. */
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
    rules = new SiteRules(code, settings, tasks);
    List<String> refused = new ArrayList<>(rules.refused(recordsPerChunk));
    if (recordsPerChunk < SiteRules.RECORDS_TOGETHER) {
      rules = new SiteRules(code, settings.withArguments(List.of()).withReturns(List.of()), tasks);
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
  boolean changeSites(long pc) {
    if (patcher.isWaiting()) {
      tlb.together(() -> patcher.changeWaiting(pc));
    }
    return !patcher.isWaiting();
  }

  /** Records the system calls that the settings ask for. */
  private static final class SystemCallTrace implements SystemCallListener {
    private final Supplier<EventRules> rules;
    private final Probe probe;
    private final LongSupplier pc;
    private boolean recorded;

    /**
     * Records into a probe.
     *
     * @param pc where the core stands
     */
    SystemCallTrace(Supplier<EventRules> rules, Probe probe, LongSupplier pc) {
      this.rules = rules;
      this.probe = probe;
      this.pc = pc;
    }

    @Override
    public void entered(long number, String name, long[] arguments) {
      recorded =
          rules.get().records(TraceEvent.SYSCALLS, name)
              && probe.event(RecordBatch.SYS_ENTER, number, pc.getAsLong(), arguments);
    }

    @Override
    public void left(long number, long result) {
      if (recorded) {
        probe.event(RecordBatch.SYS_EXIT, number, result);
      }
    }
  }
}
