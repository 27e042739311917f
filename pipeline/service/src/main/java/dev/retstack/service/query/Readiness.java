package dev.retstack.service.query;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.service.kafka.GroupMember;
import dev.retstack.service.partition.PartitionMeasure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/**
 * Whether this member can be asked, and others be stopped. It becomes ready when it is in its group
 * and each of its partitions is open, with a checkpoint that Kafka committed. So a roll stops at
 * the first member that could not do the others' work. From then on it stays ready, unless the
 * state of a partition cannot be used: no time helps that, and it must not go unseen. A partition
 * that is loaded later, or a broker that takes no writes, is only reported: any member answers for
 * all, and if Kafka is at fault all would leave together.
 */
public final class Readiness {
  private final Queries queries;
  private final Optional<GroupMember> group;
  private volatile boolean wasReady;

  /**
   * Not ready yet.
   *
   * @param group what the member was given; empty where it takes no partitions
   */
  public Readiness(Queries queries, Optional<GroupMember> group) {
    this.queries = queries;
    this.group = group;
  }

  /**
   * What was found.
   *
   * @param isIn whether the group has assigned partitions to this member
   * @param open partitions with their state
   * @param loading partitions that it was given, and has not opened or that do not answer
   * @param leftAlone those that it was given, and whose state it cannot use
   * @param pending time for which Kafka has not taken a checkpoint, of the partition that waits
   *     longest
   */
  record Found(
      boolean isReady,
      boolean isIn,
      List<Integer> open,
      List<Integer> loading,
      List<Integer> leftAlone,
      Duration pending) {
    Found {
      open = List.copyOf(open);
      loading = List.copyOf(loading);
      leftAlone = List.copyOf(leftAlone);
    }

    /** Why it is not ready. */
    String fact() {
      if (!leftAlone.isEmpty()) {
        return "the state of partitions %s cannot be used, and they are left alone"
            .formatted(list(leftAlone));
      }
      return isIn
          ? "partitions %s are still being loaded".formatted(list(loading))
          : "this member is not in its consumer group yet";
    }

    /** What to do about that. */
    String cure() {
      if (!leftAlone.isEmpty()) {
        return "the log says why; start this member with --repair to rebuild them from events";
      }
      return isIn
          ? "ask again in a moment; if it lasts, see that brokers take writes: a partition opens"
              + " with a checkpoint that Kafka has committed"
          : "ask again in a moment; if it lasts, the log says what it waits for: Kafka, or the"
              + " other members";
    }

    private static String list(List<Integer> partitions) {
      return partitions.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }

    String json() {
      ObjectNode json = JsonNodeFactory.instance.objectNode().put("status", "ready");
      ArrayNode numbers = json.putArray("loading");
      loading.forEach(numbers::add);
      return json.put("checkpointPendingSeconds", pending.toMillis() / 1e3) + "\n";
    }
  }

  /** Looks now. */
  CompletionStage<Found> look() {
    return queries.measures().thenApply(this::found);
  }

  private Found found(Map<Integer, Optional<PartitionMeasure>> measures) {
    List<Integer> open = new ArrayList<>();
    Set<Integer> loading = new TreeSet<>(measures.keySet());
    group.ifPresent(member -> loading.addAll(member.toOpen()));
    measures.forEach(
        (partition, measure) -> {
          if (measure.filter(PartitionMeasure::open).isPresent()) {
            open.add(partition);
            loading.remove(partition);
          }
        });
    Duration pending =
        measures.values().stream()
            .flatMap(Optional::stream)
            .map(PartitionMeasure::checkpointPending)
            .max(Comparator.naturalOrder())
            .orElse(Duration.ZERO);
    boolean isIn = group.map(GroupMember::isIn).orElse(true);
    List<Integer> leftAlone =
        group.map(member -> List.copyOf(member.leftAlone())).orElse(List.of());
    if (isIn && loading.isEmpty() && leftAlone.isEmpty()) {
      wasReady = true;
    }
    return new Found(
        wasReady && leftAlone.isEmpty(), isIn, open, List.copyOf(loading), leftAlone, pending);
  }
}
