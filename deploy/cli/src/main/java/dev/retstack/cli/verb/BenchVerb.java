package dev.retstack.cli.verb;

import dev.retstack.cli.CommandException;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.Shutdown;
import dev.retstack.cli.bench.AccuracyBench;
import dev.retstack.cli.bench.CaptureBench;
import dev.retstack.cli.bench.ControlBench;
import dev.retstack.cli.bench.LiveBench;
import dev.retstack.cli.bench.Measure;
import dev.retstack.cli.bench.MeasureTable;
import dev.retstack.cli.bench.MemoryWatch;
import dev.retstack.cli.bench.NopBench;
import dev.retstack.cli.bench.PathBench;
import dev.retstack.cli.bench.PeerBench;
import dev.retstack.cli.bench.ReplayBench;
import dev.retstack.cli.bench.StateBench;
import dev.retstack.cli.bench.TracerBench;
import dev.retstack.cli.broker.BrokerProcess;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.option.DataFolder;
import dev.retstack.cli.option.FormatOption;
import dev.retstack.cli.option.GuestImages;
import dev.retstack.cli.option.KafkaOptions;
import dev.retstack.cli.option.ProbeOption;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.probe.NativeLibrary;
import dev.retstack.schema.codec.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack bench}: rates of each stage; ratios are of one run. */
@Command(
    name = "bench",
    description = {
      "Measure the stages of the path, medians over the rounds:",
      "  capture  tracing against the same image whose counting function returns at once",
      "  nops     a core whose sites are all switched off, against one without any (--twins)",
      "  tracers  function, entries only, against function_graph: time and bytes",
      "  path     packing, unpacking, reconstruction",
      "  replay   a stored trace, from the file to the whole report",
      "  live     emulation, Kafka, pipeline; a broker of ours unless one is named",
      "  control  from a command to the first record under it and to the last core's answer",
      "  state    what checkpoints of a big state cost, and how long a restart with it takes",
      "  accuracy how much is still told, and nothing wrong, when records or chunks are lost",
      "  peers    uftrace and qemu-user on the same program, where they are installed",
      "Times depend on the machine; ratios of one run hardly do."
    },
    footer = "  retstack bench --stage replay,peers --rounds 1 --calls 200000 --format json")
public final class BenchVerb extends Verb {
  /** What qemu-user emulates beside us. */
  private static final String PEER_IMAGE = "zoo-x86_64-fentry";

  /** Cores that take commands. */
  private static final int CONTROL_CORES = 100;

  /** A fleet that is big for one job. */
  private static final int STATE_CORES = 10_000;

  private static final int STATE_PARTITIONS = 8;

  /** Calls of a program whose every call is compared with the truth. */
  private static final long ACCURACY_CALLS_MAX = 1_000_000;

  /** Calls that one round of w200 makes, by the guest's own count. */
  private static final long CALLS_PER_W200_ROUND = 49;

  @Option(
      names = "--rounds",
      defaultValue = "5",
      paramLabel = "N",
      description = "Rounds per figure (default: ${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--calls",
      defaultValue = "500000",
      paramLabel = "N",
      description = "About so many calls per run of a program (default: ${DEFAULT-VALUE}).")
  private long calls;

  @Option(
      names = "--image",
      paramLabel = "ELF",
      description =
          "An image with the programs of the zoo; may be repeated (default: all of them).")
  private final List<String> images = new ArrayList<>();

  /** What can be measured. */
  enum Stage {
    CAPTURE,
    NOPS,
    TRACERS,
    PATH,
    REPLAY,
    LIVE,
    CONTROL,
    STATE,
    ACCURACY,
    PEERS
  }

  @Option(
      names = "--stage",
      split = ",",
      paramLabel = "STAGE",
      description = "${COMPLETION-CANDIDATES}; may be repeated (default: capture, path, replay).")
  private final Set<Stage> stages = EnumSet.noneOf(Stage.class);

  @Option(
      names = "--twins",
      paramLabel = "DIR",
      description =
          "nops: programs without -pg, as emulators/guest/build.sh --twins DIR builds them.")
  private Path twins;

  @Option(
      names = "--isolate",
      description = "control: the cores of each image in a process of their own.")
  private boolean isolate;

