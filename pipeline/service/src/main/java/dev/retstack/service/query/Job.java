package dev.retstack.service.query;

import dev.retstack.answers.history.History;
import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.question.QuerySource;
import dev.retstack.answers.question.View;
import dev.retstack.answers.question.WindowQuestion;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.state.Deaths;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.answers.view.Coverage;
import dev.retstack.answers.view.PartRow;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.state.RefusedCores;
import dev.retstack.graph.top.CoreSum;
import dev.retstack.graph.top.TopBuilder;
import dev.retstack.schema.Node;
import dev.retstack.schema.wire.NearNames;
import dev.retstack.service.identity.GroupRoll;
import dev.retstack.service.identity.SignedNode;
import dev.retstack.service.kafka.EndOffsets;
import dev.retstack.service.nodes.FleetFeed;
import dev.retstack.service.nodes.NodeFeed;
import dev.retstack.service.partition.PartitionPlaces;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Answers for the whole job: asks all members for their parts, including this one, and merges them.
 * The nodes topic names the running members. A part is taken from the member that committed its
 * partition last, by Kafka, and of that commit's epoch. A partition without one is reported as
 * missing.
 */
public final class Job implements AutoCloseable {
  /** The bytes of a state, and about as much again for what is read of them. */
  private static final int STATE_WEIGHT = 2;

  /** Those of how far cores came, and their rows. */
  private static final int CORES_WEIGHT = 3;

  private final Queries own;
  private final NodeFeed nodes;
  private final FleetFeed fleets;
  private final PeerWatch watch;
  private final PeerClient peers;
  private final EndOffsets ends;
  private final GraphLimits limits;
  private final HeapRoom room;

  /**
   * A member's view of its job.
   *
   * @param fleets which sessions have lost their fleets
   * @param ends of the events topic
   */
  public Job(
      Queries own,
      NodeFeed nodes,
      FleetFeed fleets,
      HttpSettings http,
      EndOffsets ends,
      GraphLimits limits) {
    this.own = own;
    this.nodes = nodes;
    this.fleets = fleets;
    this.peers = new PeerClient(http);
    this.watch = new PeerWatch(peers, nodes);
    this.ends = ends;
    this.limits = limits;
    this.room = new HeapRoom(http.heldBytesMax());
  }

  private static final int NEAR_MAX = 3;

  private record Gathered(Map<Integer, Part> parts, Coverage coverage) {}

  /** What the questions of this member hold. */
  HeapRoom room() {
    return room;
  }

  /**
   * All partitions, merged.
   *
   * @param share of the question, which it holds until it is answered
   */
  CompletionStage<View> view(HeapRoom.Share share) {
    share.weigh(STATE_WEIGHT);
    return gather(Part.Wanted.of(Part.Kind.STATE), share)
        .thenApplyAsync(
            found -> {
              Queue<StateCopy> copies = new ArrayDeque<>();
              found.parts().values().forEach(part -> copies.add(part.state(limits)));
              found.parts().clear();
              return new View(copies, found.coverage());
            });
  }

  /** How far each core came, as a question that nobody else holds a share for. */
  public CompletionStage<List<CoreProgress>> progress() {
    HeapRoom.Share share = room.share();
    return cores(share).thenApply(QuerySource.Cores::cores).whenComplete((_, _) -> share.close());
  }

  /** How far each core came, at any member. */
  CompletionStage<QuerySource.Cores> cores(HeapRoom.Share share) {
    share.weigh(CORES_WEIGHT);
    return gather(Part.Wanted.of(Part.Kind.CORES), share)
        .thenApply(
            found -> {
              List<CoreProgress> cores = new ArrayList<>();
              List<RefusedCores.Row> refused = new ArrayList<>();
              Deaths deaths = fleets.deaths();
              ForgottenSessions forgotten = ForgottenSessions.NONE;
              for (Part part : found.parts().values()) {
                Part.Cores own = part.cores();
                own.cores().forEach(core -> cores.add(core.with(deaths, part.nextOffset())));
                forgotten = forgotten.plus(own.forgotten());
                refused.addAll(own.refused());
              }
              cores.sort(Comparator.comparing(CoreProgress::key));
              return new QuerySource.Cores(cores, forgotten, refused, found.coverage());
            });
  }

