package dev.retstack.service;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.typesafe.config.ConfigFactory;
import dev.retstack.graph.reconstruct.StateBudget;
import dev.retstack.service.ingest.EndOffsets;
import dev.retstack.service.ingest.EventFeed;
import dev.retstack.service.ingest.GroupMember;
import dev.retstack.service.ingest.ImageFeed;
import dev.retstack.service.ingest.ImageReader;
import dev.retstack.service.ingest.ImageRegistry;
import dev.retstack.service.ingest.OtherVersionException;
import dev.retstack.service.ingest.TopicAdmin;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.nodes.FleetFeed;
import dev.retstack.service.nodes.NodeFeed;
import dev.retstack.service.nodes.Role;
import dev.retstack.service.progress.CoreWatch;
import dev.retstack.service.query.AnomalyEvents;
import dev.retstack.service.query.HttpApi;
import dev.retstack.service.query.HttpSettings;
import dev.retstack.service.query.Job;
import dev.retstack.service.query.Queries;
import dev.retstack.service.query.Readiness;
import dev.retstack.service.query.Scrape;
import dev.retstack.service.reconstruct.Feed;
import dev.retstack.service.reconstruct.KafkaLedger;
import dev.retstack.service.reconstruct.MemberShares;
import dev.retstack.service.reconstruct.PartitionGraph;
import dev.retstack.service.reconstruct.PartitionPeers;
import dev.retstack.service.reconstruct.Partitions;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.SpawnProtocol;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.http.javadsl.ConnectionContext;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.ServerBuilder;

/**
 * One member of the pipeline: {@code Kafka → ingest → reconstruct → aggregate → query}. Members of
 * one group share the partitions; each answers for all, by asking the others.
 */
public final class PipelineService {
  private static final Duration KAFKA_PATIENCE = Duration.ofSeconds(60);
  private static final Duration START = Duration.ofSeconds(60);

  /** Partitions of the topics that are read. */
  private record TopicSizes(int events, int anomalies) {}

  private PipelineService() {}

  /**
   * Creates the topics that are missing, reads all images, serves HTTP, and joins the group.
   *
   * @throws IOException when Kafka does not answer or the HTTP port is taken; nothing runs then
   */
  public static Pipeline start(PipelineConfig config) throws IOException, InterruptedException {
    // both take their time, and neither needs the other
    CompletableFuture<ActorSystem<SpawnProtocol.Command>> making =
        CompletableFuture.supplyAsync(PipelineService::system);
    try {
      TopicSizes sizes;
      Map<TopicPartition, Long> imageEnds;
      try (TopicAdmin admin = new TopicAdmin(config.kafka(), KAFKA_PATIENCE)) {
        admin.ensure(config.topics(), config.partitions());
        sizes =
            new TopicSizes(
                admin.partitions(config.topics().events()),
                admin.partitions(config.topics().anomalies()));
        imageEnds = admin.endOffsets(config.topics().images());
      }
      return start(config, await("start the actors", making), sizes, imageEnds);
    } catch (IOException | InterruptedException | RuntimeException e) {
      var _ = making.thenAccept(ActorSystem::terminate);
      throw e;
    }
  }

