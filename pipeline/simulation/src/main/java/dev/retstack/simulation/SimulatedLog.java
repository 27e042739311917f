package dev.retstack.simulation;

import java.util.ArrayList;
import java.util.List;

/** Partitions of chunks, appended to and read by offset; a core stays in one partition. */
final class SimulatedLog {
  private final List<List<ModelChunk>> partitions = new ArrayList<>();

  SimulatedLog(int count) {
    for (int i = 0; i < count; i++) {
      partitions.add(new ArrayList<>());
    }
  }

  int partitions() {
    return partitions.size();
  }

  void append(ModelChunk chunk) {
    partitions.get(Math.floorMod(chunk.core().hashCode(), partitions.size())).add(chunk);
  }

  long end(int partition) {
    return partitions.get(partition).size();
  }

  ModelChunk read(int partition, long offset) {
    return partitions.get(partition).get((int) offset);
  }
}
