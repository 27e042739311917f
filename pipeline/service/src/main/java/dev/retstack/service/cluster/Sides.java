package dev.retstack.service.cluster;

import dev.retstack.service.ingest.KafkaSettings;
import dev.retstack.service.ingest.Reason;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds which side of a split goes on: of several that reach Kafka the one that claims first, so
 * that one without Kafka is never it. Kafka is asked only from a claim until some time after it.
 * Not for several threads.
 */
public final class Sides implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Sides.class);
  private static final Duration RENEWAL = Duration.ofSeconds(1);
  private static final Duration EXPIRY = RENEWAL.multipliedBy(5);

  /** A side that died is over by then, and a broker that does not answer is not reached. */
  private static final Duration PATIENCE = Duration.ofSeconds(9);

  /** The other sides have found their split by then. */
  private static final Duration HOLD = Duration.ofSeconds(30);

  private final KafkaSettings kafka;
  private final String topic;
  private final String group;

  /** Null while nothing is claimed. */
  private SideLog claims;

  private long claimedNanos;
  private long renewedNanos;

  /** The sides of a group's members. */
  public Sides(KafkaSettings kafka, String topic, String group) {
    this.kafka = kafka;
    this.topic = topic;
    this.group = group;
  }

  /**
   * Claims for a side, and learns which one goes on.
   *
   * @param self member that speaks
   * @param side those that it reaches, itself among them
   * @return the side that goes on; empty where Kafka did not tell
   */
  Optional<Set<String>> goingOn(String self, Set<String> side) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    try {
      while (System.nanoTime() - deadline < 0) {
        long mine = log().claim(self, side);
        if (log().table().speaks(self)) {
          claimedNanos = System.nanoTime();
          renewedNanos = claimedNanos;
          return Optional.of(side);
        }
        // whoever claimed before renews it while it runs
        if (log().awaitAnotherAfter(mine, RENEWAL.multipliedBy(2))) {
          Set<String> other = log().table().side();
          close();
          return Optional.of(other);
        }
      }
      log.warn("a side that was claimed for is neither renewed nor over");
    } catch (KafkaException e) {
      log.warn("Kafka does not tell which side goes on: {}", Reason.of(e));
    }
    close();
    return Optional.empty();
  }

  /** Says again that this side goes on, when it is time to. */
  void renew(String self, Set<String> side) {
    long now = System.nanoTime();
    if (claims == null || now - renewedNanos < RENEWAL.toNanos()) {
      return;
    }
    renewedNanos = now;
    try {
      if (now - claimedNanos > HOLD.toNanos()) {
        claims.release(self);
        close();
      } else {
        var _ = claims.claim(self, side);
      }
    } catch (KafkaException e) {
      log.debug("the claim is not renewed: {}", e.getMessage());
    }
  }

  private SideLog log() {
    if (claims == null) {
      claims = new SideLog(kafka, topic, group, EXPIRY.toMillis());
    }
    return claims;
  }

  @Override
  public void close() {
    if (claims != null) {
      claims.close();
      claims = null;
    }
  }
}
