package dev.retstack.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A fleet of three ISAs that runs until it is closed, in a thread and with topics of its own. It
 * stands still most of the time: what is tested is not how much it sends.
 */
public final class TracedFleet implements AutoCloseable {
  /** One core each, of that name. */
  public static final List<String> IMAGES =
      List.of("zoo-x86_64-fentry", "zoo-riscv64-mcount", "zoo-s390x-mcount");

  /** How long it stands still behind each chunk, which has records of at most 20 ms. */
  private static final long STANDS_NANOS = 100_000_000;

  /** How often a fleet is asked until it has started. */
  private static final int TRIES = 30;

  private final EmbeddedBroker broker;
  private final KafkaLink link;
  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();
  private final Thread thread;

  /** Starts it. */
  public TracedFleet(EmbeddedBroker broker, String prefix, String session) throws Exception {
    this(broker, prefix, session, IMAGES);
  }

  /** Starts a fleet of these images, files or some of the zoo, that run until they are stopped. */
  public TracedFleet(EmbeddedBroker broker, String prefix, String session, List<String> images)
      throws Exception {
    this.broker = broker;
    link = new KafkaLink(KafkaSettings.of(broker.bootstrap()), new Topics(prefix));
    link.ensureTopics();
    List<CoreSpec> cores = new ArrayList<>();
    for (String named : images) {
      Path file = GuestImages.resolve(named);
      LoadedImage image = LoadedImage.load(file);
      LinuxOptions linux =
          LinuxOptions.of("zoo").withArguments(List.of("zoo", "w200", "100000000"));
      cores.add(
          new CoreSpec(
              GuestImages.name(file),
              image,
              CoreOptions.of(linux),
              Map.of("isa", image.isa().name())));
    }
    FleetOptions options =
        FleetOptions.standard()
            .withThreads(1) // who asks has the other processor
            .withSession(session)
            .withFlushInterval(Duration.ofMillis(20));
    thread = Thread.ofPlatform().name("fleet-" + session).start(() -> run(cores, options));
  }

  private void run(List<CoreSpec> cores, FleetOptions options) {
    try (ChunkSink sink = new Paced(link.openSink())) {
      Fleet.run(cores, options, sink, FleetListener.NONE, link.openControl());
      ended.complete(true);
    } catch (InterruptedException e) {
      ended.complete(true);
    } catch (Throwable e) {
      ended.completeExceptionally(e);
    }
  }

  /** Each chunk takes the sink as long as a slow Kafka would. */
  private record Paced(ChunkSink sink) implements ChunkSink {
    @Override
    public void image(Image image) throws IOException, InterruptedException {
      sink.image(image);
    }

    @Override
    public void chunk(Chunk chunk) throws IOException, InterruptedException {
      sink.chunk(chunk);
      LockSupport.parkNanos(STANDS_NANOS);
    }

    @Override
    public void close() throws IOException {
      sink.close();
    }
  }

  /** Where its topics are. */
  public KafkaLink link() {
    return link;
  }

  /** What {@code retstack trace} says on that cluster. */
  public static Ran trace(EmbeddedBroker broker, String prefix, String... arguments) {
    List<String> all = new ArrayList<>(List.of("trace"));
    all.addAll(List.of(arguments));
    all.addAll(List.of("--bootstrap", broker.bootstrap(), "--prefix", prefix));
    return Ran.retstack(all.toArray(String[]::new));
  }

  /** What {@code retstack trace} says of this fleet. */
  public Ran trace(String... arguments) {
    return trace(broker, link.topics().prefix(), arguments);
  }

  /** Commands that came before a fleet reads the topic's end are its past, and get no answer. */
  public void awaitListening() {
    Ran status = trace("status", "--deadline-ms", "2000");
    for (int i = 0; i < TRIES && status.code() != ExitCode.OK; i++) {
      status = trace("status", "--deadline-ms", "2000");
    }
    assertThat(status.code()).as(status.err()).isZero();
  }

  @Override
  public void close() {
    thread.interrupt();
    ended.orTimeout(1, TimeUnit.MINUTES).join();
  }
}
