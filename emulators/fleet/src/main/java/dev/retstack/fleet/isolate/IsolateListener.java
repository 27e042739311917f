package dev.retstack.fleet.isolate;

import dev.retstack.fleet.FleetListener;

/** Is told how an isolated fleet does. Calls come from several threads, never two at a time. */
public interface IsolateListener extends FleetListener {
  /** A child runs; it will run cores of that image. */
  default void processStarted(long pid, String image) {}

  /** A child died before its cores had ended. */
  default void processDied(ProcessDeath death) {}
}
