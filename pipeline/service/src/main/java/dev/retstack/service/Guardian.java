package dev.retstack.service;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.service.checkpoint.KafkaLedger;
import dev.retstack.service.consume.EventFeed;
import dev.retstack.service.control.CommandRules;
import dev.retstack.service.control.ControlRoutes;
import dev.retstack.service.identity.MemberKey;
import dev.retstack.service.images.ImageClaims;
import dev.retstack.service.images.ImageFeed;
import dev.retstack.service.images.ImageReader;
import dev.retstack.service.images.ImageRegistry;
import dev.retstack.service.kafka.EndOffsets;
import dev.retstack.service.kafka.GroupMember;
import dev.retstack.service.kafka.OtherVersionException;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.nodes.FleetFeed;
import dev.retstack.service.nodes.NodeFeed;
import dev.retstack.service.nodes.QuerySeat;
import dev.retstack.service.nodes.Role;
import dev.retstack.service.partition.Feed;
import dev.retstack.service.partition.PartitionGraph;
import dev.retstack.service.partition.PartitionPeers;
import dev.retstack.service.partition.PartitionSettings;
import dev.retstack.service.partition.Partitions;
import dev.retstack.service.progress.CoreWatch;
import dev.retstack.service.query.AnomalyEvents;
import dev.retstack.service.query.HistoryWatch;
import dev.retstack.service.query.HttpApi;
import dev.retstack.service.query.Job;
import dev.retstack.service.query.Queries;
import dev.retstack.service.query.Readiness;
import dev.retstack.service.query.Scrape;
import dev.retstack.service.query.Windows;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.pekko.Done;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.AbstractMatchingBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.http.javadsl.ConnectionContext;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.ServerBuilder;

/**
 * The guardian of a member. Step by step it waits for the topics, makes the actors, waits until the
 * images are read, binds HTTP and joins the group. If one of its actors stops, the member ends.
 */
final class Guardian extends AbstractMatchingBehavior<Guardian.Command> {
  /** What it understands. */
  sealed interface Command {}

  private record TopicsRead(TopicSizes topics) implements Command {}

  private enum ImagesRead implements Command {
    INSTANCE
  }

  private record Bound(ServerBinding binding) implements Command {}

  private record Failed(Throwable why) implements Command {}

  /**
   * Partitions of the topics that are read.
   *
   * @param imageEnds where the images topic ends
   */
  record TopicSizes(int events, int anomalies, Map<TopicPartition, Long> imageEnds) {}

  private static final Duration START = Duration.ofSeconds(60);

  private final PipelineConfig config;
  private final CompletableFuture<Pipeline> started;

  // made when the topics are known
  private ActorRef<Partitions.Command> partitions;
  private NodeFeed nodes;
  private FleetFeed fleets;
  private Job job;
  private Queries queries;
  private HistoryWatch history;
  private HttpApi api;
  private Optional<EventFeed> events = Optional.empty();
  private Optional<QuerySeat> seat = Optional.empty();
  private final CompletableFuture<OtherVersionException> refused = new CompletableFuture<>();

  /**
   * A member that begins to start.
   *
   * @param topics completes when they are there
   * @param started completes when the member serves, or cannot
   */
  static Behavior<Command> create(
      PipelineConfig config,
      CompletionStage<TopicSizes> topics,
      CompletableFuture<Pipeline> started) {
    return Behaviors.setup(
        context -> {
          context.pipeToSelf(
              topics, (found, why) -> why == null ? new TopicsRead(found) : new Failed(why));
          return new Guardian(context, config, started);
        });
  }

