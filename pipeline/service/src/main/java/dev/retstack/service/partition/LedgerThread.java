package dev.retstack.service.partition;

import dev.retstack.service.checkpoint.Checkpoint;
import dev.retstack.service.checkpoint.Ledger;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Runs everything that blocks on a ledger, in the order of requests. A platform thread, so that the
 * CPU time of packing states can be measured.
 */
final class LedgerThread {
  private final Ledger ledger;
  private final ExecutorService thread;

  LedgerThread(Ledger ledger, int partition) {
    this.ledger = ledger;
    this.thread =
        Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("retstack-ledger-" + partition).factory());
  }

  /** Something done to a ledger. */
  private interface Step<T> {
    T on(Ledger ledger) throws Exception;
  }

  /** Takes the partition over; completes with its last checkpoint. */
  CompletionStage<Checkpoint> open() {
    return run(Ledger::open);
  }

  /** Goes back to the last checkpoint that was asked for; completes with it. */
  CompletionStage<Checkpoint> goBack() {
    return run(Ledger::goBack);
  }

  /** Takes a state away that is of no use; completes with where the partition begins. */
  CompletionStage<Optional<Checkpoint>> repair() {
    return run(Ledger::repair);
  }

  /** Reads records of the partition again. */
  CompletionStage<Ledger.Found> read(long[] offsets) {
    return run(target -> target.read(offsets));
  }

  /** Publishes records; completes with their number. */
  CompletionStage<Integer> publish(List<ProducerRecord<byte[], byte[]>> records) {
    return run(
        target -> {
          target.publish(records);
          return records.size();
        });
  }

  /**
   * A checkpoint is written.
   *
   * @param nextOffset first offset of events that is not in it
   * @param writingNanos of a processor, to pack and send the state
   * @param sentBytes of the state, packed
   */
  record Committed(long nextOffset, long writingNanos, long sentBytes) {}

  /**
   * Publishes the last records before a checkpoint, and commits it.
   *
   * @param records makes them, on the ledger's thread
   */
  CompletionStage<Committed> commit(
      Supplier<List<ProducerRecord<byte[], byte[]>>> records, Checkpoint checkpoint) {
    return run(
        target -> {
          target.publish(records.get());
          long start = CpuClock.nanos();
          long sent = target.commit(checkpoint);
          return new Committed(checkpoint.nextOffset(), CpuClock.nanos() - start, sent);
        });
  }

  private <T> CompletionStage<T> run(Step<T> step) {
    CompletableFuture<T> done = new CompletableFuture<>();
    thread.execute(
        () -> {
          try {
            done.complete(step.on(ledger));
          } catch (Throwable e) {
            done.completeExceptionally(e);
          }
        });
    return done;
  }

  /** Closes the ledger after what was asked for, without waiting. */
  void close() {
    thread.execute(ledger::close);
    thread.shutdown();
  }
}