  private static Pipeline start(
      PipelineConfig config,
      ActorSystem<SpawnProtocol.Command> system,
      TopicSizes topicSizes,
      Map<TopicPartition, Long> imageEnds)
      throws IOException, InterruptedException {
    Meters meters = new Meters();
    ImageReader imageReader =
        new ImageReader(config.kafka(), config.topics().images(), system::terminate);
    long heap = Runtime.getRuntime().maxMemory();
    ActorRef<ImageRegistry.Command> images =
        spawn(
            system,
            ImageRegistry.create(
                Math.min(config.imageBytes(), heap / 8),
                Math.min(config.imagePlaceBytes(), heap / 16),
                imageReader,
                meters.images()),
            "images");
    ActorRef<CoreWatch.Command> watch = spawn(system, CoreWatch.create(), "cores");
    NodeFeed nodes =
        new NodeFeed(config.kafka(), config.topics().nodes(), config.groupId(), config.roles());
    FleetFeed fleets =
        new FleetFeed(
            config.kafka(),
            config.topics(),
            topicSizes.events(),
            deaths -> watch.tell(new CoreWatch.Lost(deaths)));
    MemberShares shares =
        MemberShares.ofThisMachine(new StateBudget(config.stateBytes(), region()));
    GroupMember member = new GroupMember();
    ActorRef<Partitions.Command> partitions =
        spawn(
            system,
            Partitions.create(
                (p, feed) ->
                    partition(
                        config,
                        p,
                        member,
                        new PartitionPeers(images, watch, meters.partition(p), shares),
                        feed),
                p -> watch.tell(new CoreWatch.Left(p))),
            "partitions");
    Queries queries = new Queries(system, partitions, watch, topicSizes.events());
    EndOffsets ends =
        new EndOffsets(
            config.kafka(),
            config.topics().events(),
            topicSizes.events(),
            IsolationLevel.READ_UNCOMMITTED);
    EndOffsets anomalyEnds =
        new EndOffsets(
            config.kafka(),
            config.topics().anomalies(),
            topicSizes.anomalies(),
            IsolationLevel.READ_COMMITTED);
    Job job = new Job(queries, nodes, fleets, config.http(), ends, config.limits());
    ImageFeed feed =
        new ImageFeed(config.kafka(), imageEnds, images, meters.images(), system::terminate);
    Runnable readers =
        () -> {
          feed.close();
          imageReader.close();
          fleets.close();
          job.close();
          ends.close();
          anomalyEnds.close();
        };
    feed.start();
    try {
      await(
          "read the images topic",
          AskPattern.<ImageRegistry.Command, ImageRegistry.CaughtUp>ask(
                  images, ImageRegistry.AwaitCaughtUp::new, START, system.scheduler())
              .toCompletableFuture());
      Scrape scrape =
          new Scrape(
              queries,
              meters,
              fleets,
              ends,
              job.watch(),
              config.groupId(),
              config.topics().events(),
              shares.state());
      AnomalyEvents followers =
          new AnomalyEvents(
              system,
              config.kafka(),
              config.topics().anomalies(),
              anomalyEnds,
              config.http().followersMax());
      boolean ingests = config.roles().contains(Role.INGEST);
      Readiness readiness =
          new Readiness(queries, ingests ? Optional.of(member) : Optional.empty());
      HttpApi api = new HttpApi(job, readiness, config.topics(), scrape, followers, config.http());
      ServerBinding binding = bind(config.http(), system, api);
      int port = binding.localAddress().getPort();
      job.watch().start();
      fleets.start();
      nodes.start(config.http().authority(port), config.http().url(port));
      CompletableFuture<OtherVersionException> refused = new CompletableFuture<>();
      var _ = refused.thenRun(system::terminate);
      Optional<EventFeed> events =
          ingests
              ? Optional.of(
                  new EventFeed(
                      config.kafka(),
                      config.topics().events(),
                      config.groupId(),
                      partitions,
                      member,
                      refused::complete))
              : Optional.empty();
      events.ifPresent(EventFeed::start);
      return new Pipeline(system, binding, config.http(), nodes, readers, events, queries, refused);
    } catch (IOException | InterruptedException | RuntimeException e) {
      readers.run();
      throw e;
    }
  }

  /** Of G1's heap; 0 where another collector is used. */
  private static long region() {
    var options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    return Long.parseLong(options.getVMOption("G1HeapRegionSize").getValue());
  }

  private static Behavior<PartitionGraph.Command> partition(
      PipelineConfig config, int partition, GroupMember member, PartitionPeers peers, Feed feed) {
    // a partition that fails stops; its feed then opens it again
    return Behaviors.supervise(
            PartitionGraph.create(
                partition,
                config.partitionSettings(),
                () ->
                    new KafkaLedger(
                        config.kafka(), config.topics(), config.groupId(), partition, member),
                peers,
                feed))
        .onFailure(SupervisorStrategy.stop());
  }

  private static ServerBinding bind(
      HttpSettings http, ActorSystem<SpawnProtocol.Command> system, HttpApi api)
      throws IOException, InterruptedException {
    ServerBuilder server = Http.get(system).newServerAt(http.host(), http.port());
    ServerBuilder secured =
        http.tls()
            .map(tls -> server.enableHttps(ConnectionContext.httpsServer(tls::engine)))
            .orElse(server);
    try {
      return await("bind", secured.bindFlow(api.flow(system)).toCompletableFuture());
    } catch (IOException e) {
      throw new IOException(
          "cannot serve HTTP on %s:%d: %s: choose another port, or 0 for any free one"
              .formatted(http.host(), http.port(), root(e).getMessage()),
          e);
    }
  }

  private static <T> ActorRef<T> spawn(
      ActorSystem<SpawnProtocol.Command> system, Behavior<T> behavior, String name)
      throws IOException, InterruptedException {
    return await(
        "start " + name,
        AskPattern.<SpawnProtocol.Command, ActorRef<T>>ask(
                system,
                replyTo -> new SpawnProtocol.Spawn<>(behavior, name, Props.empty(), replyTo),
                START,
                system.scheduler())
            .toCompletableFuture());
  }

  private static <T> T await(String what, CompletableFuture<T> stage)
      throws IOException, InterruptedException {
    try {
      return stage.get(START.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException("cannot " + what + ": " + root(e).getMessage(), e);
    }
  }

  private static ActorSystem<SpawnProtocol.Command> system() {
    ClassLoader loader = PipelineService.class.getClassLoader();
    return ActorSystem.create(
        SpawnProtocol.create(),
        "retstack",
        ConfigFactory.load(
            loader, ConfigFactory.parseResourcesAnySyntax(loader, "retstack-service")));
  }

  private static Throwable root(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }
}
