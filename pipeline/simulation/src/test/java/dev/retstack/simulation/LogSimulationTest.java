package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Producers, a log and consumers that crash: the result after any fault of the consumers equals the
 * result of reading the same log once.
 */
class LogSimulationTest {
  private static final int MOST_STEPS = 1_000_000;

  @Test
  void crashesDoNotChangeTheResult() {
    Seeds.each(LogSimulationTest::simulate);
  }

  private static void simulate(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<ModelCore> cores = Cores.any(random, 5, 20);
    Faults faults = random.nextBoolean() ? Faults.any(random) : new Faults(seed, 0, 0, 0, false);
    SimulatedLog log = new SimulatedLog(1 + random.nextInt(4));
    long lost = produce(cores, faults, log, random);

    List<Consumer> consumers = new ArrayList<>();
    Report once = readOnce(log);
    for (int i = 0; i < log.partitions(); i++) {
      consumers.add(new Consumer(log, i));
    }
    int crashes = 20;
    for (int step = 0; consumers.stream().anyMatch(c -> !c.atEnd()); step++) {
      assertThat(step).as("bounded").isLessThan(MOST_STEPS);
      Consumer consumer = consumers.get(random.nextInt(consumers.size()));
      int dice = random.nextInt(100);
      if (dice < 3 && crashes > 0) {
        consumer.crash();
        crashes--;
      } else if (dice < 10) {
        consumer.snapshot();
      } else if (dice < 15) {
        consumer.commit();
      } else if (!consumer.atEnd()) {
        consumer.poll();
      }
      Validations.invariants(consumer.state());
    }
    ReportBuilder all = new ReportBuilder();
    consumers.forEach(consumer -> all.add(consumer.state()));
    Report report = all.build();
    assertThat(report).isEqualTo(once);
    assertThat(report.lost()).isEqualTo(lost);
  }

  private static long produce(
      List<ModelCore> cores, Faults faults, SimulatedLog log, SplittableRandom random) {
    List<List<ModelChunk>> waiting = new ArrayList<>();
    long lost = 0;
    for (ModelCore core : cores) {
      Faults.Delivery delivery = faults.deliver(core, 60);
      lost += delivery.lost();
      waiting.add(new ArrayList<>(delivery.chunks()));
    }
    waiting.removeIf(List::isEmpty);
    while (!waiting.isEmpty()) {
      List<ModelChunk> next = waiting.get(random.nextInt(waiting.size()));
      log.append(next.removeFirst());
      if (next.isEmpty()) {
        waiting.remove(next);
      }
    }
    return lost;
  }

  private static Report readOnce(SimulatedLog log) {
    ReportBuilder all = new ReportBuilder();
    for (int partition = 0; partition < log.partitions(); partition++) {
      Consumer consumer = new Consumer(log, partition);
      while (!consumer.atEnd()) {
        consumer.poll();
      }
      all.add(consumer.state());
    }
    return all.build();
  }
}