  /** What all partitions add up to, of which no state is copied. */
  CompletionStage<QuerySource.Totals> totals(HeapRoom.Share share) {
    return gather(Part.Wanted.of(Part.Kind.TOTALS), share)
        .thenApplyAsync(
            found -> {
              TopBuilder totals = new TopBuilder();
              found.parts().values().forEach(part -> part.addTotals(totals));
              return new QuerySource.Totals(totals, states(found.parts()), found.coverage());
            });
  }

  /**
   * Where the chunks of cores stand in the log.
   *
   * @param partitions those that answered
   * @param near names that may be meant, where no core is
   */
  record Places(List<PartitionPlaces> partitions, List<String> near, Coverage coverage) {
    Places {
      partitions = List.copyOf(partitions);
      near = List.copyOf(near);
    }
  }

  /**
   * Where the chunks of the cores that are meant stand in the log; no state is copied.
   *
   * @param kind that, or also what they did when
   */
  CompletionStage<Places> places(WindowQuestion question, Part.Kind kind, HeapRoom.Share share) {
    return gather(new Part.Wanted(kind, question.core(), question.session()), share)
        .thenComposeAsync(
            found -> {
              List<PartitionPlaces> partitions =
                  found.parts().values().stream().map(part -> part.places(limits)).toList();
              return partitions.stream().allMatch(one -> one.cores().isEmpty())
                  ? cores(share)
                      .thenApply(
                          all ->
                              new Places(partitions, near(question, all.cores()), found.coverage()))
                  : CompletableFuture.completedStage(
                      new Places(partitions, List.of(), found.coverage()));
            });
  }

  /**
   * Names that are nearly those of the question, of cores or, where that core is there, sessions.
   */
  private static List<String> near(WindowQuestion question, List<CoreProgress> cores) {
    Set<String> others = new LinkedHashSet<>();
    for (CoreProgress core : cores) {
      boolean named = question.core().isEmpty() || question.core().equals(core.key().core());
      others.add(named ? core.key().session() : core.key().core());
    }
    String wanted = question.core().isEmpty() ? question.session() : question.core();
    return NearNames.of(wanted, others, NEAR_MAX);
  }

  /** What all members report of their past; no partition is asked. */
  CompletionStage<QuerySource.Past> past(HeapRoom.Share share) {
    List<CompletableFuture<PeerClient.MemberAnswer>> asked =
        ask(Part.Wanted.of(Part.Kind.HISTORY), share);
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
        .thenApply(
            _ -> {
              share.requireAlone();
              List<History.Past> told = new ArrayList<>();
              List<String> missing = new ArrayList<>();
              for (PeerClient.MemberAnswer said :
                  asked.stream().map(CompletableFuture::join).toList()) {
                for (Part part : said.parts()) {
                  if (part.isAbsent()) {
                    missing.add(said.node().getNode() + ": " + part.absent());
                  } else {
                    told.add(part.history());
                  }
                }
                if (!said.failure().isEmpty()) {
                  missing.add(said.node().getNode() + ": " + said.failure());
                }
              }
              return new QuerySource.Past(History.merge(told), told.size(), missing);
            });
  }

  private Function<CoreSum, String> states(Map<Integer, Part> parts) {
    Deaths deaths = fleets.deaths();
    return core -> {
      Part part = parts.get(core.partition());
      boolean dead =
          core.end() == CoreEnd.RUNNING
              && part != null
              && deaths
                  .since(core.key().session(), core.partition(), part.nextOffset())
                  .isPresent();
      return dead ? CoreProgress.DEAD : core.end().name();
    };
  }

  /** Members that run, this one first. */
  NodeFeed nodes() {
    return nodes;
  }

  /** Which of the others this member reaches. */
  public PeerWatch watch() {
    return watch;
  }

  /** Partitions that this member owns, one after the other. */
  Queries own() {
    return own;
  }

  private CompletionStage<Gathered> gather(Part.Wanted wanted, HeapRoom.Share share) {
    long start = System.nanoTime();
    List<CompletableFuture<PeerClient.MemberAnswer>> asked = ask(wanted, share);
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
        .thenCompose(_ -> believed(asked.stream().map(CompletableFuture::join).toList()))
        .thenCombine(
            ends.ask(),
            (said, end) -> {
              share.requireAlone();
              return put(said, end, (System.nanoTime() - start) / 1_000_000);
            });
  }

