package dev.retstack.service.progress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.state.Deaths;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.pekko.actor.testkit.typed.javadsl.BehaviorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestInbox;
import org.junit.jupiter.api.Test;

class CoreWatchTest {
  private static final CoreKey A = new CoreKey("s", "a");
  private static final CoreKey B = new CoreKey("s", "b");
  private final BehaviorTestKit<CoreWatch.Command> watch =
      BehaviorTestKit.create(CoreWatch.create());

  @Test
  void tellsWhenTheNamedCoresHaveEnded() {
    TestInbox<CoreWatch.Ended> both = awaiting(Set.of(A, B), 2);
    TestInbox<CoreWatch.Ended> any = awaiting(Set.of(), 1);
    watch.run(new CoreWatch.Advanced(progress(A, CoreEnd.RUNNING)));
    assertThat(any.hasMessages()).isFalse();
    watch.run(new CoreWatch.Advanced(progress(A, CoreEnd.FAULTED)));
    watch.run(new CoreWatch.Advanced(progress(A, CoreEnd.FAULTED)));
    assertThat(any.hasMessages()).isTrue();
    assertThat(both.hasMessages()).isFalse();
    watch.run(new CoreWatch.Advanced(progress(B, CoreEnd.HALTED)));
    assertThat(both.hasMessages()).isTrue();
    assertThat(awaiting(Set.of(A, B), 2).hasMessages()).isTrue();
  }

  @Test
  void tellsOfTheDeadOnceAllOfThemIsApplied() {
    TestInbox<CoreWatch.Ended> both = awaiting(Set.of(A, B), 2);
    watch.run(new CoreWatch.Advanced(progress(A, CoreEnd.RUNNING)));
    watch.run(new CoreWatch.Advanced(progress(B, CoreEnd.HALTED)));
    watch.run(new CoreWatch.Reached(0, 8));
    watch.run(new CoreWatch.Lost(new Deaths(Map.of("s", new Deaths.Death(77, Map.of(0, 9L))))));
    assertThat(both.hasMessages()).as("a chunk of it is on its way").isFalse();
    watch.run(new CoreWatch.Reached(0, 9));
    assertThat(both.receiveMessage().dead())
        .containsExactly(
            new CoreProgress(
                A,
                0,
                "x86_64",
                "b1",
                "zoo.elf",
                1,
                1,
                10,
                0,
                0,
                0,
                0,
                99,
                CoreEnd.RUNNING,
                "",
                77));
    watch.run(new CoreWatch.Lost(Deaths.NONE));
    assertThat(awaiting(Set.of(A), 1).hasMessages()).as("it is back").isFalse();
  }

  @Test
  void coresOfAPartitionThatLeftAreForgottenAndWhoSawThemEndIsNotLeftWaiting() {
    TestInbox<CoreWatch.Ended> named = awaiting(Set.of(A, B), 2);
    TestInbox<CoreWatch.Ended> counted = awaiting(Set.of(), 2);
    watch.run(new CoreWatch.Advanced(progress(A, 0, CoreEnd.HALTED)));
    watch.run(new CoreWatch.Advanced(progress(B, 1, CoreEnd.RUNNING)));
    watch.run(new CoreWatch.Left(0));
    assertThat(shown()).containsExactly(progress(B, 1, CoreEnd.RUNNING));
    TestInbox<CoreWatch.Ended> later = awaiting(Set.of(A, B), 2);
    watch.run(new CoreWatch.Advanced(progress(B, 1, CoreEnd.HALTED)));
    assertThat(named.hasMessages()).as("both were seen to end").isTrue();
    assertThat(counted.hasMessages()).isTrue();
    assertThat(later.hasMessages()).as("who asks now has not seen A end").isFalse();
    watch.run(new CoreWatch.Advanced(progress(A, 0, CoreEnd.HALTED)));
    assertThat(later.hasMessages()).as("the partition is back").isTrue();
  }

  @Test
  void oneThatEndedAndWentBackToACheckpointCountsOnce() {
    TestInbox<CoreWatch.Ended> both = awaiting(Set.of(), 2);
    watch.run(new CoreWatch.Advanced(progress(A, 0, CoreEnd.HALTED)));
    watch.run(new CoreWatch.Left(0));
    watch.run(new CoreWatch.Advanced(progress(A, 0, CoreEnd.RUNNING)));
    watch.run(new CoreWatch.Reached(0, 9));
    watch.run(new CoreWatch.Lost(new Deaths(Map.of("s", new Deaths.Death(77, Map.of(0, 9L))))));
    assertThat(both.hasMessages()).as("A was seen to end, and is no dead core besides").isFalse();
    watch.run(new CoreWatch.Advanced(progress(B, 0, CoreEnd.HALTED)));
    assertThat(both.receiveMessage().dead()).isEmpty();
  }

  private List<CoreProgress> shown() {
    TestInbox<CoreWatch.Answer> inbox = TestInbox.create();
    watch.run(new CoreWatch.Ask(inbox.getRef()));
    return inbox.receiveMessage().cores();
  }

  private TestInbox<CoreWatch.Ended> awaiting(Set<CoreKey> cores, int count) {
    TestInbox<CoreWatch.Ended> inbox = TestInbox.create();
    watch.run(new CoreWatch.AwaitEnded(cores, count, inbox.getRef()));
    return inbox;
  }

  private static CoreProgress progress(CoreKey key, CoreEnd end) {
    return progress(key, 0, end);
  }

  private static CoreProgress progress(CoreKey key, int partition, CoreEnd end) {
    return new CoreProgress(
        key, partition, "x86_64", "b1", "zoo.elf", 1, 1, 10, 0, 0, 0, 0, 99, end, "");
  }
}
