package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A member is frozen until others have its partitions, and goes on where it was: what it then
 * writes the broker refuses. Whoever asks another member meanwhile is answered.
 */
final class FrozenMember {
  /** How the broker says that another owner was there meanwhile. */
  private static final Pattern REFUSED =
      Pattern.compile("partition .* another member owns it now, and the broker refused");

  private static final Duration ANSWER = Duration.ofSeconds(20);
  private static final Duration REFUSAL = Duration.ofMinutes(1);

  private final Job job;
  private final Duration patience;

  /**
   * Freezes to come.
   *
   * @param patience longest time until the partitions flow elsewhere
   */
  FrozenMember(Job job, Duration patience) {
    this.job = job;
    this.patience = patience;
  }

  /** Freezes each member in turn, so many times; returns the figures. */
  String run(int times) throws Exception {
    TestFleet fleet = job.fleet();
    List<Recovery> recoveries = new ArrayList<>();
    List<Long> answers = new ArrayList<>();
    long refusals = 0;
    try (StateWatch watch =
        new StateWatch(job.kafka(), job.topics().state(), job.group(), "read_committed")) {
      for (int i = 0; i < times; i++) {
        job.awaitOwned();
        Member victim = owner(i);
        List<Member> others = job.members().stream().filter(one -> one != victim).toList();
        Map<Integer, Long> lost = ownedBy(victim);
        long before = refusals(victim);
        Map<Member, Long> refused = new HashMap<>();
        for (Member other : others) {
          refused.put(other, refusals(other));
        }
        awaitUncommitted(victim, fleet);
        victim.freeze();
        long now = System.nanoTime();
        answers.add(millisOfAnswer(others.getFirst(), false));
        Recovery recovery = Recovery.of(others, lost, now, watch, fleet, patience);
        recoveries.add(recovery);
        answers.add(millisOfAnswer(others.getLast(), true));
        victim.thaw();
        refusals += awaitRefusals(victim, before, fleet) - before;
        job.awaitSettled();
        for (Member other :
            others) { // the one that is wrong is shut out, never the one that is right
          assertThat(refusals(other)).as("member %d", other.number()).isEqualTo(refused.get(other));
        }
        System.out.println("  member %d frozen: %s".formatted(victim.number(), recovery));
      }
      fleet.end();
      Comparison same = Comparison.of(job, job.members().getFirst(), TestFleet.CORES);
      assertThat(watch.wrong()).as("one owner at a time").isEmpty();
      return "%d freezes; %s; %d partitions refused by the broker after the thaw; answers of the others meanwhile %s; %s"
          .formatted(
              times,
              Recovery.figures(recoveries),
              refusals,
              Recovery.medianAndWorst(answers),
              same);
    }
  }

  /** The next one that has partitions. */
  private Member owner(int turn) throws InterruptedException {
    List<Member> owners = job.owners().values().stream().map(Job.Owner::member).distinct().toList();
    return owners.get(turn % owners.size());
  }

  private Map<Integer, Long> ownedBy(Member member) throws InterruptedException {
    Map<Integer, Long> owned = new TreeMap<>();
    job.owners()
        .forEach(
            (partition, owner) -> {
              if (owner.member() == member) {
                owned.put(partition, owner.epoch());
              }
            });
    return owned;
  }

  /**
   * Asks for everything; an answer comes, and once others have the partitions nothing is missing.
   */
  private static long millisOfAnswer(Member asked, boolean whole) throws Exception {
    long start = System.nanoTime();
    JsonNode report = asked.ask("/report", ANSWER);
    if (whole) {
      assertThat(report.get("parts")).noneMatch(part -> part.has("missing"));
    }
    return (System.nanoTime() - start) / 1_000_000;
  }

  /** Returns when chunks are in its state that no checkpoint holds: it will want to write. */
  private static void awaitUncommitted(Member member, TestFleet fleet) throws Exception {
    double behind = 0;
    long start = System.nanoTime();
    while (behind == 0) {
      if (System.nanoTime() - start > REFUSAL.toNanos()) {
        throw new AssertionError(
            "nothing comes to member %d: %s".formatted(member.number(), member.said()));
      }
      fleet.run(50);
      behind =
          member
              .scrape()
              .map(found -> found.of(Member.Names.BEHIND))
              .orElse(Map.of())
              .values()
              .stream()
              .reduce(0.0, Double::sum);
    }
  }

  private static long awaitRefusals(Member victim, long before, TestFleet fleet) throws Exception {
    long start = System.nanoTime();
    while (refusals(victim) == before) {
      if (System.nanoTime() - start > REFUSAL.toNanos()) {
        throw new AssertionError(
            "nothing was refused: %s %s".formatted(victim.scrape(), victim.said()));
      }
      fleet.run(100);
    }
    return refusals(victim);
  }

  private static long refusals(Member member) throws Exception {
    return member.said().lines().filter(line -> REFUSED.matcher(line).find()).count();
  }
}