  /** All members, this one first. */
  private List<CompletableFuture<PeerClient.MemberAnswer>> ask(
      Part.Wanted wanted, HeapRoom.Share share) {
    List<CompletableFuture<PeerClient.MemberAnswer>> asked = new ArrayList<>();
    asked.add(
        own.parts(wanted, share)
            .thenApply(parts -> new PeerClient.MemberAnswer(nodes.self(), parts, ""))
            .toCompletableFuture());
    Map<String, String> unreachable = watch.unreachable();
    for (Node node : nodes.others()) {
      asked.add(peers.ask(node, wanted, share, unreachable.containsKey(node.getNode())));
    }
    return asked;
  }

  /** Kafka is asked once more where a part does not agree with what it said some seconds ago. */
  private CompletionStage<List<PeerClient.MemberAnswer>> believed(
      List<PeerClient.MemberAnswer> said) {
    GroupRoll.Roll known = nodes.roll();
    boolean doubted =
        said.stream()
            .anyMatch(one -> one.parts().stream().anyMatch(p -> doubt(known, one, p).isPresent()));
    CompletionStage<GroupRoll.Roll> roll =
        doubted
            ? CompletableFuture.supplyAsync(nodes::rollNow, Thread::startVirtualThread)
            : CompletableFuture.completedStage(known);
    return roll.thenApply(
        now ->
            said.stream()
                .map(
                    one ->
                        new PeerClient.MemberAnswer(
                            one.node(),
                            one.parts().stream().map(part -> believed(now, one, part)).toList(),
                            one.failure()))
                .toList());
  }

  private Part believed(GroupRoll.Roll roll, PeerClient.MemberAnswer from, Part part) {
    return doubt(roll, from, part).map(why -> Part.absent(part.partition(), why)).orElse(part);
  }

  /** This member believes itself, until Kafka says that another one has the partition now. */
  private Optional<String> doubt(GroupRoll.Roll roll, PeerClient.MemberAnswer from, Part part) {
    String key = SignedNode.digest(from.node());
    boolean isSelf = from.node().equals(nodes.self());
    if (part.isAbsent() || (isSelf && !roll.isReplaced(part.partition(), key, part.epoch()))) {
      return Optional.empty();
    }
    return roll.doubt(part.partition(), key, part.epoch());
  }

  private Gathered put(
      List<PeerClient.MemberAnswer> said, Optional<Map<Integer, Long>> ends, long ageMillis) {
    Map<Integer, Part> best = new TreeMap<>();
    Map<Integer, String> from = new HashMap<>();
    for (PeerClient.MemberAnswer one : said) {
      for (Part part : one.parts()) {
        Part other = best.get(part.partition());
        if (other == null || part.beats(other)) {
          best.put(part.partition(), part);
          from.put(part.partition(), one.node().getNode());
        }
      }
    }
    best.keySet().removeIf(partition -> partition >= own.partitionCount());
    String failures =
        said.stream()
            .filter(one -> !one.failure().isEmpty())
            .map(one -> one.node().getNode() + ": " + one.failure())
            .collect(Collectors.joining("; "));
    List<PartRow> rows = new ArrayList<>();
    for (int p = 0; p < own.partitionCount(); p++) {
      Part part = best.get(p);
      if (part == null) {
        String others = failures.isEmpty() ? "" : "; no answer from " + failures;
        rows.add(PartRow.missing(p, "no member that answers has it now" + others));
      } else if (part.isAbsent()) {
        rows.add(PartRow.missing(p, from.get(p) + ": " + part.absent()));
        best.remove(p);
      } else {
        rows.add(row(part, from.get(p), ends, ageMillis));
      }
    }
    return new Gathered(best, Coverage.of(rows));
  }

  private static PartRow row(
      Part part, String node, Optional<Map<Integer, Long>> ends, long ageMillis) {
    OptionalLong lag =
        ends.map(all -> all.get(part.partition()))
            .map(end -> OptionalLong.of(lag(end, part)))
            .orElse(OptionalLong.empty());
    return new PartRow(
        part.partition(),
        node,
        part.epoch(),
        part.nextOffset(),
        lag,
        part.waiting(),
        ageMillis,
        "");
  }

  private static long lag(long end, Part part) {
    return Math.max(0, end - part.nextOffset()) + part.waiting().chunks();
  }

  @Override
  public void close() {
    watch.close();
    peers.close();
  }
}
