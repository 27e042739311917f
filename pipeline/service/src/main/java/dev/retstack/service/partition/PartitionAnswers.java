package dev.retstack.service.partition;

import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.top.StateTotals;
import java.util.Collection;
import java.util.Optional;

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

  /** Notes that the state is loaded, and answers the questions that wait for it. */
  void opened(long openedEpoch) {
    epoch = openedEpoch;
    awaitingCopy.answerAll();
  }

  /** Answers once the state is loaded. */
  void on(PartitionGraph.Copy m) {
    awaitingCopy.ask(m, intake.isOpen());
  }

  /** Answers at once. */
  void on(PartitionGraph.Totals m) {
    m.replyTo().tell(intake.isOpen() ? Optional.of(totals()) : Optional.empty());
  }

  /** Answers at once. */
  void on(PartitionGraph.Places m) {
    m.replyTo().tell(intake.isOpen() ? Optional.of(places(m)) : Optional.empty());
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
    m.replyTo().tell(position(intake.applier().state().copy()));
  }

  private PartitionTotals totals() {
    StateTotals totals = StateTotals.of(intake.applier().state());
    return new PartitionTotals(position(new byte[0]), totals);
  }

  private PartitionPlaces places(PartitionGraph.Places m) {
    PartitionPlaces found =
        PartitionPlaces.of(position(new byte[0]), intake.places(), m.core(), m.session(), m.most());
    return m.tiles() ? found.with(intake.applier().state()) : found;
  }

  private StateCopy position(byte[] state) {
    return new StateCopy(
        partition,
        epoch,
        intake.nextOffset(),
        checkpoints.writtenOffset(),
        intake.skippedOffsets(),
        intake.waits().waiting(),
        state,
        limits);
  }
}
