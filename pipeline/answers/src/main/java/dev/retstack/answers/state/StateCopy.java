package dev.retstack.answers.state;

import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.TimeRules;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;

/**
 * The state of one partition as it was when it was asked for; the asker may read it on any thread.
 *
 * @param epoch how often the partition was taken over
 * @param nextOffset first offset that is not part of the state
 * @param checkpointedOffset what a restart would go back to
 * @param skippedOffsets offsets that were never delivered, counted
 * @param waiting chunks below {@code nextOffset} that are not part of the state
 * @param bytes the state, a {@link GraphState#copy}
 * @param limits the limits it was made under
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
public record StateCopy(
    int partition,
    long epoch,
    long nextOffset,
    long checkpointedOffset,
    long skippedOffsets,
    Waiting waiting,
    byte[] bytes,
    GraphLimits limits) {

  /**
   * Chunks that wait for images, which hold back nobody but their cores.
   *
   * @param images the first of them
   */
  public record Waiting(int chunks, String images) {
    /** Nothing waits. */
    public static final Waiting NONE = new Waiting(0, "");
  }

  /** The state is sound, and its totals count other time than those asked for. */
  public static final class OtherRulesException extends IOException {
    private static final long serialVersionUID = 1;

    OtherRulesException(String message) {
      super(message);
    }
  }

  /** Where the partition stood, without its state. */
  public StateCopy position() {
    return new StateCopy(
        partition,
        epoch,
        nextOffset,
        checkpointedOffset,
        skippedOffsets,
        waiting,
        new byte[0],
        limits);
  }

  /** A state for the asker alone: cores beyond the bytes of the copy rest. */
  public GraphState state() {
    try {
      return GraphState.ofCopy(bytes, limits, new StateBudget(bytes.length, 0));
    } catch (IOException e) {
      throw new UncheckedIOException("a state just written cannot be read: " + this, e);
    }
  }

  /**
   * The state of these parts; a new one where there are none. It holds no more than the budget
   * allows, but for what is in the parts.
   *
   * @param names for images that are announced, or were written, without
   * @throws IOException where they are no state, or one in whose totals other time counts
   */
  public static GraphState state(
      Map<String, byte[]> parts,
      GraphLimits limits,
      TimeRules rules,
      StateBudget budget,
      LateSymbols names)
      throws IOException {
    if (parts.isEmpty()) {
      return new GraphState(limits, rules, budget).named(names);
    }
    GraphState state;
    try {
      state = GraphState.readFrom(parts, limits, budget, names);
    } catch (IOException e) {
      throw new IOException(
          e.getMessage()
              + "; see who writes to the state topic, then start this member with --repair, or begin again with another"
              + " --group",
          e);
    }
    if (!state.rules().equals(rules)) {
      state.close();
      throw new OtherRulesException(
          "the checkpoint's totals are without %s, those asked for without %s: give the options of"
                  .formatted(names(state.rules()), names(rules))
              + " before, or another --group to begin again");
    }
    return state;
  }

  private static String names(TimeRules rules) {
    return rules.off().isEmpty() ? "nothing" : String.join(" and ", rules.off());
  }

  @Override
  public String toString() {
    return "StateCopy[partition %d, next offset %d, %d bytes]"
        .formatted(partition, nextOffset, bytes.length);
  }
}
