package dev.retstack.simulation;

import dev.retstack.schema.Chunk;
import dev.retstack.simulation.model.ModelChunk;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Partitions of chunks, appended to and read by offset; a core stays in one partition. */
final class SimulatedLog {
  /**
   * An entry.
   *
   * @param wire what a consumer reads
   * @param whole what was sent, where it arrived as it was
   */
  record Entry(Chunk wire, Optional<ModelChunk> whole) {}

  private final List<List<Entry>> partitions = new ArrayList<>();

  SimulatedLog(int count) {
    for (int i = 0; i < count; i++) {
      partitions.add(new ArrayList<>());
    }
  }

  void append(ModelChunk chunk, Optional<Damage> damage) {
    int partition = Math.floorMod(chunk.core().hashCode(), partitions.size());
    Chunk wire = Wire.seal(chunk);
    partitions
        .get(partition)
        .add(
            new Entry(
                damage.map(d -> d.of(wire)).orElse(wire),
                damage.isPresent() ? Optional.empty() : Optional.of(chunk)));
  }

  long end(int partition) {
    return partitions.get(partition).size();
  }

  Entry read(int partition, long offset) {
    return partitions.get(partition).get((int) offset);
  }
}
