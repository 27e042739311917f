package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.ExitCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A member is frozen until the others put it out of their cluster, and goes on then: it is told so,
 * ends, and is started again, as a supervisor does ({@code Restart=always}).
 */
final class PutOutMember {
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final Job job;

  PutOutMember(Job job) {
    this.job = job;
  }

  /** Freezes one member for so long; returns the figures. */
  String run() throws Exception {
    TestFleet fleet = job.fleet();
    try (StateWatch watch =
        new StateWatch(job.kafka(), job.topics().state(), job.group(), "read_committed")) {
      job.awaitSettled();
      Member victim = job.members().getLast();
      List<Member> others = new ArrayList<>(job.members());
      others.remove(victim);
      victim.freeze();
      long frozen = System.nanoTime();
      for (Member other : others) {
        awaitMembers(other, others.size(), frozen, fleet);
      }
      long out = millisSince(frozen);
      victim.thaw();
      long thawed = System.nanoTime();
      int code = victim.awaitEnd();
      long ended = millisSince(thawed);
      assertThat(code).as(victim.said()).isEqualTo(ExitCode.PUT_OUT);
      victim.start();
      victim.awaitServing();
      for (Member member : job.members()) {
        awaitMembers(member, job.members().size(), thawed, fleet);
      }
      job.awaitSettled();
      fleet.end();
      Comparison same = Comparison.of(job, victim, TestFleet.CORES);
      assertThat(watch.wrong()).as("one owner at a time").isEmpty();
      return "put out %.1f s after it froze, ended %.1f s after it went on, exit code %d; started again it joined; %s"
          .formatted(out / 1e3, ended / 1e3, code, same);
    }
  }

  /** Returns when so many members are in the cluster, as one of them sees it, and all are up. */
  private static void awaitMembers(Member asked, int count, long since, TestFleet fleet)
      throws Exception {
    while (!asked.cluster().equals("up=" + count)) {
      if (millisSince(since) > PATIENCE.toMillis()) {
        throw new AssertionError(
            "member %d: %s, not %d up".formatted(asked.number(), asked.cluster(), count));
      }
      fleet.run(200);
    }
  }

  private static long millisSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }
}
