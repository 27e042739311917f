package dev.retstack.fleet.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Fleet;
import dev.retstack.schema.wire.ConfluentFrame;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Announces in the fleets topic that this process lives, for each session of its chunks,
 * periodically on its own thread. It distinguishes a core that is idle, or waits for Kafka, from
 * one whose process died. No core depends on it: if it is refused, cores continue, and the pipeline
 * shows them as RUNNING.
 */
final class Heartbeat {
  private static final Logger LOG = LoggerFactory.getLogger(Heartbeat.class);

  /** Between two announcements. The pipeline waits for five of them. */
  private static final Duration INTERVAL = Duration.ofSeconds(3);

  private static final Duration LAST_WORD = Duration.ofSeconds(2);

  private final Producer<byte[], byte[]> producer;
  private final String topic;
  private final Silence silence;
  private final String fleet = name();
  private final Map<String, Fleet> sessions = new ConcurrentHashMap<>();
  private final AtomicBoolean onItsWay = new AtomicBoolean();
  private final AtomicBoolean warned = new AtomicBoolean();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread;

  /**
   * Of no session yet.
   *
   * @param topic the fleets topic
   * @param silence hears of each answer
   */
  Heartbeat(Producer<byte[], byte[]> producer, String topic, Silence silence) {
    this.producer = producer;
    this.topic = topic;
    this.silence = silence;
    this.thread = Thread.ofPlatform().daemon().name("retstack-heartbeat").unstarted(this::run);
  }

  /** A chunk of this session is about to be sent. Costs a look-up but for the first time. */
  void of(String session) {
    if (sessions.containsKey(session)) {
      return;
    }
    sessions.computeIfAbsent(
        session,
        name ->
            Fleet.newBuilder()
                .setSession(name)
                .setFleet(fleet)
                .setStartedAt(System.currentTimeMillis())
                .build());
    synchronized (thread) {
      if (thread.getState() == Thread.State.NEW) {
        thread.start();
      }
    }
  }

  private void run() {
    try {
      do {
        announce();
      } while (!closed.await(INTERVAL.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** One at a time: while Kafka is away nothing piles up. */
  private void announce() {
    if (!onItsWay.compareAndSet(false, true)) {
      return;
    }
    boolean last = true;
    for (Fleet session : sessions.values()) {
      last = send(session.getSession(), ConfluentFrame.encode(session));
    }
    if (!last || sessions.isEmpty()) {
      onItsWay.set(false);
    }
  }

  private boolean send(String session, byte[] value) {
    silence.sent();
    try {
      var _ =
          producer.send(
              new ProducerRecord<>(topic, (session + "/" + fleet).getBytes(UTF_8), value),
              (_, failure) -> {
                silence.answered();
                onItsWay.set(false);
                if (failure != null) {
                  warn(failure);
                }
              });
      return true;
    } catch (KafkaException | IllegalStateException e) {
      silence.answered();
      warn(e);
      return false;
    }
  }

  private void warn(Exception failure) {
    if (closed.getCount() > 0 && warned.compareAndSet(false, true)) {
      LOG.warn(
          "cannot announce in {} that this fleet lives: {}: if it is killed, its cores show as"
              + " RUNNING for ever; allow Write on the topic",
          topic,
          failure.getMessage());
    }
  }

  /**
   * Says nothing any more.
   *
   * @param inOrder whether all that it had to send arrived: then what it said is taken back. If not
   *     it stays, and the cores are dead when it was silent for long enough.
   */
  void stop(boolean inOrder) {
    closed.countDown();
    thread.interrupt();
    try {
      thread.join(LAST_WORD.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    if (inOrder) {
      sessions.keySet().forEach(session -> send(session, null));
    }
    sessions.clear();
  }

  private static String name() {
    String host;
    try {
      host = InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      host = "localhost";
    }
    String random = UUID.randomUUID().toString().substring(0, 8);
    return "%s:%d:%s".formatted(host, ProcessHandle.current().pid(), random);
  }
}
