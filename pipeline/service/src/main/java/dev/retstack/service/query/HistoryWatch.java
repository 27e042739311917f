package dev.retstack.service.query;

import dev.retstack.answers.history.History;
import dev.retstack.answers.history.History.Counts;
import dev.retstack.answers.history.History.Levels;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.partition.PartitionMeasure;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.ActorSystem;

/**
 * Takes the samples of this member's {@link History}, while it runs. Its time is the wall clock's
 * when it began, and advances with {@link System#nanoTime}: a clock that is set changes nothing.
 */
public final class HistoryWatch implements AutoCloseable {
  private static final Duration EVERY = Duration.ofMillis(History.SLOT_MILLIS);

  private final Meters meters;
  private final long beganMillis = System.currentTimeMillis();
  private final long beganNanos = System.nanoTime();
  private final History history = new History(beganMillis); // guarded by this
  private Cancellable turns = Cancellable.alreadyCancelled();

  /** A past that begins now; samples come when it is started. */
  public HistoryWatch(Meters meters) {
    this.meters = meters;
  }

  /**
   * Takes a sample for each slot from now on.
   *
   * @param measures of the partitions of this member
   * @param ends of all partitions of the topic, empty where Kafka does not answer
   */
  public synchronized void start(
      ActorSystem<?> system,
      Supplier<CompletionStage<Map<Integer, Optional<PartitionMeasure>>>> measures,
      Supplier<CompletionStage<Optional<Map<Integer, Long>>>> ends) {
    turns =
        system
            .scheduler()
            .scheduleWithFixedDelay(
                EVERY,
                EVERY,
                () -> {
                  var _ =
                      measures.get().thenCombine(ends.get(), this::levels).thenAccept(this::add);
                },
                system.executionContext());
  }

  private Levels levels(
      Map<Integer, Optional<PartitionMeasure>> measures, Optional<Map<Integer, Long>> ends) {
    int partitions = 0;
    long lag = 0;
    long lost = 0;
    for (Optional<PartitionMeasure> measure : measures.values()) {
      if (measure.isPresent() && measure.get().open()) {
        PartitionMeasure open = measure.get();
        partitions++;
        lost += open.lost();
        long end = ends.map(all -> all.get(open.partition())).orElse(0L);
        lag += Math.max(0, end - open.nextOffset()) + open.images().chunks();
      }
    }
    return new Levels(partitions, ends.isPresent() ? lag : -1, lost);
  }

  private synchronized void add(Levels levels) {
    Meters.Sums sums = meters.sums();
    history.add(
        millis(),
        new Counts(
            sums.appliedRecords(),
            sums.checkpointSentBytes(),
            TimeUnit.MICROSECONDS.toNanos(Math.round(sums.checkpointCpuSeconds() * 1e6))),
        levels);
  }

  private long millis() {
    return beganMillis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos);
  }

  /** What this member reports of its past. */
  public synchronized History.Past curves() {
    return history.window(millis());
  }

  @Override
  public synchronized void close() {
    turns.cancel();
  }
}
