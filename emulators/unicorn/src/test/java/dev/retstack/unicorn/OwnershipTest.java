package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OwnershipTest {
  private static final int THREADS = 4;
  private static final int ROUNDS = 200;
  private static final int SPINS = 2_000;

  private final AtomicInteger making = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final AtomicInteger made = new AtomicInteger();

  private void make() {
    most.accumulateAndGet(making.incrementAndGet(), Math::max);
    for (int i = 0; i < SPINS; i++) {
      Thread.onSpinWait();
    }
    making.decrementAndGet();
    made.incrementAndGet();
  }

  /** Unicorn fills in tables of the whole process when it makes the machine of an engine. */
  @Test
  void oneMachineOfTheProcessIsMadeAtATime() throws Exception {
    CyclicBarrier together = new CyclicBarrier(THREADS);
    try (var threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        all.add(
            threads.submit(
                () -> {
                  for (int round = 0; round < ROUNDS; round++) {
                    Ownership engine = new Ownership(this::make);
                    together.await();
                    engine.check();
                  }
                  return null;
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    }
    assertThat(most).hasValue(1);
    assertThat(made).hasValue(THREADS * ROUNDS);
  }

  @Test
  void theMachineIsMadeByTheFirstCallThatNeedsIt() {
    Ownership engine = new Ownership(this::make);
    engine.checkFirst();
    assertThat(made).hasValue(0);
    engine.start();
    assertThat(made).hasValue(1);
    assertThat(engine.running()).isTrue();
    engine.finish();
    engine.check();
    engine.checkFirst();
    assertThat(made).hasValue(1);
    assertThat(engine.close()).isTrue();
    Ownership neverUsed = new Ownership(this::make);
    assertThat(neverUsed.close()).isTrue();
    assertThat(neverUsed.close()).isFalse();
    assertThat(made).hasValue(1);
  }
}
