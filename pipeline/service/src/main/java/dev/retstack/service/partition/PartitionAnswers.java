package dev.retstack.service.partition;

import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.top.StateTotals;
import java.util.Collection;

/**
 * What a partition answers about itself: a copy of its state, its totals, its position. Used only
 * by the partition's actor.
 */
final class PartitionAnswers {
  private final int partition;
  private final GraphLimits limits;
  private final ChunkIntake intake;
  private final CheckpointTurns checkpoints;
  private final Collection<?> queue;
  private final Waiting<PartitionGraph.Copy> awaitingCopy = new Waiting<>(this::copy);
  private final Waiting<PartitionGraph.Totals> awaitingTotals = new Waiting<>(this::totals);
  private final Waiting<PartitionGraph.Places> awaitingPlaces = new Waiting<>(this::places);
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
    awaitingPlaces.answerAll();
  }

  /** Answers once the state is loaded. */
  void on(PartitionGraph.Copy m) {
    awaitingCopy.ask(m, intake.isOpen());
  }

  /** Answers once the state is loaded. */
  void on(PartitionGraph.Totals m) {
    awaitingTotals.ask(m, intake.isOpen());
  }

  /** Answers once the state is loaded. */
  void on(PartitionGraph.Places m) {
    awaitingPlaces.ask(m, intake.isOpen());
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

  /** Answers at once. */
  void on(PartitionGraph.Weigh m) {
    boolean open = intake.isOpen();
    long bytes = open && m.bytes() ? intake.applier().state().bytes() : 0;
    m.replyTo().tell(new PartitionGraph.Weight(open, bytes));
  }

  private void copy(PartitionGraph.Copy m) {
    m.replyTo().tell(position(StateCopy.bytes(intake.applier().state())));
  }

  private void totals(PartitionGraph.Totals m) {
    StateTotals totals = StateTotals.of(intake.applier().state());
    m.replyTo().tell(new PartitionTotals(position(new byte[0]), totals));
  }

  private void places(PartitionGraph.Places m) {
    PartitionPlaces found =
        PartitionPlaces.of(position(new byte[0]), intake.places(), m.core(), m.session(), m.most());
    m.replyTo().tell(m.tiles() ? found.with(intake.applier().state()) : found);
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
