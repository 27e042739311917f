package dev.retstack.service.cluster;

import dev.retstack.service.nodes.NodeFeed;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.pekko.actor.Address;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.Cluster;
import org.apache.pekko.cluster.ClusterEvent.CurrentClusterState;
import org.apache.pekko.cluster.Member;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.remote.artery.ThisActorSystemQuarantinedEvent;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends splits, for a member that is in a cluster. The members that reach each other are a side; one
 * of them claims for it in Kafka when the others have been silent for long enough. The side that
 * was first puts the silent ones out; a side that was not puts itself out, and one that does not
 * reach Kafka as well. {@link SplitWatch} says when, {@link Sides} who.
 */
final class SplitResolver implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(SplitResolver.class);

  private final Cluster cluster;
  private final String self;
  private final NodeFeed nodes;
  private final Sides sides;
  private final SplitWatch watch;
  private final Strangers strangers = new Strangers();
  private final Duration stableAfter;
  private final Set<String> toldOut = new HashSet<>();
  private Set<String> silent = Set.of();

  /**
   * A resolver that has seen nothing.
   *
   * @param stableAfter how long the others are silent before a side claims
   */
  SplitResolver(Cluster cluster, NodeFeed nodes, Sides sides, Duration stableAfter) {
    this.cluster = cluster;
    this.self = MemberAddress.hostPort(cluster.selfMember().address());
    this.nodes = nodes;
    this.sides = sides;
    this.watch = new SplitWatch(stableAfter);
    this.stableAfter = stableAfter;
  }

  /** Looks who is there, and does what is due; to be called again and again. */
  void look() {
    tellOfSilence();
    resolve();
    endBesideALargerOne();
  }

  private Set<String> known() {
    Set<String> known = new HashSet<>();
    cluster
        .state()
        .getMembers()
        .forEach(member -> known.add(MemberAddress.hostPort(member.address())));
    return known;
  }

  private void resolve() {
    SplitWatch.View view = view();
    Set<String> due = watch.due(view, System.nanoTime());
    if (due.isEmpty()) {
      sides.renew(self, view.reached());
      return;
    }
    Set<String> goingOn = sides.goingOn(self, view.reached()).orElse(Set.of());
    if (goingOn.contains(self)) {
      for (String member : due) {
        if (!goingOn.contains(member)) {
          log.warn("member {} was silent for too long and is put out", member);
          toldOut.add(member);
          cluster.down(MemberAddress.of(cluster, member));
        }
      }
      return;
    }
    log.warn("split from {}, who go on: this side ends", goingOn.isEmpty() ? "Kafka" : goingOn);
    for (String member : view.reached()) {
      if (!goingOn.contains(member) && !member.equals(self)) {
        cluster.down(MemberAddress.of(cluster, member));
      }
    }
    cluster.down(cluster.selfMember().address());
  }

  /** What this member sees; who was put out already, or is about to be gone, does not count. */
  private SplitWatch.View view() {
    CurrentClusterState state = cluster.state();
    Set<Member> unreachable = state.getUnreachable();
    Set<String> reached = new HashSet<>();
    Set<String> gone = new HashSet<>();
    for (Member member : state.getMembers()) {
      if (!member.status().equals(MemberStatus.down())
          && !member.status().equals(MemberStatus.exiting())) {
        (unreachable.contains(member) ? gone : reached)
            .add(MemberAddress.hostPort(member.address()));
      }
    }
    boolean leads = cluster.selfMember().address().equals(state.getLeader());
    return new SplitWatch.View(reached, gone, leads);
  }

  private void endBesideALargerOne() {
    Set<String> own = view().reached();
    Set<String> known = known();
    Set<String> others =
        Joining.inCluster(nodes.self().getNode(), nodes.inOrder()).stream()
            .map(one -> one.cluster().address())
            .filter(address -> !known.contains(address))
            .collect(Collectors.toSet());
    if (!own.isEmpty() && strangers.areToStay(own, others, System.nanoTime())) {
      log.warn("another cluster of this group has the members {}: this one ends", others);
      cluster.down(cluster.selfMember().address());
    }
  }

  /** The others have put this member out, and it did not see it: it was frozen, or cut off. */
  Behavior<ThisActorSystemQuarantinedEvent> whenQuarantined() {
    return Behaviors.receiveMessage(
        event -> {
          Address by = event.remoteAddress().address();
          if (known().contains(MemberAddress.hostPort(by))) {
            log.warn("member {} has put this one out", MemberAddress.hostPort(by));
            cluster.down(cluster.selfMember().address());
          }
          return Behaviors.same();
        });
  }

  /** One line for each that goes silent, and one when it is back or out. */
  private void tellOfSilence() {
    SplitWatch.View view = view(); // the cluster keeps those that were put out for a while
    for (String one : view.silent()) {
      if (!silent.contains(one)) {
        log.warn(
            "member {} is silent, and is put out if it stays so for {} s: see whether it runs and"
                + " can be reached",
            one,
            stableAfter.toSeconds());
      }
    }
    for (String one : silent) {
      if (!view.silent().contains(one)) {
        boolean isBack = view.reached().contains(one);
        boolean isTold = toldOut.remove(one);
        if (isBack || !isTold) {
          log.warn("member {} is {}", one, isBack ? "back" : "out");
        }
      }
    }
    silent = view.silent();
  }

  @Override
  public void close() {
    sides.close();
  }
}
