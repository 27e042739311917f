package dev.retstack.fleet.core;

import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.probe.EntryPoints;
import dev.retstack.fleet.probe.GuestRegions;
import dev.retstack.fleet.probe.JavaProbe;
import dev.retstack.fleet.probe.NativeLibrary;
import dev.retstack.fleet.probe.NativeProbe;
import dev.retstack.fleet.probe.NoProbe;
import dev.retstack.fleet.probe.Pacer;
import dev.retstack.fleet.probe.SitePatcher;
import dev.retstack.fleet.probe.TaskRules;
import dev.retstack.unicorn.Unicorn;
import java.util.Optional;
import java.util.function.Function;

/** Chooses the block hook of a core. */
final class Pacers {
  private Pacers() {}

  /**
   * The block hook of a core, not yet added to its engine.
   *
   * @param trampolines are for the probe in C
   * @param patcher has the calls that the probe in C goes without
   * @param tasks which task runs, where the image tells
   * @param host what the times of records are; empty: virtual time
   * @param tlb of the engine
   * @throws IllegalStateException where the probe in C is wanted and there is none
   */
  static Pacer of(
      LoadedImage image,
      CoreOptions options,
      Unicorn engine,
      GuestMemory memory,
      LandingPage landing,
      Trampolines trampolines,
      SitePatcher patcher,
      TaskRules tasks,
      Optional<HostClock> host,
      VirtualTlb tlb) {
    Optional<NativeLibrary> library = library(options.probe());
    EntryPoints points =
        options.traced() ? EntryPoints.of(image, patcher) : EntryPoints.none(image);
    Function<BlockSplitter.Passage, BlockSplitter> splitter =
        passage ->
            new BlockSplitter(
                engine, image.isa().registers().pc(), points, tlb::codeChanged, passage);
    if (library.isPresent()) {
      return new NativeProbe(
          library.get(),
          engine,
          memory,
          landing,
          trampolines,
          image.isa(),
          points,
          patcher,
          splitter,
          tlb::refill,
          host,
          new GuestRegions(memory, image.elf()),
          tasks,
          options.retStackLimit(),
          options.checkReturns());
    }
    return new BlockClock(
        engine,
        memory,
        landing,
        image.isa(),
        instructions ->
            options.traced()
                ? new JavaProbe(
                    engine,
                    memory,
                    landing,
                    host.<TraceClock>map(clock -> clock).orElse(instructions),
                    image.isa(),
                    points,
                    new GuestRegions(memory, image.elf()),
                    tasks,
                    options.retStackLimit(),
                    options.checkReturns())
                : new NoProbe(),
        splitter,
        tlb::refill);
  }

  /**
   * The probe in C, where it is wanted and there is one.
   *
   * @throws IllegalStateException where it must be and is not
   */
  static Optional<NativeLibrary> library(CoreOptions.ProbeKind wanted) {
    Optional<NativeLibrary> library = NativeLibrary.find();
    if (wanted == CoreOptions.ProbeKind.NATIVE && library.isEmpty()) {
      throw new IllegalStateException(NativeLibrary.whyNot());
    }
    return wanted == CoreOptions.ProbeKind.JAVA ? Optional.empty() : library;
  }
}
