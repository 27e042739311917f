package dev.retstack.service.query;

import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.question.View;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.service.partition.PartitionGraph;
import dev.retstack.service.partition.PartitionMeasure;
import dev.retstack.service.partition.PartitionPlaces;
import dev.retstack.service.partition.PartitionTotals;
import dev.retstack.service.partition.Partitions;
import dev.retstack.service.progress.CoreWatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;

/** Asks the partitions of this member. Answers are made from copies, and the stream continues. */
public final class Queries {
  private static final Duration ANSWER = Duration.ofSeconds(30);

  /** Partitions of this member that are asked at once. */
  private static final int AT_ONCE = 4;

  private static final Duration MEASURE = Duration.ofSeconds(3);

  /** Cores may run for months. Pekko's scheduler takes at most 248 days. */
  private static final Duration ENDS = Duration.ofDays(200);

  private final ActorSystem<?> system;
  private final ActorRef<Partitions.Command> partitions;
  private final ActorRef<CoreWatch.Command> watch;
  private final int partitionCount;
  private final HistoryWatch history;

  public Queries(
      ActorSystem<?> system,
      ActorRef<Partitions.Command> partitions,
      ActorRef<CoreWatch.Command> watch,
      int partitionCount,
      HistoryWatch history) {
    this.system = system;
    this.partitions = partitions;
    this.watch = watch;
    this.partitionCount = partitionCount;
    this.history = history;
  }

  /** A merged copy of what this member holds now. */
  public CompletionStage<View> view() {
    return eachOwned(
            (_, graph) ->
                AskPattern.<PartitionGraph.Command, StateCopy>ask(
                    graph, PartitionGraph.Copy::new, ANSWER, system.scheduler()))
        .thenApplyAsync(copies -> new View(copies, partitionCount));
  }

  /** What this member gives of each of its partitions; always answers. */
  CompletionStage<List<Part>> parts(Part.Wanted wanted, HeapRoom.Share room) {
    CompletionStage<List<Part>> parts =
        switch (wanted.kind()) {
          // small, and asked often: no stream is made for them
          case CORES, TOTALS, PLACES, TILES ->
              eachOwned((partition, graph) -> part(partition, graph, wanted, Part::local, room));
          case STATE, HISTORY -> partStream(wanted, room, AT_ONCE).runWith(Sink.seq(), system);
        };
    return parts.exceptionally(_ -> List.of()); // no list of partitions: none is there
  }

  /**
   * A stream of the member's parts, each made as it is taken. A part without room is left out.
   *
   * @param room of which each part takes its bytes
   * @param atOnce number of parts that are made ahead
   */
  Source<Part, NotUsed> partStream(Part.Wanted wanted, HeapRoom.Share room, int atOnce) {
    if (wanted.kind() == Part.Kind.HISTORY) {
      return Source.single(roomFor(Part.of(history.curves()), 0, room)); // asks no partition
    }
    return Source.completionStage(owned())
        .mapConcat(owned -> owned.graphs().entrySet())
        .mapAsync(atOnce, entry -> part(entry.getKey(), entry.getValue(), wanted, Part::of, room));
  }

  /**
   * A part, or an absent one.
   *
   * @param places makes a part of those that were found
   */
  private CompletionStage<Part> part(
      int partition,
      ActorRef<PartitionGraph.Command> graph,
      Part.Wanted wanted,
      Function<PartitionPlaces, Part> places,
      HeapRoom.Share room) {
    Function<Part, Part> held = part -> roomFor(part, 0, room);
    CompletionStage<Optional<Part>> loaded =
        switch (wanted.kind()) {
          case STATE -> stateOf(partition, graph, room);
          case CORES -> coresOf(graph).thenApply(part -> part.map(held));
          case TOTALS -> totalsOf(graph).thenApply(part -> part.map(held));
          case PLACES, TILES -> placesOf(graph, wanted, places).thenApply(part -> part.map(held));
          case HISTORY -> throw new IllegalStateException("it is of no partition");
        };
    return loaded
        .thenApply(
            part -> part.orElseGet(() -> Part.absent(partition, "its state is being loaded")))
        .exceptionally(_ -> Part.absent(partition, "it does not answer; it may be moving"));
  }

  /**
   * What is made of the weight of a partition; nothing until its state is loaded.
   *
   * @param bytes whether its size is asked for too
   */
  private <T> CompletionStage<Optional<T>> loaded(
      ActorRef<PartitionGraph.Command> graph,
      boolean bytes,
      Function<PartitionGraph.Weight, CompletionStage<T>> made) {
    return AskPattern.<PartitionGraph.Command, PartitionGraph.Weight>ask(
            graph, to -> new PartitionGraph.Weigh(bytes, to), ANSWER, system.scheduler())
        .thenCompose(
            weight ->
                weight.open()
                    ? made.apply(weight).thenApply(Optional::of)
                    : CompletableFuture.completedFuture(Optional.empty()));
  }

