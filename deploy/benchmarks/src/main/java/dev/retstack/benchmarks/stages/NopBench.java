package dev.retstack.benchmarks.stages;

import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.PatchSite;
import it.unimi.dsi.fastutil.bytes.ByteList;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What is left of tracing while it is off: a core whose sites are all nops, against the same
 * program compiled without -pg, and against the same image that was never to be traced, its sites
 * nops as well. Least CPU time of the rounds, all in the same rounds and with the virtual clock;
 * and how many instructions more it executes than without -pg, which the compiler's -pg and the
 * nops add.
 */
public final class NopBench {
  private static final String STAGE = "nops";

  /** Parts of an image's name that stand for flags which do more than instrument. */
  private static final List<String> TOLD_APART =
      List.of("pic", "got", "ibt", "thumb", "nofp", "far");

  private NopBench() {}

  /**
   * Measures one program of the zoo.
   *
   * @param twin the program without -pg, by the same compiler; empty where there is none
   * @param calls that the program makes, about
   */
  public static List<Measure> run(
      LoadedImage image,
      Optional<LoadedImage> twin,
      String program,
      long argument,
      long calls,
      int rounds,
      ProbeKind probe) {
    List<String> argv = List.of("zoo", program, String.valueOf(argument));
    CoreOptions untraced =
        CoreOptions.of(LinuxOptions.of("zoo")).withProbe(probe).withTraced(false);
    CoreOptions off = untraced.withTraced(true).withTrace(TraceSettings.standard().withOn(false));
    double traced = Double.MAX_VALUE;
    double never = Double.MAX_VALUE;
    double plain = Double.MAX_VALUE;
    double instructions = 0;
    double plainInstructions = 1;
    for (int round = -1; round < rounds; round++) { // the first one warms up
      GuestRun run = run(image, argv, off);
      traced = Math.min(traced, run.perCall(calls));
      instructions = run.instructions();
      never = Math.min(never, nops(image, argv, untraced, calls));
      if (twin.isPresent()) {
        GuestRun other = run(twin.get(), argv, untraced);
        plain = Math.min(plain, other.perCall(calls));
        plainInstructions = other.instructions();
      }
    }
    String subject = "%s %s".formatted(image.elf().name(), program);
    List<Measure> measures = new ArrayList<>();
    measures.add(new Measure(STAGE, subject, "cpuNsPerCall", traced));
    measures.add(new Measure(STAGE, subject, "timesNeverTraced", traced / never));
    if (twin.isPresent()) {
      measures.add(new Measure(STAGE, subject, "timesPlain", traced / plain));
      measures.add(
          new Measure(STAGE, subject, "timesPlainInstructions", instructions / plainInstructions));
    }
    return measures;
  }

  /**
   * The program of an image without -pg, by the same flags.
   *
   * @param folder as {@code emulators/guest/build.sh --twins} fills it
   * @return empty where it is not there
   */
  public static Optional<Path> twin(LoadedImage image, Path folder) {
    String name = image.elf().name();
    String more =
        TOLD_APART.stream()
            .filter(flags -> name.contains("-" + flags))
            .map(flags -> "-" + flags)
            .collect(Collectors.joining());
    Path twin = folder.resolve("zoo-%s-plain%s.elf".formatted(image.isa().name(), more));
    return Files.exists(twin) ? Optional.of(twin) : Optional.empty();
  }

  private static GuestRun run(LoadedImage image, List<String> argv, CoreOptions how) {
    return GuestRun.of(image, argv, how, core -> {}, records -> {});
  }

  private static double nops(LoadedImage image, List<String> argv, CoreOptions how, long calls) {
    return GuestRun.of(image, argv, how, core -> switchOff(image, core), records -> {})
        .perCall(calls);
  }

  private static void switchOff(LoadedImage image, Core core) {
    for (int i = 0; i < image.patchSites().size(); i++) {
      PatchSite site = image.patchSites().get(i);
      site.nop()
          .map(ByteList::toByteArray)
          .ifPresent(nop -> core.engine().mem_write(site.start(), nop));
    }
  }
}
