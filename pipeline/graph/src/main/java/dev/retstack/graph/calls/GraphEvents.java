package dev.retstack.graph.calls;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.pyramid.Pyramid;

/** Receives calls and anomalies while chunks are applied, for publishers. */
public interface GraphEvents {
  /**
   * What follows is of this chunk.
   *
   * @param core whose chunk it is, of which {@link CoreGraph#revision()} is that of what follows
   */
  default void chunk(CoreGraph core, long sequence) {}

  /**
   * A chunk came late: whatever was told of this core's chunks from this number on no longer holds,
   * and is told anew with a higher {@link CoreGraph#revision()}.
   *
   * @param time from which on it may differ, in the core's unit
   */
  default void amended(CoreGraph core, long sequence, long time) {}

  /** Where all calls of this core are put by their times, too; null where nobody asks for that. */
  default Pyramid pyramid(CoreGraph core) {
    return null;
  }

  /** Smallest duration of which {@link #finished} wants to hear, in the core's unit. */
  long threshold();

  /** A call finished that lasted at least the threshold. */
  void finished(FinishedCall call);

  /**
   * An anomaly of this core was found and kept; beyond the limit per core and kind they are only
   * counted.
   */
  void anomaly(CoreGraph core, Anomaly anomaly);
}
