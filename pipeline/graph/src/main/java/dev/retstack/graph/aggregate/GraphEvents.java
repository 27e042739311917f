package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.Ending;
import dev.retstack.graph.report.AnomalyRow;

/** Hears of calls and anomalies while chunks are applied, for those who publish them. */
public interface GraphEvents {
  /** Smallest duration of which {@link #finished} wants to hear, in the core's unit. */
  long threshold();

  /**
   * A call finished that lasted at least the threshold.
   *
   * @param callerPc selfPc of the caller, 0 where unknown or none
   * @param level known open calls above it
   * @param self exit - enter - the time of the calls below
   */
  void finished(
      CoreKey core,
      ImageInfo image,
      long selfPc,
      long callerPc,
      int level,
      long enter,
      long exit,
      long self,
      Ending ending);

  /** An anomaly was found and kept; beyond the limit per core and kind they are only counted. */
  void anomaly(AnomalyRow row);
}
