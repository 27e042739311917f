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
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;

/**
 * Who is in the consumer group of a job, as Kafka says: keys of members, and the partitions of
 * events that the group gave to each. Members without partitions sit in a group beside it.
 */
public final class GroupRoll implements AutoCloseable {
  private final KafkaSettings kafka;
  private final String events;
  private final String group;
  private final Duration patience;
  private Admin admin;

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
   * @return by the digest of a member's key, the partitions that it was given
   * @throws IOException where Kafka does not say
   */
  public Map<String, Set<Integer>> call() throws IOException {
    try {
      if (admin == null) {
        admin = Admin.create(kafka.admin());
      }
      var asked = admin.describeConsumerGroups(List.of(group, beside(group))).describedGroups();
      Map<String, Set<Integer>> members = new HashMap<>();
      for (var one : asked.values()) {
        describe(one, members);
      }
      return members;
    } catch (ExecutionException e) {
      throw unknown(Reason.of(e.getCause()), e);
    } catch (TimeoutException e) {
      throw unknown("no answer within " + patience.toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unknown("interrupted", e);
    }
  }

  private void describe(
      KafkaFuture<ConsumerGroupDescription> asked, Map<String, Set<Integer>> members)
      throws ExecutionException, TimeoutException, InterruptedException {
    ConsumerGroupDescription found;
    try {
      found = asked.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof GroupIdNotFoundException) {
        return; // nobody was in it so far
      }
      throw e;
    }
    for (MemberDescription member : found.members()) {
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

  private IOException unknown(String reason, Exception cause) {
    return new IOException(
        "Kafka at %s does not say who is in group %s: %s: allow DESCRIBE on the group and on %s"
            .formatted(kafka.bootstrap(), group, reason, beside(group)),
        cause);
  }

  @Override
  public void close() {
    if (admin != null) {
      admin.close(Duration.ZERO);
    }
  }
}
