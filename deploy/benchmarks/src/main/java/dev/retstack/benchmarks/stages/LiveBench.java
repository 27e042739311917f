package dev.retstack.benchmarks.stages;

import dev.retstack.benchmarks.measure.CpuShares;
import dev.retstack.benchmarks.measure.CpuShares.Part;
import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.benchmarks.measure.Rounds;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.fleet.FleetRun;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.service.Pipeline;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * The whole path at once: a core per image and processor, Kafka, the pipeline, until the last
 * record of the last core is in the aggregates.
 */
public final class LiveBench {
  private static final long ANSWER_MINUTES = 10;

  private LiveBench() {}

  /**
   * Measures rate and CPU time over the rounds.
   *
   * @param pipeline reads the topics of {@code link}
   * @param broker process of the broker, or 0 where it is somebody else's
   */
  public static List<Measure> run(
      List<LoadedImage> images,
      long w200,
      int rounds,
      KafkaLink link,
      Pipeline pipeline,
      long broker,
      Shutdown shutdown,
      Terminal terminal)
      throws IOException, InterruptedException {
    List<CoreSpec> cores = new ArrayList<>();
    List<String> argv = List.of("zoo", "w200", String.valueOf(w200));
    for (LoadedImage image : images) {
      LinuxOptions linux = LinuxOptions.of("zoo").withArguments(argv);
      cores.add(new CoreSpec("bench-" + cores.size(), image, CoreOptions.of(linux)));
    }
    Rounds rate = new Rounds(rounds);
    Rounds total = new Rounds(rounds);
    Rounds timesUntraced = new Rounds(rounds);
    Map<Part, Rounds> parts = new EnumMap<>(Part.class);
    for (int round = -1; round < rounds; round++) { // the first one warms up
      FleetOptions options = FleetOptions.standard();
      Map<Part, Long> before = CpuShares.now(broker);
      long start = System.nanoTime();
      List<CoreResult> results;
      try (ChunkSink sink = link.openSink()) {
        results = new FleetRun(terminal, shutdown).run(cores, options, sink, FleetListener.NONE);
      }
      awaitEnd(pipeline, cores, options.session());
      double seconds = (System.nanoTime() - start) / 1e9;
      double records = results.stream().mapToLong(CoreResult::records).sum();
      if (round >= 0) {
        rate.add(records / seconds);
        Map<Part, Long> after = CpuShares.now(broker);
        double perRecord = sum(after) / records - sum(before) / records;
        total.add(perRecord);
        timesUntraced.add(
            perRecord / untraced(cores.getFirst(), argv, results.getFirst().records()));
        after.forEach(
            (part, nanos) ->
                parts
                    .computeIfAbsent(part, _ -> new Rounds(rounds))
                    .add((nanos - before.getOrDefault(part, 0L)) / records));
      }
    }
    String subject = cores.size() + " cores, w200";
    List<Measure> measures = new ArrayList<>();
    measures.add(new Measure("live", subject, "recordsPerSecond", rate.median()));
    if (!parts.isEmpty()) {
      measures.add(new Measure("live", subject, "cpuNsPerRecord", total.median()));
      measures.add(new Measure("live", subject, "timesUntraced", timesUntraced.median()));
    }
    parts.forEach(
        (part, values) ->
            measures.add(
                new Measure("live", subject, part.label() + "NsPerRecord", values.median())));
    return measures;
  }

  /** Nanoseconds of a core per record that it would have made, had it been traced. */
  private static double untraced(CoreSpec core, List<String> argv, long records) {
    CoreOptions options = core.options().withTraced(false);
    return GuestRun.of(core.image(), argv, options, _ -> {}, _ -> {}).perCall(records);
  }

  private static long sum(Map<Part, Long> shares) {
    return shares.values().stream().mapToLong(Long::longValue).sum();
  }

  private static void awaitEnd(Pipeline pipeline, List<CoreSpec> cores, String session)
      throws IOException, InterruptedException {
    Set<CoreKey> keys =
        cores.stream().map(core -> new CoreKey(session, core.name())).collect(Collectors.toSet());
    try {
      pipeline.awaitCoresEnded(keys).toCompletableFuture().get(ANSWER_MINUTES, TimeUnit.MINUTES);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException(
          "the pipeline did not read every core to its end: " + FileTrouble.words(e), e);
    }
  }
}
