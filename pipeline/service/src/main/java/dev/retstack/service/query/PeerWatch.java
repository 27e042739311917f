package dev.retstack.service.query;

import dev.retstack.schema.Node;
import dev.retstack.service.nodes.NodeFeed;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which of the other members this one reaches over HTTP, checked every few seconds. No result
 * depends on it: only Kafka decides who owns a partition, and an unreachable member continues. Its
 * parts are missing in the answers of others, with the reason.
 */
public final class PeerWatch implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PeerWatch.class);
  private static final long INTERVAL_SECONDS = 3;

  private final PeerClient peers;
  private final NodeFeed nodes;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("retstack-peers").factory());
  private volatile Map<String, String> unreachable = Map.of();

  PeerWatch(PeerClient peers, NodeFeed nodes) {
    this.peers = peers;
    this.nodes = nodes;
  }

  /** Begins to look. */
  public void start() {
    var _ =
        timer.scheduleWithFixedDelay(
            this::lookAgain, INTERVAL_SECONDS, INTERVAL_SECONDS, TimeUnit.SECONDS);
  }

  /** The timer would end in silence with the first exception. */
  private void lookAgain() {
    try {
      look();
    } catch (RuntimeException e) {
      log.warn("the other members could not be asked: {}; trying again", e.toString());
    }
  }

  /** Members that run, by Kafka, and cannot be reached from here: why, by their name. */
  public Map<String, String> unreachable() {
    return unreachable;
  }

  /** How many of the members that run are reached, this one among them, and how many are not. */
  Map<String, Long> counts() {
    Map<String, String> silent = unreachable;
    List<Node> others = nodes.others();
    long count = others.stream().filter(node -> silent.containsKey(node.getNode())).count();
    return Map.of("up", 1 + others.size() - count, "unreachable", count);
  }

  private void look() {
    Map<String, CompletableFuture<String>> asked = new TreeMap<>();
    for (Node node : nodes.others()) {
      asked.put(node.getNode(), peers.look(node));
    }
    Map<String, String> found = new TreeMap<>();
    asked.forEach(
        (node, answer) -> {
          String why = answer.join();
          if (!why.isEmpty()) {
            found.put(node, why);
          }
        });
    Map<String, String> before = unreachable;
    unreachable = Map.copyOf(found);
    found.forEach(
        (node, why) -> {
          if (!before.containsKey(node)) {
            log.warn(
                "member {} runs and cannot be reached from here: {}; its partitions are missing in"
                    + " the answers of this member",
                node,
                why);
          }
        });
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
