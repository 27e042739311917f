package dev.retstack.simulation;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.ModelProgram;
import dev.retstack.simulation.model.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * All that one seed describes: the cores, what they send, and what happens to it on its way.
 *
 * @param sent the chunks of each core
 */
record Scenario(
    long seed,
    List<ModelCore> cores,
    Faults faults,
    List<List<ModelChunk>> sent,
    int partitions,
    List<Step> steps) {

  private static final int CORES_MAX = 3;
  private static final int CHUNK_MAX = 40;

  /** Chance per step that the owner of a partition takes a record, stores, commits. */
  private static final int POLL = 450;

  private static final int STORE = 60;

  static Scenario of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<ModelCore> cores = new ArrayList<>();
    for (int i = 0, count = 1 + random.nextInt(CORES_MAX); i < count; i++) {
      ModelProgram program = new ModelProgram(random.split(), Workload.small(random)).run();
      cores.add(new ModelCore(new CoreKey("session", "core" + i), program));
    }
    Faults faults = random.nextInt(8) == 0 ? Faults.none(seed) : Faults.any(random);
    List<List<ModelChunk>> sent =
        cores.stream().map(core -> faults.send(core, 1 + random.nextInt(CHUNK_MAX))).toList();
    int partitions = 1 + random.nextInt(3);
    return new Scenario(
        seed, cores, faults, sent, partitions, steps(faults, sent, partitions, random));
  }

  private static List<Step> steps(
      Faults faults, List<List<ModelChunk>> sent, int partitions, SplittableRandom random) {
    List<Step> steps = new ArrayList<>();
    List<List<Step>> waiting = new ArrayList<>();
    for (int core = 0; core < sent.size(); core++) {
      List<Step> sends = new ArrayList<>();
      for (Faults.Arrival arrival : faults.arrivals(sent.get(core).size(), random)) {
        sends.add(new Step.Send(core, arrival.chunk(), arrival.damage()));
      }
      waiting.add(sends);
    }
    waiting.removeIf(List::isEmpty);
    while (!waiting.isEmpty()) {
      int partition = random.nextInt(partitions);
      if (Faults.hits(random, faults.crash())) {
        steps.add(new Step.Crash(partition));
      } else if (Faults.hits(random, faults.rebalance())) {
        steps.add(new Step.Rebalance(partition));
        steps.add(new Step.Zombie(partition));
      } else if (Faults.hits(random, STORE)) {
        steps.add(new Step.Snapshot(partition));
      } else if (Faults.hits(random, STORE)) {
        steps.add(new Step.Commit(partition));
      } else if (Faults.hits(random, POLL)) {
        steps.add(new Step.Poll(partition));
      } else {
        List<Step> next = waiting.get(random.nextInt(waiting.size()));
        steps.add(next.removeFirst());
        waiting.removeIf(List::isEmpty);
      }
    }
    return steps;
  }
}
