package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.TopicAdmin;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Members of one group on a cluster, under topics of their own.
 *
 * @param members that are meant to run
 */
record Job(
    Processes processes,
    Path folder,
    BrokerCluster brokers,
    GroupProtocol protocol,
    Topics topics,
    List<Member> members)
    implements AutoCloseable {
  static final int MEMBERS = 3;
  static final int PARTITIONS = 6;
  static final String GROUP = "retstack-pipeline";

  /** What members speak: {@code -Dretstack.chaos.protocol=consumer}. */
  static final GroupProtocol PROTOCOL =
      GroupProtocol.of(System.getProperty("retstack.chaos.protocol", "classic"));

  /** The least that a broker accepts, of the classic protocol. */
  static final int SESSION_MILLIS = 6_000;

  /** Chunks that a member may have fetched before a fault, in each partition. */
  private static final int ON_THEIR_WAY = 8;

  /** More options of members, such as {@code --verbose} to find out why. */
  private static final String MORE = System.getProperty("retstack.member.options", "");

  /**
   * Of the state topic. What was superseded goes within seconds. It stays for a moment, so that
   * {@link StateWatch} sees each checkpoint even if the machine is busy.
   */
  private static final Map<String, String> COMPACTED =
      Map.of(
          "segment.ms", "1000",
          "min.cleanable.dirty.ratio", "0.01",
          "delete.retention.ms", "1000",
          "min.compaction.lag.ms", "5000");

  private static final int QUIET_LOOKS = 8;
  private static final Duration OWNED = Duration.ofMinutes(2);

  /** An owner of a partition. */
  record Owner(Member member, long epoch) {}

  /** Starts members; returns when each of them serves. */
  static Job start(Processes processes, Path folder, BrokerCluster brokers, String name)
      throws Exception {
    return start(processes, folder, brokers, name, PROTOCOL);
  }

  /** The same under this group protocol. */
  static Job start(
      Processes processes, Path folder, BrokerCluster brokers, String name, GroupProtocol protocol)
      throws Exception {
    Path own = Files.createDirectories(folder.resolve(name));
    Job job = new Job(processes, own, brokers, protocol, new Topics(name), new ArrayList<>());
    job.createTopics();
    for (int number = 1; number <= MEMBERS; number++) {
      Member member = job.newMember(number);
      member.start();
      job.members.add(member);
    }
    for (Member member : job.members) {
      member.awaitServing();
    }
    job.awaitOwned();
    assertThat(brokers.unsafeTopics(name)).as("topics that do not survive a broker").isEmpty();
    return job;
  }

  /** Those of the product. The broker compacts the state all the time. */
  private void createTopics() throws Exception {
    try (TopicAdmin topicAdmin = new TopicAdmin(kafka(), OWNED);
        Admin admin = Admin.create(Map.of("bootstrap.servers", brokers.bootstrap()))) {
      topicAdmin.ensure(topics, PARTITIONS);
      List<AlterConfigOp> changes =
          COMPACTED.entrySet().stream()
              .map(e -> new ConfigEntry(e.getKey(), e.getValue()))
              .map(entry -> new AlterConfigOp(entry, AlterConfigOp.OpType.SET))
              .toList();
      ConfigResource state = new ConfigResource(ConfigResource.Type.TOPIC, topics.state());
      admin
          .incrementalAlterConfigs(Map.of(state, changes))
          .all()
          .get(OWNED.toSeconds(), TimeUnit.SECONDS);
    }
  }

  /** One that is not among the members and does not run yet. */
  Member newMember(int number) {
    return new Member(
        processes, folder, number, options() + " --span-threshold " + TestFleet.SPAN_THRESHOLD);
  }

  /** Cores that send to this job. */
  TestFleet fleet() throws Exception {
    return fleet("");
  }

  /**
   * The same.
   *
   * @param more options
   */
  TestFleet fleet(String more) throws Exception {
    return fleet(more, "retstack");
  }

  /**
   * The same.
   *
   * @param launcher another {@code retstack}
   */
  TestFleet fleet(String more, String launcher) throws Exception {
    return new TestFleet(
        processes,
        folder,
        launcher,
        "--bootstrap %s --prefix %s --partitions %d %s"
            .formatted(brokers.bootstrap(), topics.prefix(), PARTITIONS, more));
  }

  private String options() {
    return "--bootstrap %s --prefix %s --partitions %d --group %s %s %s"
        .formatted(
            brokers.bootstrap(),
            topics.prefix(),
            PARTITIONS,
            group(),
            switch (protocol) {
              case CLASSIC -> "--kafka session.timeout.ms=" + SESSION_MILLIS;
              case CONSUMER -> "--group-protocol consumer"; // the broker has the times
            },
            MORE);
  }

  /** So long nobody reads the partitions of a dead member. */
  Duration session() {
    return Duration.ofMillis(
        switch (protocol) {
          case CLASSIC -> SESSION_MILLIS;
          case CONSUMER -> BrokerCluster.SESSION_MILLIS;
        });
  }

  /** Members hear of a move within it. */
  Duration heartbeat() {
    return Duration.ofSeconds(
        switch (protocol) {
          case CLASSIC -> 3;
          case CONSUMER -> 5;
        });
  }

  /** The group, of which each job has one of its own. */
  String group() {
    return GROUP + "-" + topics.prefix();
  }

  KafkaSettings kafka() {
    return KafkaSettings.of(brokers.bootstrap());
  }

  /** Who has each partition now, by what members say: of two the one with the higher epoch. */
  Map<Integer, Owner> owners() throws InterruptedException {
    Map<Integer, Owner> owners = new TreeMap<>();
    for (Member member : members) {
      Optional<Member.Scrape> scrape = member.scrape();
      scrape
          .map(found -> found.of(Member.Names.EPOCH))
          .orElse(Map.of())
          .forEach(
              (partition, epoch) -> {
                if (epoch > 0) { // 0 while its state is being loaded
                  owners.merge(
                      partition,
                      new Owner(member, epoch.longValue()),
                      (a, b) -> a.epoch() >= b.epoch() ? a : b);
                }
              });
    }
    return owners;
  }

  /** Epochs of the partitions that these members own, by partition. */
  Map<Integer, Long> ownedBy(List<Member> some) throws InterruptedException {
    Map<Integer, Long> owned = new TreeMap<>();
    owners()
        .forEach(
            (partition, owner) -> {
              if (some.contains(owner.member())) {
                owned.put(partition, owner.epoch());
              }
            });
    return owned;
  }

  /** Returns when each partition has an owner that has its state. */
  void awaitOwned() throws InterruptedException {
    long deadline = System.nanoTime() + OWNED.toNanos();
    Map<Integer, Owner> owners = owners();
    while (owners.size() < PARTITIONS) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("after %s only %s have owners".formatted(OWNED, owners.keySet()));
      }
      members.getFirst().endsWithin(100);
      owners = owners();
    }
  }

  /** Returns when all members that run are in the group, and no partition has moved for a while. */
  void awaitSettled() throws Exception {
    long deadline = System.nanoTime() + OWNED.toNanos();
    long running = members.stream().filter(Member::isAlive).count();
    int quiet = 0;
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", brokers.bootstrap()))) {
      while (quiet < QUIET_LOOKS) {
        var group =
            admin
                .describeConsumerGroups(List.of(group()))
                .all()
                .get(OWNED.toSeconds(), TimeUnit.SECONDS)
                .get(group());
        boolean stable =
            group.groupState() == GroupState.STABLE && group.members().size() == running;
        quiet = stable && owners().size() == PARTITIONS ? quiet + 1 : 0;
        if (System.nanoTime() > deadline) {
          throw new AssertionError("not settled after %s: %s".formatted(OWNED, group));
        }
        members.getFirst().endsWithin(250);
      }
    }
  }

  /** Offsets up to which members have read each partition, as far as they answer. */
  Map<Integer, Long> positions() throws InterruptedException {
    Map<Integer, Long> positions = new TreeMap<>();
    for (Member member : members) {
      member
          .scrape()
          .map(found -> found.of(Member.Names.NEXT))
          .orElse(Map.of())
          .forEach((partition, next) -> positions.merge(partition, next.longValue(), Math::max));
    }
    return positions;
  }

  /**
   * Waits until each partition that has cores took chunks that were not on their way already.
   *
   * @return milliseconds since the fault
   */
  long awaitFlow(Map<Integer, Long> before, long faultNanos, TestFleet fleet, Duration patience)
      throws Exception {
    Map<Integer, Long> now = positions();
    while (!flows(before, now)) {
      if (System.nanoTime() - faultNanos > patience.toNanos()) {
        throw new AssertionError("after %s from %s only to %s".formatted(patience, before, now));
      }
      fleet.run(100);
      now = positions();
    }
    return (System.nanoTime() - faultNanos) / 1_000_000;
  }

  private static boolean flows(Map<Integer, Long> before, Map<Integer, Long> now) {
    return before.entrySet().stream()
        .filter(one -> one.getValue() > 0)
        .allMatch(one -> now.getOrDefault(one.getKey(), 0L) > one.getValue() + ON_THEIR_WAY);
  }

  @Override
  public void close() {
    for (Member member : members) {
      if (member.isAlive()) {
        member.kill();
      }
    }
  }
}
