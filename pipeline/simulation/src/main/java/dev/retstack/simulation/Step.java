package dev.retstack.simulation;

import java.util.Optional;

/** An event of a simulated run. Every part of a sequence of steps is a valid sequence too. */
sealed interface Step {
  /** A chunk of a core reaches the log; one that is never sent is lost. */
  record Send(int core, int chunk, Optional<Damage> damage) implements Step {
    @Override
    public String toString() {
      return "send chunk %d of core %d".formatted(chunk, core)
          + damage.map(d -> ", " + d.field() + " damaged by " + d.bits()).orElse("");
    }
  }

  /** The owner of a partition takes its next record. */
  record Poll(int partition) implements Step {
    @Override
    public String toString() {
      return "partition %d: take a record".formatted(partition);
    }
  }

  /** The owner stores its state, with its next offset as one. */
  record Snapshot(int partition) implements Step {
    @Override
    public String toString() {
      return "partition %d: store the state".formatted(partition);
    }
  }

  /** The owner commits the offset of the state that is stored. */
  record Commit(int partition) implements Step {
    @Override
    public String toString() {
      return "partition %d: commit".formatted(partition);
    }
  }

  /** The owner dies and comes back. */
  record Crash(int partition) implements Step {
    @Override
    public String toString() {
      return "partition %d: its owner dies and comes back".formatted(partition);
    }
  }

  /** The partition gets another owner; the old one does not know it yet. */
  record Rebalance(int partition) implements Step {
    @Override
    public String toString() {
      return "partition %d: another owner".formatted(partition);
    }
  }

  /** The former owner takes a record and stores its state, which must be refused. */
  record Zombie(int partition) implements Step {
    @Override
    public String toString() {
      return "partition %d: the former owner stores its state".formatted(partition);
    }
  }
}