  /** A copy of the state, which is not made where there is no room for it. */
  private CompletionStage<Optional<Part>> stateOf(
      int partition, ActorRef<PartitionGraph.Command> graph, HeapRoom.Share room) {
    return loaded(
        graph,
        true,
        weight -> {
          long expected = weight.stateBytes(); // more or less
          Optional<String> refusal = room.take(partition, expected);
          if (refusal.isPresent()) {
            return CompletableFuture.completedFuture(Part.absent(partition, refusal.get()));
          }
          return AskPattern.<PartitionGraph.Command, StateCopy>ask(
                  graph, PartitionGraph.Copy::new, ANSWER, system.scheduler())
              .thenApply(copy -> roomFor(Part.of(copy), expected, room));
        });
  }

  /**
   * This part, or an absent one where there is no room for it.
   *
   * @param reserved bytes that were taken for it already
   */
  private static Part roomFor(Part part, long reserved, HeapRoom.Share room) {
    long more = part.bytes() - reserved;
    if (more <= 0) {
      room.giveBack(-more);
      return part;
    }
    Optional<String> refusal = room.take(part.partition(), more);
    if (refusal.isEmpty()) {
      return part;
    }
    room.giveBack(reserved);
    return Part.absent(part.partition(), refusal.get());
  }

  private CompletionStage<Optional<Part>> totalsOf(ActorRef<PartitionGraph.Command> graph) {
    return AskPattern.<PartitionGraph.Command, Optional<PartitionTotals>>ask(
            graph, PartitionGraph.Totals::new, ANSWER, system.scheduler())
        .thenApplyAsync(totals -> totals.map(Part::of)); // the partition applies chunks meanwhile
  }

  private CompletionStage<Optional<Part>> placesOf(
      ActorRef<PartitionGraph.Command> graph,
      Part.Wanted wanted,
      Function<PartitionPlaces, Part> part) {
    return AskPattern.<PartitionGraph.Command, Optional<PartitionPlaces>>ask(
            graph,
            to ->
                new PartitionGraph.Places(
                    wanted.core(),
                    wanted.session(),
                    Windows.CORES_MAX + 1,
                    wanted.kind() == Part.Kind.TILES,
                    to),
            ANSWER,
            system.scheduler())
        .thenApplyAsync(places -> places.map(part));
  }

  private CompletionStage<Optional<Part>> coresOf(ActorRef<PartitionGraph.Command> graph) {
    return loaded(
        graph,
        false,
        _ ->
            AskPattern.<PartitionGraph.Command, PartitionMeasure>ask(
                    graph, PartitionGraph.Measure::new, ANSWER, system.scheduler())
                .thenCombine(cores(), Part::of));
  }

  private CompletionStage<Partitions.Owned> owned() {
    return AskPattern.ask(partitions, Partitions.AskOwned::new, ANSWER, system.scheduler());
  }

  /**
   * Partitions owned and open: their numbers, once each of them has loaded its state. One that
   * cannot, or goes to another member meanwhile, is not among them.
   */
  public CompletionStage<List<Integer>> open(Duration patience) {
    return eachOwned(
            (partition, graph) ->
                AskPattern.<PartitionGraph.Command, Long>askWithStatus(
                        graph, PartitionGraph.AwaitOpen::new, patience, system.scheduler())
                    .thenApply(_ -> Optional.of(partition))
                    .exceptionally(_ -> Optional.empty()))
        .thenApply(open -> open.stream().flatMap(Optional::stream).toList());
  }

  /** Where each owned partition stands, in numbers; empty for those that do not answer soon. */
  public CompletionStage<Map<Integer, Optional<PartitionMeasure>>> measures() {
    return eachOwned(
            (partition, graph) ->
                AskPattern.<PartitionGraph.Command, PartitionMeasure>ask(
                        graph, PartitionGraph.Measure::new, MEASURE, system.scheduler())
                    .thenApply(Optional::of)
                    .exceptionally(_ -> Optional.empty())
                    .thenApply(measure -> Map.entry(partition, measure)))
        .thenApply(
            found -> {
              Map<Integer, Optional<PartitionMeasure>> measures = new TreeMap<>();
              found.forEach(entry -> measures.put(entry.getKey(), entry.getValue()));
              return measures;
            });
  }

  /** How far each core came. */
  public CompletionStage<List<CoreProgress>> cores() {
    return AskPattern.<CoreWatch.Command, CoreWatch.Answer>ask(
            watch, CoreWatch.Ask::new, ANSWER, system.scheduler())
        .thenApply(CoreWatch.Answer::cores);
  }

  /** Completes when these cores have ended, or any {@code count}; or are dead, which it says. */
  public CompletionStage<CoreWatch.Ended> ended(Set<CoreKey> cores, int count) {
    return AskPattern.ask(
        watch, to -> new CoreWatch.AwaitEnded(cores, count, to), ENDS, system.scheduler());
  }

  /** Partitions of the events topic. */
  public int partitionCount() {
    return partitionCount;
  }

  private <T> CompletionStage<List<T>> eachOwned(
      BiFunction<Integer, ActorRef<PartitionGraph.Command>, CompletionStage<T>> question) {
    return owned()
        .thenCompose(
            owned -> {
              List<CompletableFuture<T>> asked = new ArrayList<>();
              owned
                  .graphs()
                  .forEach(
                      (partition, graph) ->
                          asked.add(question.apply(partition, graph).toCompletableFuture()));
              return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
                  .thenApply(_ -> asked.stream().map(CompletableFuture::join).toList());
            });
  }
}
