package dev.retstack.graph.check;

/** Where on the way of the data a loss or defect arose. */
public enum Source {
  /** At the emulated core: the capture side itself reports it. */
  CAPTURE,
  /** Between capture and pipeline: chunks, files, topics. */
  WIRE,
  /** Found when the calls were rebuilt. */
  ANALYSIS
}
