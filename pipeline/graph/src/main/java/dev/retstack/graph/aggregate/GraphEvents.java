package dev.retstack.graph.aggregate;

import dev.retstack.graph.report.AnomalyRow;

/** Hears of calls and anomalies while chunks are applied, for those who publish them. */
public interface GraphEvents {
  /** Smallest duration of which {@link #finished} wants to hear, in the core's unit. */
  long threshold();

  /** A call finished that lasted at least the threshold. */
  void finished(FinishedCall call);

  /** An anomaly was found and kept; beyond the limit per core and kind they are only counted. */
  void anomaly(AnomalyRow row);
}
