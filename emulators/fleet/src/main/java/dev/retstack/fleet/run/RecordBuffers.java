package dev.retstack.fleet.run;

import dev.retstack.fleet.probe.RecordBuffer;
import java.util.HashMap;
import java.util.Map;

/** The buffers of one thread, for all cores that take turns on it. */
public final class RecordBuffers {
  private final Map<Integer, RecordBuffer> byCapacity = new HashMap<>();

  /** The buffer whose batch holds this many records, emptied. */
  RecordBuffer empty(int recordsPerChunk) {
    RecordBuffer buffer = byCapacity.computeIfAbsent(recordsPerChunk, RecordBuffer::new);
    buffer.batch().clear();
    return buffer;
  }
}
