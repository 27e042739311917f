package dev.retstack.service.reconstruct;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Runs everything that blocks on a ledger, in the order in which it was asked for. */
final class LedgerThread {
  private final Ledger ledger;
  private final ExecutorService thread;

  LedgerThread(Ledger ledger, int partition) {
    this.ledger = ledger;
    this.thread =
        Executors.newSingleThreadExecutor(
            Thread.ofVirtual().name("retstack-ledger-" + partition).factory());
  }

  /** Something done to a ledger. */
  interface Step<T> {
    T on(Ledger ledger) throws Exception;
  }

  <T> CompletionStage<T> run(Step<T> step) {
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
