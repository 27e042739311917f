package dev.retstack.service.progress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.aggregate.CoreKey;
import dev.retstack.graph.reconstruct.CoreEnd;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.Done;
import org.apache.pekko.actor.testkit.typed.javadsl.BehaviorTestKit;
import org.junit.jupiter.api.Test;

class CoreWatchTest {
  private static final CoreKey A = new CoreKey("s", "a");
  private static final CoreKey B = new CoreKey("s", "b");
  private final BehaviorTestKit<CoreWatch.Command> watch =
      BehaviorTestKit.create(CoreWatch.create());

  @Test
  void tellsWhenTheNamedCoresHaveEnded() {
    CompletableFuture<Done> both = awaiting(Set.of(A, B), 2);
    CompletableFuture<Done> any = awaiting(Set.of(), 1);
    watch.run(new CoreWatch.Advanced(progress(A, CoreEnd.RUNNING)));
    assertThat(any).isNotDone();
    watch.run(new CoreWatch.Advanced(progress(A, CoreEnd.FAULTED)));
    watch.run(new CoreWatch.Advanced(progress(A, CoreEnd.FAULTED)));
    assertThat(any).isDone();
    assertThat(both).isNotDone();
    watch.run(new CoreWatch.Advanced(progress(B, CoreEnd.HALTED)));
    assertThat(both).isDone();
    assertThat(awaiting(Set.of(A, B), 2)).isDone();
  }

  private CompletableFuture<Done> awaiting(Set<CoreKey> cores, int count) {
    CompletableFuture<Done> done = new CompletableFuture<>();
    watch.run(new CoreWatch.AwaitEnded(cores, count, done));
    return done;
  }

  private static CoreProgress progress(CoreKey key, CoreEnd end) {
    return new CoreProgress(key, 0, "x86_64", 1, 10, 0, 99, end);
  }
}
