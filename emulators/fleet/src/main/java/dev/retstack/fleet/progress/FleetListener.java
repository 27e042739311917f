package dev.retstack.fleet.progress;

import java.time.Duration;

/** Receives the progress of a fleet. Calls come from several threads, never two at a time. */
public interface FleetListener {
  /** From time to time, and once at the end. */
  default void progress(FleetProgress progress) {}

  /**
   * Every core has been opened.
   *
   * @param time that it took the threads, without what the cores ran in between
   */
  default void allOpened(int cores, Duration time) {}

  /** A core has ended. */
  default void coreEnded(CoreResult result) {}

  /** Listens to nothing. */
  FleetListener NONE = new FleetListener() {};
}
