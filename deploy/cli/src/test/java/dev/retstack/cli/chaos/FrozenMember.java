package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A member is frozen until others have its partitions, and goes on where it was: what it then
 * writes the broker refuses. Whoever asks another member meanwhile is answered.
 *
 * <p>One that had just written its last checkpoint when it froze has nothing to be refused: it
 * learns from the group that it was too late. Such a freeze proves less, and another one follows.
 */
final class FrozenMember {
  /** How the broker says that another owner was there meanwhile. */
  private static final Pattern REFUSED =
      Pattern.compile("partition .* another member owns it now, and the broker refused");

  private static final Duration ANSWER = Duration.ofSeconds(20);
  private static final Duration REFUSAL = Duration.ofMinutes(1);

  /** Freezes that may be repeated, as nothing was refused after them. */
  private static final int REPEATS_LEAST = 4;

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
  String run(int times, TestFleet fleet, StateWatch watch) throws Exception {
    List<Recovery> recoveries = new ArrayList<>();
    List<Long> answers = new ArrayList<>();
    long refusals = 0;
    int idle = 0;
    int repeats = Math.max(times, REPEATS_LEAST);
    for (int i = 0; i < times + Math.min(idle, repeats); i++) {
      job.awaitOwned();
      Member victim = owner(i);
      List<Member> others = job.members().stream().filter(one -> one != victim).toList();
      Map<Integer, Long> lost = job.ownedBy(List.of(victim));
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
      long refusedNow = awaitEndOfOld(victim, lost, before, fleet) - before;
      refusals += refusedNow;
      idle += refusedNow == 0 ? 1 : 0;
      job.awaitSettled();
      for (Member other :
          others) { // the one that is wrong is shut out, never the one that is right
        assertThat(refusals(other)).as("member %d", other.number()).isEqualTo(refused.get(other));
      }
      System.out.println("  member %d frozen: %s".formatted(victim.number(), recovery));
    }
    // a member of the newer protocol often hears of its end before it writes
    assertThat(refusals).as("refusals after %d freezes", recoveries.size()).isPositive();
    return "%d freezes, %d of them of members that gave up before they wrote; %s; %d partitions refused by the broker after the thaw; answers of the others meanwhile %s"
        .formatted(
            recoveries.size(),
            idle,
            Recovery.figures(recoveries),
            refusals,
            Recovery.medianAndWorst(answers));
  }

  /** The next one that has partitions. */
  private Member owner(int turn) throws InterruptedException {
    List<Member> owners = job.owners().values().stream().map(Job.Owner::member).distinct().toList();
    return owners.get(turn % owners.size());
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

  /** Returns when something was refused, or when it gave its partitions up before it wrote. */
  private static long awaitEndOfOld(
      Member victim, Map<Integer, Long> lost, long before, TestFleet fleet) throws Exception {
    long start = System.nanoTime();
    boolean gaveUp = false;
    while (refusals(victim) == before && !gaveUp) {
      if (System.nanoTime() - start > REFUSAL.toNanos()) {
        throw new AssertionError(
            "%s goes on as if nothing had been: %s %s"
                .formatted(lost, victim.scrape(), victim.said()));
      }
      fleet.run(100);
      gaveUp = victim.scrape().map(now -> hasNoneOf(lost, now)).orElse(false);
    }
    return refusals(victim); // what was refused is told before the partition is given up
  }

  private static boolean hasNoneOf(Map<Integer, Long> lost, Member.Scrape now) {
    Map<Integer, Double> open = now.of(Member.Names.OPEN);
    Map<Integer, Double> epoch = now.of(Member.Names.EPOCH);
    return lost.entrySet().stream()
        .noneMatch(
            entry ->
                open.getOrDefault(entry.getKey(), 0.0) == 1
                    && epoch.getOrDefault(entry.getKey(), 0.0) <= entry.getValue());
  }

  private static long refusals(Member member) throws Exception {
    return member.said().lines().filter(line -> REFUSED.matcher(line).find()).count();
  }
}
