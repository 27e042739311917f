package dev.retstack.fleet;

/** Is told how a fleet does. Calls come from several threads, never two at a time. */
public interface FleetListener {
  /** From time to time, and once at the end. */
  default void progress(FleetProgress progress) {}

  /** A core has ended. */
  default void coreEnded(CoreResult result) {}

  /** Listens to nothing. */
  FleetListener NONE = new FleetListener() {};
}
