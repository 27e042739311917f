package dev.retstack.simulation;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.ModelProgram;
import dev.retstack.simulation.model.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Cores that ran the programs of a seed. */
final class Cores {
  private Cores() {}

  static List<ModelCore> any(SplittableRandom random, int most, int defects) {
    List<ModelCore> cores = new ArrayList<>();
    int count = 1 + random.nextInt(most);
    for (int i = 0; i < count; i++) {
      Workload workload = Workload.any(random).withDefects(defects);
      CoreKey key = new CoreKey("session", "core" + i);
      cores.add(new ModelCore(key, new ModelProgram(random.split(), workload).run()));
    }
    return cores;
  }
}