  @Option(
      names = "--cores",
      split = ",",
      paramLabel = "N",
      description =
          "live, control, state: so many cores, the images in turn, which make about --calls calls"
              + " all together; several numbers: one after the other (default: a core per image"
              + " with --calls each).")
  private final List<Integer> cores = new ArrayList<>();

  @Option(
      names = "--state-functions",
      defaultValue = "1000000",
      paramLabel = "N",
      description = "state: rows of functions over all partitions (default: ${DEFAULT-VALUE}).")
  private int stateFunctions;

  @Option(
      names = "--state-heap",
      defaultValue = "4g",
      paramLabel = "SIZE",
      description = "state: -Xmx of the members, which are JVMs of their own (default: 4g).")
  private String stateHeap;

  @Mixin private ProbeOption probe;

  @Mixin private KafkaOptions kafka;
  @Mixin private FormatOption format;

  @Override
  int run() throws Exception {
    if (rounds < 1 || calls < 1 || cores.stream().anyMatch(count -> count < 1)) {
      throw usage(
          "--rounds %d, --calls %d, --cores %s: each at least 1".formatted(rounds, calls, cores));
    }
    long w200 = Math.max(1, calls / CALLS_PER_W200_ROUND);
    List<Path> files =
        images.isEmpty() ? GuestImages.zoo() : images.stream().map(GuestImages::resolve).toList();
    if (files.isEmpty()) {
      throw CommandException.environment("no images of the zoo here: start with ./retstack");
    }
    if (stages.isEmpty()) {
      stages.addAll(EnumSet.of(Stage.CAPTURE, Stage.PATH, Stage.REPLAY));
    }
    List<Measure> measures = new ArrayList<>();
    if (stages.contains(Stage.CAPTURE)) {
      measures.addAll(capture(files, w200));
    }
    if (stages.contains(Stage.NOPS)) {
      measures.addAll(nops(files, w200));
    }
    if (stages.contains(Stage.TRACERS)) {
      measures.addAll(tracers(files, w200));
    }
    LoadedImage first = GuestImages.loadInstrumented(files.getFirst());
    if (stages.contains(Stage.PATH)) {
      note("packing, unpacking, reconstruction");
      measures.addAll(path(first, w200));
    }
    if (stages.contains(Stage.REPLAY) || stages.contains(Stage.PEERS)) {
      measures.addAll(stored(first, w200));
    }
    if (stages.contains(Stage.ACCURACY)) {
      note("accuracy under loss: random programs that know their own truth");
      measures.addAll(AccuracyBench.run(rounds, (int) Math.min(calls, ACCURACY_CALLS_MAX)));
    }
    if (stages.contains(Stage.LIVE)) {
      for (int count : cores.isEmpty() ? List.of(files.size()) : cores) {
        List<Path> turns =
            IntStream.range(0, count).mapToObj(i -> files.get(i % files.size())).toList();
        measures.addAll(live(turns, cores.isEmpty() ? w200 : Math.max(1, w200 / count)));
      }
    }
    if (stages.contains(Stage.CONTROL)) {
      for (int count : cores.isEmpty() ? List.of(CONTROL_CORES) : cores) {
        measures.addAll(control(files, count));
      }
    }
    if (stages.contains(Stage.STATE)) {
      for (int count : cores.isEmpty() ? List.of(STATE_CORES) : cores) {
        measures.addAll(state(count));
      }
    }
    MeasureTable.print(out(), format.format(), measures);
    return ExitCode.OK;
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
      note("capture: " + image.elf().name());
      measures.addAll(CaptureBench.run(image, "fib", fibOf(calls), rounds, probes()));
      measures.addAll(CaptureBench.run(image, "w200", w200, rounds, probes()));
    }
    return measures;
  }

  private List<Measure> nops(List<Path> files, long w200) throws IOException {
    List<Measure> measures = new ArrayList<>();
    for (Path file : files) {
      LoadedImage image = GuestImages.loadInstrumented(file);
      note("nops: " + image.elf().name());
      Optional<Path> plain = twins == null ? Optional.empty() : NopBench.twin(image, twins);
      Optional<LoadedImage> twin = plain.map(GuestImages::load);
      long madeByW200 = w200 * CALLS_PER_W200_ROUND;
      measures.addAll(NopBench.run(image, twin, "fib", fibOf(calls), calls, rounds, probe.probe()));
      measures.addAll(NopBench.run(image, twin, "w200", w200, madeByW200, rounds, probe.probe()));
    }
    return measures;
  }

  private List<Measure> tracers(List<Path> files, long w200) throws IOException {
    List<Measure> measures = new ArrayList<>();
    for (Path file : files) {
      LoadedImage image = GuestImages.loadInstrumented(file);
      note("tracers: " + image.elf().name());
      measures.addAll(TracerBench.run(image, "fib", fibOf(calls), rounds, probe.probe()));
      measures.addAll(TracerBench.run(image, "w200", w200, rounds, probe.probe()));
    }
    return measures;
  }

  /** What is on disk: ours, and with it that of the others. */
  private List<Measure> stored(LoadedImage image, long w200)
      throws IOException, InterruptedException {
    Path folder = DataFolder.choose(null, "bench");
    note("a stored trace");
    List<Measure> measures =
        new ArrayList<>(
            ReplayBench.run(image, w200, rounds, folder.resolve("bench.avro"), terminal()));
    if (stages.contains(Stage.PEERS)) {
      Path peers = Files.createDirectories(folder.resolve("peers"));
      measures.addAll(
          new PeerBench(GuestImages.guest(), peers, rounds, this::note)
              .run(w200, GuestImages.resolve(PEER_IMAGE)));
    }
    return measures;
  }

  /** That which was asked for, else all there are. */
  private List<ProbeKind> probes() {
    if (probe.probe() != ProbeKind.AUTO) {
      return List.of(probe.probe());
    }
    if (NativeLibrary.find().isEmpty()) {
      note(NativeLibrary.whyNot());
      return List.of(ProbeKind.JAVA);
    }
    return List.of(ProbeKind.JAVA, ProbeKind.NATIVE);
  }

  private List<Measure> control(List<Path> files, int count)
      throws IOException, InterruptedException {
    note("commands to %d cores".formatted(count));
    List<LoadedImage> images = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      images.add(
          i < files.size()
              ? GuestImages.loadInstrumented(files.get(i))
              : images.get(i - files.size()));
    }
    Path folder = DataFolder.choose(null, "bench");
    try (Shutdown shutdown = Shutdown.install()) {
      KafkaLink link =
          kafka.isConfigured(terminal())
              ? kafka.link(terminal())
              : kafka.link(
                  shutdown.add(BrokerProcess.start(folder.resolve("broker"), 0)).bootstrap(),
                  terminal());
      return ControlBench.run(images, rounds, link, isolate);
    }
  }

  private List<Measure> state(int count) throws IOException, InterruptedException {
    StateBench.Size size = new StateBench.Size(count, stateFunctions, STATE_PARTITIONS, stateHeap);
    try (Shutdown shutdown = Shutdown.install();
        StateBench bench = new StateBench(size, DataFolder.choose(null, "bench"), this::note)) {
      shutdown.add(bench);
      return bench.run(rounds);
    }
  }

  private List<Measure> live(List<Path> files, long w200) throws IOException, InterruptedException {
    note("the whole path");
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
      if (kafka.isConfigured(terminal())) {
        link = kafka.link(terminal());
      } else {
        BrokerProcess broker = shutdown.add(BrokerProcess.start(folder.resolve("broker"), 0));
        link = kafka.link(broker.bootstrap(), terminal());
        brokerPid = broker.pid();
      }
      Pipeline pipeline =
          shutdown.add(
              PipelineVerb.start(
                  PipelineConfig.of(link.settings())
                      .but()
                      .topics(link.topics())
                      .groupId(link.topics().prefix() + "-bench")
                      .partitions(KafkaLink.PARTITIONS)
                      .build()));
      try (MemoryWatch memory = MemoryWatch.start()) {
        List<Measure> measures =
            new ArrayList<>(
                LiveBench.run(
                    images, w200, rounds, link, pipeline, brokerPid, shutdown, terminal()));
        measures.addAll(memory.measures("live", measures.getFirst().subject()));
        return measures;
      }
    }
  }

  /** The number whose naive computation makes at least so many calls: 2 fib(n + 1) - 1 of them. */
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