  private Guardian(
      ActorContext<Command> context, PipelineConfig config, CompletableFuture<Pipeline> started) {
    super(context);
    this.config = config;
    this.started = started;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    try {
      switch (command) {
        case TopicsRead m -> onTopics(m.topics());
        case ImagesRead _ ->
            getContext()
                .pipeToSelf(
                    bind(), (binding, why) -> why == null ? new Bound(binding) : cannotServe(why));
        case Bound m -> onBound(m.binding());
        case Failed m -> started.completeExceptionally(m.why());
      }
    } catch (RuntimeException e) {
      started.completeExceptionally(e);
    }
    return this;
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof Terminated gone) {
      getContext()
          .getLog()
          .error("{} stopped, and this member with it", gone.getRef().path().name());
      getContext().getSystem().terminate();
    } else if (signal instanceof PostStop) {
      started.completeExceptionally(new IOException("this member ended while it started"));
    }
    return this;
  }

  private <T> ActorRef<T> child(Behavior<T> behavior, String name) {
    ActorRef<T> child = getContext().spawn(behavior, name);
    getContext().watch(child);
    return child;
  }

  private void onTopics(TopicSizes sizes) {
    var system = getContext().getSystem();
    var kafka = config.kafka();
    var topics = config.topics();
    Meters meters = new Meters();
    ImageReader imageReader = new ImageReader(kafka, topics.images());
    ImageClaims claims = new ImageClaims(kafka, topics, config.groupId());
    ActorRef<ImageRegistry.Command> images = images(imageReader, claims, meters);
    ActorRef<CoreWatch.Command> watch = child(CoreWatch.create(), "cores");
    MemberKey key = MemberKey.fresh();
    var asMember = kafka.named(key.clientId());
    nodes = new NodeFeed(kafka, topics, config.groupId(), config.roles(), key);
    fleets =
        new FleetFeed(
            kafka, topics, sizes.events(), deaths -> watch.tell(new CoreWatch.Lost(deaths)));
    StateBudget budget = new StateBudget(config.stateBytes(), region());
    EndOffsets starts = EndOffsets.first(kafka, topics.events(), sizes.events());
    GroupMember member = new GroupMember(MemberKey.digest(key.open()));
    EventFeed feed =
        new EventFeed(asMember, topics.events(), config.groupId(), member, refused::complete);
    partitions =
        child(
            Partitions.create(
                p ->
                    partition(
                        p,
                        member,
                        new PartitionPeers(
                            images,
                            watch,
                            meters.partition(p),
                            budget,
                            () -> starts.ask().thenApply(all -> offset(all, p))),
                        feed.of(p)),
                p -> {
                  watch.tell(new CoreWatch.Left(p));
                  feed.of(p).tell(Feed.Closed.INSTANCE);
                }),
            "partitions");
    history = new HistoryWatch(meters);
    queries = new Queries(system, partitions, watch, sizes.events(), history);
    EndOffsets ends =
        new EndOffsets(kafka, topics.events(), sizes.events(), IsolationLevel.READ_UNCOMMITTED);
    EndOffsets anomalyEnds =
        new EndOffsets(kafka, topics.anomalies(), sizes.anomalies(), IsolationLevel.READ_COMMITTED);
    history.start(system, queries::measures, ends::ask);
    job = new Job(queries, nodes, fleets, config.http(), ends, config.limits());
    Windows windows = windows(images, meters);
    Optional<ControlRoutes> control = config.commandRules().map(rules -> control(rules, windows));
    ImageFeed imageFeed =
        new ImageFeed(kafka, sizes.imageEnds(), claims, images, meters, system.scheduler());
    if (config.roles().contains(Role.INGEST)) {
      events = Optional.of(feed);
    } else {
      seat = Optional.of(new QuerySeat(asMember, topics.nodes(), config.groupId()));
    }
    CoordinatedShutdown.get(system)
        .addTask(
            CoordinatedShutdown.PhaseServiceStop(),
            "readers",
            () ->
                CompletableFuture.supplyAsync(
                    () -> {
                      events.ifPresent(EventFeed::abort); // changes nothing where it has stopped
                      seat.ifPresent(QuerySeat::close);
                      history.close();
                      imageFeed.close();
                      imageReader.close();
                      claims.close();
                      fleets.close();
                      windows.close();
                      control.ifPresent(ControlRoutes::close);
                      job.close();
                      ends.close();
                      starts.close();
                      anomalyEnds.close();
                      return Done.done();
                    }));
    Scrape scrape =
        new Scrape(
            queries, meters, fleets, ends, job.watch(), config.groupId(), topics.events(), budget);
    api = api(windows, scrape, member, anomalyEnds, control);
    imageFeed.start();
    getContext()
        .ask(
            ImageRegistry.CaughtUp.class,
            images,
            START,
            ImageRegistry.AwaitCaughtUp::new,
            (_, why) ->
                why == null
                    ? ImagesRead.INSTANCE
                    : new Failed(new IOException("cannot read the images topic", why)));
  }

  private ActorRef<ImageRegistry.Command> images(
      ImageReader reader, ImageClaims claims, Meters meters) {
    long heap = Runtime.getRuntime().maxMemory();
    return child(
        ImageRegistry.create(
            Math.min(config.imageBytes(), heap / 8),
            Math.min(config.imagePlaceBytes(), heap / 16),
            reader,
            claims::write,
            meters),
        "images");
  }

  private Windows windows(ActorRef<ImageRegistry.Command> images, Meters meters) {
    PartitionSettings settings = config.partitionSettings();
    return new Windows(
        job,
        getContext().getSystem(),
        images,
        config.kafka(),
        config.topics().events(),
        settings.rules(),
        settings.names(),
        meters);
  }

  private ControlRoutes control(CommandRules rules, Windows windows) {
    return new ControlRoutes(
        getContext().getSystem(),
        config.kafka(),
        config.topics(),
        rules,
        config.http(),
        config.takesCommands(),
        job::progress,
        windows::image);
  }

  private HttpApi api(
      Windows windows,
      Scrape scrape,
      GroupMember member,
      EndOffsets anomalyEnds,
      Optional<ControlRoutes> control) {
    return new HttpApi(
        config.groupId(),
        job,
        windows,
        new Readiness(queries, events.map(_ -> member)),
        config.topics(),
        scrape,
        new AnomalyEvents(
            getContext().getSystem(),
            config.kafka(),
            config.topics().anomalies(),
            anomalyEnds,
            config.http().followersMax()),
        config.http(),
        control);
  }

  private Behavior<PartitionGraph.Command> partition(
      int partition, GroupMember member, PartitionPeers peers, Feed feed) {
    // a partition that fails stops; its feed then opens it again
    return Behaviors.supervise(
            PartitionGraph.create(
                partition,
                config.partitionSettings(),
                () ->
                    new KafkaLedger(
                        config.kafka(),
                        config.topics(),
                        config.groupId(),
                        partition,
                        member,
                        config.start(),
                        config.repairs()),
                peers,
                feed))
        .onFailure(SupervisorStrategy.stop());
  }

  private static OptionalLong offset(Optional<Map<Integer, Long>> all, int partition) {
    return all.map(found -> OptionalLong.of(found.get(partition))).orElse(OptionalLong.empty());
  }

  private CompletionStage<ServerBinding> bind() {
    var system = getContext().getSystem();
    var http = config.http();
    ServerBuilder server = Http.get(system).newServerAt(http.host(), http.port());
    return http.tls()
        .map(tls -> server.enableHttps(ConnectionContext.httpsServer(tls::engine)))
        .orElse(server)
        .bindFlow(api.flow(system));
  }

  private Failed cannotServe(Throwable why) {
    return new Failed(new IOException(config.http().cannotServe(why), why));
  }

  private void onBound(ServerBinding binding) {
    var system = getContext().getSystem();
    int port = binding.localAddress().getPort();
    job.watch().start();
    fleets.start();
    seat.ifPresent(QuerySeat::start);
    nodes.start(config.http().authority(port), config.http().url(port));
    var _ = refused.thenRun(system::terminate);
    events.ifPresent(feed -> feed.start(partitions));
    started.complete(new Pipeline(system, binding, config.http(), nodes, events, queries, refused));
  }

  /** Of G1's heap; 0 where another collector is used. */
  private static long region() {
    var options = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    return Long.parseLong(options.getVMOption("G1HeapRegionSize").getValue());
  }
}
