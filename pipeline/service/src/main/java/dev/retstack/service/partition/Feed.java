package dev.retstack.service.partition;

/** What sends a partition its records, as the partition's owner sees it. */
@FunctionalInterface
public interface Feed {
  /** An owner reports what it has taken when this many records are left, and when none is. */
  int FEW = 4;

  /** What an owner has to say; {@link Closed} comes last. */
  sealed interface Event {}

  /** The state is loaded: records are wanted from this offset on. */
  record Opened(long nextOffset) implements Event {}

  /** Reports that more records are applied, and that their results are handed over. */
  record Taken(int records) implements Event {}

  /** Reports that the owner cannot continue, and stops. */
  record Failed(Throwable cause) implements Event {}

  /** The owner is gone. */
  enum Closed implements Event {
    INSTANCE
  }

  /** Never blocks; safe for use by several threads. */
  void tell(Event event);
}
