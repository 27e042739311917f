package dev.retstack.benchmarks.stages;

import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.benchmarks.measure.MeasureTable;
import dev.retstack.benchmarks.measure.MemoryWatch;
import dev.retstack.cli.bench.BenchOptions;
import dev.retstack.cli.bench.BenchOptions.Stage;
import dev.retstack.cli.bench.Benchmarks;
import dev.retstack.cli.broker.BrokerProcess;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.DataFolder;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.probe.nativec.NativeLibrary;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** What {@code retstack bench} does: the stages that were asked for, one after the other. */
public final class Stages implements Benchmarks {
  /** What qemu-user emulates beside us. */
  private static final String PEER_IMAGE = "zoo-x86_64-fentry";

  /** A fleet that is big for one job. */
  private static final int STATE_CORES = 10_000;

  private static final int STATE_PARTITIONS = 8;

  /** Calls of a program whose every call is compared with the truth. */
  private static final long ACCURACY_CALLS_MAX = 1_000_000;

  /** Calls that one round of w200 makes, by the guest's own count. */
  private static final long CALLS_PER_W200_ROUND = 49;

  private BenchOptions options;
  private Terminal terminal;
  private int rounds;
  private long calls;
  private List<Integer> cores;

  @Override
  public void run(BenchOptions wanted, Terminal shown) throws Exception {
    options = wanted;
    terminal = shown;
    rounds = wanted.rounds();
    calls = wanted.calls();
    cores = wanted.cores();
    Set<Stage> stages = wanted.stages();
    long w200 = Math.max(1, calls / CALLS_PER_W200_ROUND);
    List<Path> files = wanted.images();
    if (files.isEmpty()) {
      throw CommandException.environment("no images of the zoo here: start with ./retstack");
    }
    List<Measure> measures = new ArrayList<>();
    if (stages.contains(Stage.CAPTURE)) {
      measures.addAll(capture(files, w200));
    }
    LoadedImage first = GuestImages.loadInstrumented(files.getFirst());
    if (stages.contains(Stage.PATH)) {
      terminal.note("packing, unpacking, reconstruction");
      measures.addAll(path(first, w200));
    }
    if (stages.contains(Stage.REPLAY) || stages.contains(Stage.PEERS)) {
      measures.addAll(stored(first, w200));
    }
    if (stages.contains(Stage.PYRAMID)) {
      terminal.note("pyramid: made, and asked");
      Path file = DataFolder.choose(null, "bench").resolve("pyramid.avro");
      measures.addAll(PyramidBench.run(first, w200, rounds, options.questions(), file, terminal));
    }
    if (stages.contains(Stage.ACCURACY)) {
      terminal.note("accuracy under loss: random programs that know their own truth");
      measures.addAll(AccuracyBench.run(rounds, (int) Math.min(calls, ACCURACY_CALLS_MAX)));
    }
    if (stages.contains(Stage.LIVE)) {
      for (int count : cores.isEmpty() ? List.of(files.size()) : cores) {
        List<Path> turns =
            IntStream.range(0, count).mapToObj(i -> files.get(i % files.size())).toList();
        measures.addAll(live(turns, cores.isEmpty() ? w200 : Math.max(1, w200 / count)));
      }
    }
    if (stages.contains(Stage.STATE)) {
      for (int count : cores.isEmpty() ? List.of(STATE_CORES) : cores) {
        measures.addAll(state(count));
      }
    }
    Output.write(terminal.out(), wanted.format(), MeasureTable.document(measures));
  }

  private List<Measure> path(LoadedImage image, long w200) throws CorruptChunkException {
    List<PathBench> paths =
        List.of(
            PathBench.of(image, "w200", w200, CoreOptions.Clock.VIRTUAL),
            PathBench.of(image, "w200", w200, CoreOptions.Clock.HOST),
            PathBench.of(image, "fib", fibOf(calls), CoreOptions.Clock.VIRTUAL),
            PathBench.of(image, "fib", fibOf(calls), CoreOptions.Clock.HOST));
    List<Measure> measures = new ArrayList<>();
    for (PathBench path : paths) {
      for (String codec : Codecs.ids()) {
        measures.addAll(path.codec(Codecs.byId(codec), rounds));
      }
    }
    measures.addAll(paths.getFirst().apply(rounds));
    return measures;
  }

