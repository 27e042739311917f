package dev.retstack.service.partition;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.check.StatCounts;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.state.RefusedCores;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The position of a partition in numbers, for a scrape. Unlike a {@link StateCopy} it does not copy
 * the state; its cost grows only with the number of cores.
 *
 * @param open whether its state is loaded; all else is 0 before
 * @param epoch how often it was taken over
 * @param nextOffset first offset that is not part of the state
 * @param checkpointedOffset what a restart would go back to
 * @param checkpointAge time since that checkpoint was written, or found
 * @param checkpointPending time that the checkpoint on its way has taken so far; zero for none
 * @param skippedOffsets offsets that were never delivered
 * @param waiting chunks that came and are not applied yet
 * @param images chunks that wait for their image
 * @param records trace records in the state
 * @param lost trace records known to be lost
 * @param untraced calls known to have made no records
 * @param cores how many cores ended in which way
 * @param running cores that have not ended, by session
 * @param resting cores that are not in memory until their next chunk comes
 * @param coresMax cores that it may have at most
 * @param forgotten what was dropped from the state, being silent for too long
 * @param refused cores for which there was no room
 * @param stats counts other than 0
 */
public record PartitionMeasure(
    int partition,
    boolean open,
    long epoch,
    long nextOffset,
    long checkpointedOffset,
    Duration checkpointAge,
    Duration checkpointPending,
    long skippedOffsets,
    int waiting,
    StateCopy.Waiting images,
    long records,
    long lost,
    long untraced,
    Map<CoreEnd, Integer> cores,
    Map<String, Integer> running,
    int resting,
    int coresMax,
    ForgottenSessions forgotten,
    List<RefusedCores.Row> refused,
    Map<Stat, Long> stats) {
  public PartitionMeasure {
    cores = Collections.unmodifiableMap(new EnumMap<>(cores));
    running = Map.copyOf(running);
    refused = List.copyOf(refused);
    stats = Collections.unmodifiableMap(new EnumMap<>(stats));
  }

  /**
   * A partition that stands there.
   *
   * @param applier has its state; null where that is not loaded yet
   */
  static PartitionMeasure of(
      StateCopy position,
      Duration checkpointAge,
      Duration checkpointPending,
      int waiting,
      ChunkApplier applier) {
    Map<CoreEnd, Integer> cores = new EnumMap<>(CoreEnd.class);
    Map<String, Integer> running = new HashMap<>();
    StatCounts counts = new StatCounts();
    GraphState state = applier == null ? new GraphState() : applier.state();
    counts.add(state.stats());
    long records = 0;
    long lost = 0;
    long untraced = 0;
    for (CoreSummary core : state.summaries()) {
      cores.merge(core.end(), 1, Integer::sum);
      if (core.end() == CoreEnd.RUNNING) {
        running.merge(core.key().session(), 1, Integer::sum);
      }
      counts.add(core.stats());
      counts.add(Stat.OPEN_CALLS, core.open());
      records += core.records();
      lost += core.lost();
      untraced = Saturating.sum(untraced, core.stats().untraced());
    }
    Map<Stat, Long> stats = new EnumMap<>(Stat.class);
    for (Stat stat : Stat.values()) {
      if (counts.get(stat) != 0) {
        stats.put(stat, counts.get(stat));
      }
    }
    return new PartitionMeasure(
        position.partition(),
        applier != null,
        position.epoch(),
        position.nextOffset(),
        position.checkpointedOffset(),
        checkpointAge,
        checkpointPending,
        position.skippedOffsets(),
        waiting,
        position.waiting(),
        records,
        lost,
        untraced,
        cores,
        running,
        state.resting(),
        position.limits().cores(),
        state.ages().forgotten(),
        state.refused().rows(),
        stats);
  }
}
