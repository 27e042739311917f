package dev.retstack.benchmarks.stages;

import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.benchmarks.measure.Rounds;
import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.ActiveConvention;
import dev.retstack.machine.loader.CallSite;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * What tracing costs, in CPU time of the emulating thread: a traced run against the same image
 * whose counting function returns at once, and against the same image whose calls of it are nops,
 * all in the same round and all with the virtual clock.
 */
public final class CaptureBench {
  private static final String STAGE = "capture";
  private static final double RECORDS_PER_CALL = 2;

  private final LoadedImage image;
  private final List<String> argv;
  private final String program;
  private final long calls;

  private CaptureBench(LoadedImage image, String program, long argument) {
    this.image = image;
    this.program = program;
    argv = List.of("zoo", program, String.valueOf(argument));
    LongAdder entries = new LongAdder();
    run(options(ProbeKind.AUTO), core -> {}, batch -> entries.add(entries(batch)));
    calls = entries.sum();
  }

  /**
   * Measures one program of the zoo.
   *
   * @param argument what makes the program run long enough to be measured
   */
  public static List<Measure> run(
      LoadedImage image, String program, long argument, int rounds, List<ProbeKind> probes) {
    CaptureBench bench = new CaptureBench(image, program, argument);
    List<Measure> measures = new ArrayList<>();
    for (ProbeKind probe : probes) {
      measures.addAll(bench.measure(probe, rounds));
    }
    return measures;
  }

  private List<Measure> measure(ProbeKind probe, int rounds) {
    CoreOptions options = options(probe);
    Rounds traced = new Rounds(rounds);
    Rounds timesUntraced = new Rounds(rounds);
    Rounds timesNops = new Rounds(rounds);
    Rounds untracedOnly = new Rounds(rounds);
    Rounds nopsOnly = new Rounds(rounds);
    for (int round = -1; round < rounds; round++) { // the first one warms up
      double nops = run(options.withTraced(false), this::switchSitesOff, _ -> {});
      double untraced = run(options.withTraced(false), _ -> {}, _ -> {});
      double nanos = run(options, _ -> {}, _ -> {});
      if (round >= 0) {
        traced.add(nanos);
        timesUntraced.add(nanos / untraced);
        timesNops.add(nanos / nops);
        untracedOnly.add(untraced);
        nopsOnly.add(nops);
      }
    }
    String subject =
        "%s %s %s".formatted(image.elf().name(), program, probe.name().toLowerCase(Locale.ROOT));
    return List.of(
        new Measure(STAGE, subject, "cpuNsPerCall", traced.median()),
        new Measure(STAGE, subject, "timesUntraced", timesUntraced.median()),
        new Measure(STAGE, subject, "timesNops", timesNops.median()),
        new Measure(STAGE, subject, "leastNsPerCall", traced.least()),
        new Measure(STAGE, subject, "leastNsUntraced", untracedOnly.least()),
        new Measure(STAGE, subject, "leastNsNops", nopsOnly.least()),
        new Measure(
            STAGE, subject, "recordsPerCpuSecond", RECORDS_PER_CALL * 1e9 / traced.median()));
  }

  private static CoreOptions options(ProbeKind probe) {
    return CoreOptions.of(LinuxOptions.of("zoo")).withProbe(probe);
  }

  private double run(CoreOptions options, Consumer<Core> prepare, Consumer<RecordBatch> records) {
    return GuestRun.of(image, argv, options, prepare, records).perCall(calls);
  }

  /** What a program without -pg costs, but for the nops. */
  private void switchSitesOff(Core core) {
    for (ActiveConvention convention : image.conventions()) {
      for (CallSite site : convention.sites()) {
        byte[] call = new byte[(int) (site.after() - site.address())];
        core.engine().mem_read(site.address(), call);
        convention
            .card()
            .nop(call)
            .filter(nops -> nops.length > 0)
            .ifPresent(nops -> core.engine().mem_write(site.address(), nops));
      }
    }
  }

  private static long entries(RecordBatch batch) {
    long entries = 0;
    for (int i = 0; i < batch.size(); i++) {
      entries += batch.kind[i] == RecordBatch.ENTRY ? 1 : 0;
    }
    return entries;
  }
}