  private List<Measure> capture(List<Path> files, long w200) throws IOException {
    List<Measure> measures = new ArrayList<>();
    for (Path file : files) {
      LoadedImage image = GuestImages.loadInstrumented(file);
      terminal.note("capture: " + image.elf().name());
      measures.addAll(CaptureBench.run(image, "fib", fibOf(calls), rounds, probes()));
      measures.addAll(CaptureBench.run(image, "w200", w200, rounds, probes()));
    }
    return measures;
  }

  /** What is on disk: ours, and with it that of the others. */
  private List<Measure> stored(LoadedImage image, long w200)
      throws IOException, InterruptedException {
    Path folder = DataFolder.choose(null, "bench");
    terminal.note("a stored trace");
    List<Measure> measures =
        new ArrayList<>(
            ReplayBench.run(image, w200, rounds, folder.resolve("bench.avro"), terminal));
    if (options.stages().contains(Stage.PEERS)) {
      Path peers = Files.createDirectories(folder.resolve("peers"));
      measures.addAll(
          new PeerBench(GuestImages.guest(), peers, rounds, terminal::note)
              .run(w200, GuestImages.resolve(PEER_IMAGE)));
    }
    return measures;
  }

  /** The probe that the user asked for, else all that this machine has. */
  private List<ProbeKind> probes() {
    if (options.probe().probe() != ProbeKind.AUTO) {
      return List.of(options.probe().probe());
    }
    if (NativeLibrary.find().isEmpty()) {
      terminal.note(NativeLibrary.whyNot());
      return List.of(ProbeKind.JAVA);
    }
    return List.of(ProbeKind.JAVA, ProbeKind.NATIVE);
  }

  private List<Measure> state(int count) throws IOException, InterruptedException {
    StateBench.Size size =
        new StateBench.Size(count, options.stateFunctions(), STATE_PARTITIONS, options.stateHeap());
    try (Shutdown shutdown = Shutdown.install();
        StateBench bench = new StateBench(size, DataFolder.choose(null, "bench"), terminal::note)) {
      shutdown.add(bench);
      return bench.run(rounds);
    }
  }

  private List<Measure> live(List<Path> files, long w200) throws IOException, InterruptedException {
    terminal.note("the whole path");
    Map<Path, LoadedImage> loaded = new HashMap<>();
    List<LoadedImage> images = new ArrayList<>();
    for (Path file : files) {
      if (!loaded.containsKey(file)) {
        loaded.put(file, GuestImages.loadInstrumented(file));
      }
      images.add(loaded.get(file));
    }
    Path folder = DataFolder.choose(null, "bench");
    try (Shutdown shutdown = Shutdown.install()) {
      KafkaLink link;
      long brokerPid = 0;
      if (options.kafka().isConfigured(terminal)) {
        link = options.kafka().link(terminal);
      } else {
        BrokerProcess broker = shutdown.add(BrokerProcess.start(folder.resolve("broker"), 0));
        link = options.kafka().link(broker.bootstrap(), terminal);
        brokerPid = broker.pid();
      }
      Pipeline pipeline =
          shutdown.add(
              PipelineService.start(
                  PipelineConfig.of(link.settings())
                      .but()
                      .topics(link.topics())
                      .groupId(link.topics().prefix() + "-bench")
                      .partitions(KafkaLink.PARTITIONS)
                      .build()));
      try (MemoryWatch memory = MemoryWatch.start()) {
        List<Measure> measures =
            new ArrayList<>(
                LiveBench.run(images, w200, rounds, link, pipeline, brokerPid, shutdown, terminal));
        measures.addAll(memory.measures("live", measures.getFirst().subject()));
        return measures;
      }
    }
  }

  /**
   * Least n whose naive computation makes at least {@code calls} calls: 2 fib(n + 1) - 1 of them.
   */
  private static long fibOf(long calls) {
    long n = 0;
    long here = 0;
    for (long next = 1; 2 * next - 1 < calls; n++) {
      long sum = here + next;
      here = next;
      next = sum;
    }
    return n;
  }
}
