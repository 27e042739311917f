package dev.retstack.service.reconstruct;

import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.report.StateTotals;
import java.util.Collection;

/**
 * What a partition tells of itself to those who ask: a copy of its state, what it adds up to, where
 * it stands. Used by the partition's actor alone.
 */
final class PartitionAnswers {
  private final int partition;
  private final GraphLimits limits;
  private final ChunkIntake intake;
  private final CheckpointTurns checkpoints;
  private final Collection<?> queue;
  private final Waiting<PartitionGraph.Copy> awaitingCopy = new Waiting<>(this::copy);
  private final Waiting<PartitionGraph.Totals> awaitingTotals = new Waiting<>(this::totals);
  private long epoch;

  PartitionAnswers(
      int partition,
      GraphLimits limits,
      ChunkIntake intake,
      CheckpointTurns checkpoints,
      Collection<?> queue) {
    this.partition = partition;
    this.limits = limits;
    this.intake = intake;
    this.checkpoints = checkpoints;
    this.queue = queue;
  }

  /** Its state is loaded: those who wait for it are answered. */
  void opened(long openedEpoch) {
    epoch = openedEpoch;
    awaitingCopy.answerAll();
    awaitingTotals.answerAll();
  }

  /** Answers once the state is loaded. */
  void on(PartitionGraph.Copy m) {
    awaitingCopy.ask(m, intake.isOpen());
  }

  /** Answers once the state is loaded. */
  void on(PartitionGraph.Totals m) {
    awaitingTotals.ask(m, intake.isOpen());
  }

  /** Answers at once. */
  void on(PartitionGraph.Measure m) {
    m.replyTo()
        .tell(
            PartitionMeasure.of(
                position(new byte[0]),
                checkpoints.age(),
                checkpoints.pending(),
                queue.size(),
                intake.applier()));
  }

  private void copy(PartitionGraph.Copy m) {
    m.replyTo().tell(position(StateCopy.bytes(intake.applier().state())));
  }

  private void totals(PartitionGraph.Totals m) {
    StateTotals totals = StateTotals.of(intake.applier().state());
    m.replyTo().tell(new PartitionTotals(position(new byte[0]), totals));
  }

  private StateCopy position(byte[] state) {
    return new StateCopy(
        partition,
        epoch,
        intake.nextOffset(),
        checkpoints.writtenOffset(),
        intake.skippedOffsets(),
        intake.waits().told(),
        state,
        limits);
  }
}
