package dev.retstack.service.cluster;

import dev.retstack.service.nodes.ClusterMark;
import dev.retstack.service.nodes.NodeFeed;
import dev.retstack.service.nodes.NodeTable;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.apache.pekko.Done;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.eventstream.EventStream;
import org.apache.pekko.actor.typed.javadsl.Adapter;
import org.apache.pekko.cluster.Cluster;
import org.apache.pekko.cluster.Member;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.remote.artery.ThisActorSystemQuarantinedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member's place in the cluster: gets it in, as {@link Joining} says, tells who else is there and
 * can be reached, and has splits resolved. Runs on a thread of its own until closed.
 */
public final class Membership implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Membership.class);

  /** What a member is that does not answer; the others are in the cluster's own words. */
  public static final String UNREACHABLE = "unreachable";

  private static final List<String> STATES =
      List.of("joining", "weaklyup", "up", "leaving", "exiting", "down", UNREACHABLE);

  private static final long LOOK_MILLIS = 250;

  /** A join that came to nothing is tried again, with the addresses of then. */
  private static final Duration AGAIN = Duration.ofSeconds(5);

  /** After this time a member that cannot join says so. */
  private static final Duration COMPLAIN = Duration.ofSeconds(20);

  private final Cluster cluster;
  private final Discovery discovery;
  private final NodeFeed nodes;
  private final SplitResolver splits;
  private final CompletableFuture<Done> joined = new CompletableFuture<>();
  private final Thread thread;
  private final long beganNanos = System.nanoTime();
  private long askedNanos = beganNanos - AGAIN.toNanos();
  private boolean hasComplained;
  private volatile boolean closed;

  /**
   * The membership of a system that others can join.
   *
   * @param nodes announces it, and hears of others
   */
  public Membership(ActorSystem<?> system, ClusterSettings settings, NodeFeed nodes, Sides sides) {
    this.cluster = Cluster.get(Adapter.toClassic(system));
    this.discovery = settings.discovery();
    this.nodes = nodes;
    this.splits = new SplitResolver(cluster, nodes, sides, settings.stableAfter());
    system
        .eventStream()
        .tell(
            new EventStream.Subscribe<>(
                ThisActorSystemQuarantinedEvent.class,
                system.systemActorOf(splits.whenQuarantined(), "put-out", Props.empty())));
    this.thread = Thread.ofPlatform().daemon().name("retstack-membership").unstarted(this::run);
  }

  /** Where others can join this member. */
  public String address() {
    return MemberAddress.hostPort(cluster.selfMember().address());
  }

  /** Begins to join. */
  public void start() {
    nodes.joinAt(new ClusterMark(address(), false));
    thread.start();
  }

  /** Completes when this member is in a cluster: others of it know of this one. */
  public CompletionStage<Done> joined() {
    return joined;
  }

  /** Status of each member, such as {@code up} or {@code unreachable}, by its address. */
  public Map<String, String> members() {
    Set<Member> silentNow = cluster.state().getUnreachable();
    Map<String, String> members = new TreeMap<>();
    for (Member member : cluster.state().getMembers()) {
      String status =
          silentNow.contains(member)
              ? UNREACHABLE
              : member.status().toString().toLowerCase(java.util.Locale.ROOT);
      members.put(MemberAddress.hostPort(member.address()), status);
    }
    return members;
  }

  /** How many members are in each state; 0 is said as well. */
  public Map<String, Long> counts() {
    Map<String, Long> counts = new TreeMap<>();
    for (String state : STATES) {
      counts.put(state, 0L);
    }
    members().values().forEach(state -> counts.merge(state, 1L, Long::sum));
    return counts;
  }

  private void run() {
    while (!closed && !cluster.isTerminated()) {
      try {
        look();
      } catch (IOException | IllegalArgumentException | KafkaException e) {
        // what others announce may be anything
        log.warn("the cluster cannot be looked after: {}; trying again", e.getMessage());
      }
      pause();
    }
    splits.close();
  }

  private void look() throws IOException {
    if (isMember()) {
      if (joined.complete(Done.done())) {
        nodes.joinAt(new ClusterMark(address(), true));
      }
      splits.look();
    } else if (!joined.isDone() && System.nanoTime() - askedNanos >= AGAIN.toNanos()) {
      askedNanos = System.nanoTime(); // also where whoever knows the others does not answer
      if (!act(Joining.next(nodes.self().getNode(), nodes.inOrder()))) {
        askedNanos -= AGAIN.toNanos();
      }
      if (!hasComplained && System.nanoTime() - beganNanos > COMPLAIN.toNanos()) {
        hasComplained = true;
        complain();
      }
    }
  }

  private boolean isMember() {
    MemberStatus status = cluster.selfMember().status();
    return !status.equals(MemberStatus.removed()) && !status.equals(MemberStatus.down());
  }

  /** True where something was begun that takes its time. */
  private boolean act(Joining.Step step) throws IOException {
    switch (step) {
      case WAIT -> {
        return false;
      }
      case FOUND -> cluster.join(cluster.selfMember().address());
      case JOIN -> {
        List<NodeTable.Announced> there =
            Joining.inCluster(nodes.self().getNode(), nodes.inOrder());
        Set<Address> addresses =
            discovery.addresses(there).stream()
                .map(one -> MemberAddress.of(cluster, one))
                .filter(address -> !address.equals(cluster.selfMember().address()))
                .collect(Collectors.toCollection(LinkedHashSet::new));
        if (!addresses.isEmpty()) {
          cluster.joinSeedNodes(List.copyOf(addresses));
        }
      }
    }
    return true;
  }

  private void complain() {
    List<NodeTable.Announced> there = Joining.inCluster(nodes.self().getNode(), nodes.inOrder());
    String others =
        there.stream().map(one -> one.cluster().address()).collect(Collectors.joining(", "));
    log.error(
        "cannot join the other members at {}: they run and cannot be reached from {}; this member"
            + " takes no partitions until it can: see that both ways are open",
        others.isEmpty() ? "any address" : others,
        address());
  }

  private void pause() {
    try {
      Thread.sleep(LOOK_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      closed = true;
    }
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
  }
}
