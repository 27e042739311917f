package dev.retstack.benchmarks.stages;

import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.record.RecordBatch;
import java.util.List;

/**
 * What the tracers cost beside each other: {@code function}, entries only, against {@code
 * function_graph}, entries and exits, and both against a core whose sites are all nops. Least CPU
 * time of the rounds, all in the same rounds and with the virtual clock; bytes as a chunk packs
 * them.
 */
public final class TracerBench {
  private static final String STAGE = "tracers";

  private final LoadedImage image;
  private final List<String> argv;
  private final ProbeKind probe;
  private long calls;
  private long bytes;
  private final RecordBatch kept = new RecordBatch(CoreOptions.RECORDS_PER_CHUNK);

  private TracerBench(LoadedImage image, List<String> argv, ProbeKind probe) {
    this.image = image;
    this.argv = argv;
    this.probe = probe;
  }

  /**
   * Measures one program of the zoo.
   *
   * @param argument what makes the program run long enough to be measured
   */
  public static List<Measure> run(
      LoadedImage image, String program, long argument, int rounds, ProbeKind probe) {
    TracerBench bench =
        new TracerBench(image, List.of("zoo", program, String.valueOf(argument)), probe);
    TraceSettings standard = TraceSettings.standard();
    TraceSettings off = standard.withOn(false);
    TraceSettings function = standard.withTracer(Tracer.FUNCTION);
    final double functionBytes = bench.bytesPerCall(function);
    final double graphBytes = bench.bytesPerCall(standard);
    double nops = Double.MAX_VALUE;
    double entries = Double.MAX_VALUE;
    double graph = Double.MAX_VALUE;
    for (int round = -1; round < rounds; round++) { // the first one warms up
      nops = Math.min(nops, bench.nanosPerCall(off));
      entries = Math.min(entries, bench.nanosPerCall(function));
      graph = Math.min(graph, bench.nanosPerCall(standard));
    }
    String subject = "%s %s".formatted(image.elf().name(), program);
    return List.of(
        new Measure(STAGE, subject, "nopNsPerCall", nops),
        new Measure(STAGE, subject, "functionNsPerCall", entries),
        new Measure(STAGE, subject, "functionGraphNsPerCall", graph),
        new Measure(STAGE, subject, "functionOfGraph", entries / graph),
        new Measure(STAGE, subject, "functionCostOfGraph", (entries - nops) / (graph - nops)),
        new Measure(STAGE, subject, "functionBytesPerCall", functionBytes),
        new Measure(STAGE, subject, "functionGraphBytesPerCall", graphBytes));
  }

  private double nanosPerCall(TraceSettings settings) {
    return GuestRun.of(image, argv, options(settings), core -> {}, records -> {}).perCall(calls);
  }

  /** Also counts the calls. */
  private double bytesPerCall(TraceSettings settings) {
    calls = 0;
    bytes = 0;
    GuestRun.of(image, argv, options(settings), core -> {}, this::pack);
    flush();
    return (double) bytes / calls;
  }

  private void pack(RecordBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      calls += batch.kind[i] == RecordBatch.EXIT ? 0 : 1;
    }
    if (batch.size() > kept.capacity() - kept.size()) {
      flush();
    }
    kept.addAll(batch, 0, batch.size());
  }

  private void flush() {
    if (kept.size() > 0) {
      bytes += Codecs.standard().encode(kept).length;
      kept.clear();
    }
  }

  private CoreOptions options(TraceSettings settings) {
    return CoreOptions.of(LinuxOptions.of("zoo")).withProbe(probe).withTrace(settings);
  }
}
