package dev.retstack.service.identity;

import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.Reason;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;

/**
 * Members of a job's consumer group, as Kafka reports them: keys of members, the partitions of
 * events that the group gave to each, and the member that committed each last. Members without
 * partitions sit in a group beside it.
 */
public final class GroupRoll implements AutoCloseable {
  /**
   * What Kafka said.
   *
   * @param given by the digest of a member's key, the partitions that the group gave to it
   * @param holders who committed a partition last
   */
  public record Roll(Map<String, Set<Integer>> given, Map<Integer, Holder> holders) {
    /** A roll without members. */
    public static final Roll EMPTY = new Roll(Map.of(), Map.of());

    public Roll {
      given = Map.copyOf(given);
      holders = Map.copyOf(holders);
    }

    /** Whether a member has this key. */
    public boolean isMember(String digest) {
      return given.containsKey(digest);
    }

    /** Whether Kafka says that another one has taken the partition over since this epoch. */
    public boolean isReplaced(int partition, String digest, long epoch) {
      Holder holder = holders.get(partition);
      return holder != null && !holder.key().equals(digest) && holder.epoch() > epoch;
    }

    /**
     * Why a part of another member is not believed; empty where it is.
     *
     * @param digest of the key of the member that sent it
     * @param epoch as the part says
     */
    public Optional<String> doubt(int partition, String digest, long epoch) {
      Holder holder = holders.get(partition);
      boolean isAnothers =
          given.entrySet().stream()
              .anyMatch(one -> one.getValue().contains(partition) && !one.getKey().equals(digest));
      if (holder == null || !holder.key().equals(digest) || isAnothers) {
        return Optional.of("by Kafka, the partition is not this member's now");
      }
      return holder.epoch() == epoch
          ? Optional.empty()
          : Optional.of(
              "its part is of epoch %d, its commit in Kafka of %d"
                  .formatted(epoch, holder.epoch()));
    }
  }

  private final KafkaSettings kafka;
  private final String events;
  private final String group;
  private final Duration patience;
  private Admin admin; // made when it is needed; safe for several threads

  /**
   * A roll that asks when it is called.
   *
   * @param events topic of the partitions
   * @param patience longest wait for an answer
   */
  public GroupRoll(KafkaSettings kafka, String events, String group, Duration patience) {
    this.kafka = kafka;
    this.events = events;
    this.group = group;
    this.patience = patience;
  }

  /** The group of members that take no partitions of this one's job. */
  public static String beside(String group) {
    return group + "-query";
  }

  /**
   * Asks Kafka.
   *
   * @param settled whether commits that are on their way are awaited
   * @throws IOException where Kafka does not say
   */
  public Roll call(boolean settled) throws IOException {
    try {
      Admin kafkas = admin();
      var options = new ListConsumerGroupOffsetsOptions().requireStable(settled);
      var committed =
          kafkas.listConsumerGroupOffsets(group, options).partitionsToOffsetAndMetadata();
      var asked = kafkas.describeConsumerGroups(List.of(group, beside(group))).describedGroups();
      Map<String, Set<Integer>> members = new HashMap<>();
      for (var one : asked.values()) {
        describe(one, members);
      }
      return new Roll(members, holders(committed));
    } catch (ExecutionException e) {
      throw unknown(Reason.of(e.getCause()), e);
    } catch (TimeoutException e) {
      throw unknown("no answer within " + patience.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unknown("interrupted", e);
    }
  }

  private synchronized Admin admin() {
    if (admin == null) {
      admin = Admin.create(kafka.admin());
    }
    return admin;
  }

  private Map<Integer, Holder> holders(KafkaFuture<Map<TopicPartition, OffsetAndMetadata>> asked)
      throws ExecutionException, TimeoutException, InterruptedException {
    Map<Integer, Holder> holders = new HashMap<>();
    ifThere(asked)
        .orElse(Map.of())
        .forEach(
            (partition, committed) -> {
              if (partition.topic().equals(events) && committed != null) {
                Holder.in(committed.metadata())
                    .ifPresent(holder -> holders.put(partition.partition(), holder));
              }
            });
    return holders;
  }

  private void describe(
      KafkaFuture<ConsumerGroupDescription> asked, Map<String, Set<Integer>> members)
      throws ExecutionException, TimeoutException, InterruptedException {
    List<MemberDescription> found =
        ifThere(asked).map(one -> List.copyOf(one.members())).orElse(List.of());
    for (MemberDescription member : found) {
      Optional<String> digest = MemberKey.digestIn(member.clientId());
      if (digest.isPresent()) {
        Set<Integer> partitions = members.computeIfAbsent(digest.get(), _ -> new TreeSet<>());
        for (TopicPartition partition : member.assignment().topicPartitions()) {
          if (partition.topic().equals(events)) {
            partitions.add(partition.partition());
          }
        }
      }
    }
  }

  /** Empty where nobody was in the group so far. */
  private <T> Optional<T> ifThere(KafkaFuture<T> asked)
      throws ExecutionException, TimeoutException, InterruptedException {
    try {
      return Optional.of(asked.get(patience.toMillis(), TimeUnit.MILLISECONDS));
    } catch (ExecutionException e) {
      if (e.getCause() instanceof GroupIdNotFoundException) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private IOException unknown(String reason, Exception cause) {
    return new IOException(
        "Kafka at %s does not say who is in group %s: %s: allow DESCRIBE on the group and on %s"
            .formatted(kafka.bootstrap(), group, reason, beside(group)),
        cause);
  }

  @Override
  public synchronized void close() {
    if (admin != null) {
      admin.close(Duration.ZERO);
    }
  }
}
