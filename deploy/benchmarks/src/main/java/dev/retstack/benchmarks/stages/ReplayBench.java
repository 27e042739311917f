package dev.retstack.benchmarks.stages;

import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.benchmarks.measure.CpuTime;
import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.benchmarks.measure.Rounds;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.FileChunkSink;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A stored trace, from the file to the whole report: read, verified, unpacked, reconstructed, added
 * up, named and hashed, in one thread.
 */
public final class ReplayBench {
  private ReplayBench() {}

  /**
   * Measures {@code w200} on one core.
   *
   * @param file where the trace is put; replaced
   */
  public static List<Measure> run(
      LoadedImage image, long w200, int rounds, Path file, Terminal terminal)
      throws IOException, InterruptedException {
    long records = record(image, w200, file, terminal);
    Rounds wall = new Rounds(rounds);
    Rounds cpu = new Rounds(rounds);
    for (int round = -2; round < rounds; round++) { // the first two warm up
      long cpuBefore = CpuTime.ofThisProcess();
      long start = System.nanoTime();
      long seen =
          ReportBuilder.of(
                  TraceReplay.read(file, new GraphState(), 1, TraceReplay.Progress.SILENT).state())
              .build()
              .records();
      long nanos = System.nanoTime() - start;
      if (seen != records) {
        throw new IllegalStateException(records + " records went in, " + seen + " came out");
      }
      if (round >= 0) {
        wall.add(nanos / (double) records);
        cpu.add((CpuTime.ofThisProcess() - cpuBefore) / (double) records);
      }
    }
    String subject = "%s w200, %,d records".formatted(image.elf().name(), records);
    return List.of(
        new Measure("replay", subject, "nsPerRecord", wall.median()),
        new Measure("replay", subject, "cpuNsPerRecord", cpu.median()),
        new Measure("replay", subject, "recordsPerSecond", 1e9 / wall.median()),
        new Measure("replay", subject, "bytesPerRecord", Files.size(file) / (double) records));
  }

  /** Records {@code w200} into a file; the number of records. */
  static long record(LoadedImage image, long w200, Path file, Terminal terminal)
      throws IOException, InterruptedException {
    List<String> argv = List.of("zoo", "w200", String.valueOf(w200));
    CoreOptions options = CoreOptions.of(LinuxOptions.of("zoo").withArguments(argv));
    List<CoreSpec> cores = List.of(new CoreSpec("bench", image, options));
    try (Shutdown shutdown = Shutdown.install();
        ChunkSink sink = FileChunkSink.open(file)) {
      return new FleetRun(terminal, shutdown)
          .run(cores, FleetOptions.standard(), sink, FleetListener.NONE).stream()
              .mapToLong(CoreResult::records)
              .sum();
    }
  }
}
