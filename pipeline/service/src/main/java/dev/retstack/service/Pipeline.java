package dev.retstack.service;

import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.question.View;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.service.consume.EventFeed;
import dev.retstack.service.kafka.OtherVersionException;
import dev.retstack.service.nodes.NodeFeed;
import dev.retstack.service.progress.CoreWatch;
import dev.retstack.service.query.Queries;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.pekko.Done;
import org.apache.pekko.actor.CoordinatedShutdown;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.ServerBinding;

/** A running member of the pipeline. Safe for use by several threads. */
public final class Pipeline implements AutoCloseable {
  private static final Duration LAST_REQUESTS = Duration.ofSeconds(5);

  private final ActorSystem<?> system;
  private final ServerBinding binding;
  private final HttpSettings http;
  private final Queries queries;
  private final CompletableFuture<OtherVersionException> refused;
  private final AtomicBoolean aborted = new AtomicBoolean();

  Pipeline(
      ActorSystem<?> system,
      ServerBinding binding,
      HttpSettings http,
      NodeFeed nodes,
      Optional<EventFeed> events,
      Queries queries,
      CompletableFuture<OtherVersionException> refused) {
    this.system = system;
    this.binding = binding;
    this.http = http;
    this.queries = queries;
    this.refused = refused;
    // other members learn of it first: from now on this member gives no parts
    onShutdown(
        CoordinatedShutdown.PhaseBeforeServiceUnbind(),
        "nodes",
        () ->
            CompletableFuture.supplyAsync(
                () -> {
                  nodes.close();
                  return Done.done();
                }));
    onShutdown(
        CoordinatedShutdown.PhaseServiceUnbind(),
        "http",
        () -> binding.terminate(LAST_REQUESTS).thenApply(_ -> Done.done()));
    onShutdown(
        CoordinatedShutdown.PhaseServiceRequestsDone(),
        "partitions",
        () ->
            events
                .map(EventFeed::stop)
                .orElseGet(() -> CompletableFuture.completedFuture(Done.done())));
  }

  /** Why it ended by itself, where the state that it was given is of another version. */
  public Optional<OtherVersionException> refusal() {
    return Optional.ofNullable(refused.getNow(null));
  }

  /** Completes when it has stopped, for whatever reason. */
  public CompletionStage<Done> stopped() {
    return system.getWhenTerminated();
  }

  private void onShutdown(String phase, String name, Supplier<CompletionStage<Done>> task) {
    CoordinatedShutdown.get(system)
        .addTask(
            phase,
            name,
            () -> aborted.get() ? CompletableFuture.completedFuture(Done.done()) : task.get());
  }

  /** Where others reach the HTTP side, such as {@code http://127.0.0.1:8080}. */
  public URI httpUri() {
    return http.url(binding.localAddress().getPort());
  }

  /**
   * Completes when this member has seen all of these cores end, each with its last chunk in the
   * state of a partition that this one had then, or their fleets are gone and all is in the state
   * that they had sent.
   */
  public CompletionStage<CoreWatch.Ended> awaitCoresEnded(Set<CoreKey> cores) {
    return queries.ended(cores, cores.size());
  }

  /** Completes when it has seen this many cores that ended or are dead, whichever they are. */
  public CompletionStage<CoreWatch.Ended> awaitCoresEnded(int count) {
    return queries.ended(Set.of(), count);
  }

  /** How far each core of this member's partitions came. */
  public CompletionStage<List<CoreProgress>> progress() {
    return queries.cores();
  }

  /** Everything this member holds, as it is now: report, trees, anomalies. */
  public CompletionStage<View> view() {
    return queries.view();
  }

  /** Completes with the partitions this member owns, each with its state loaded. */
  public CompletionStage<List<Integer>> openPartitions(Duration patience) {
    return queries.open(patience);
  }

  /**
   * Drains the stream, writes the last checkpoints, leaves the group; completes when it is over.
   */
  public CompletionStage<Done> stop() {
    system.terminate();
    return system.getWhenTerminated();
  }

  /** Stops without a last checkpoint, in the middle of whatever is under way: for tests. */
  CompletionStage<Done> abort() {
    aborted.set(true);
    return stop();
  }

  /** Stops in order and waits for it. */
  @Override
  public void close() {
    stop().toCompletableFuture().join();
  }
}
