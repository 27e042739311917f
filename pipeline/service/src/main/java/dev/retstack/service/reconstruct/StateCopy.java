package dev.retstack.service.reconstruct;

import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.aggregate.TimeRules;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The state of one partition as it was when it was asked for; the asker may read it on any thread.
 *
 * @param epoch how often the partition was taken over
 * @param nextOffset first offset that is not part of the state
 * @param checkpointedOffset what a restart would go back to
 * @param skippedOffsets offsets that were never delivered, counted
 * @param bytes the GraphState
 * @param limits the limits it was made under
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
public record StateCopy(
    int partition,
    long epoch,
    long nextOffset,
    long checkpointedOffset,
    long skippedOffsets,
    byte[] bytes,
    GraphLimits limits) {

  /** Where the partition stood, without its state. */
  public StateCopy position() {
    return new StateCopy(
        partition, epoch, nextOffset, checkpointedOffset, skippedOffsets, new byte[0], limits);
  }

  /** A state of its own for the asker. */
  public GraphState state() {
    try {
      return read(bytes, limits);
    } catch (IOException e) {
      throw new UncheckedIOException("a state just written cannot be read: " + this, e);
    }
  }

  /**
   * The state in these bytes; a new one where there are none.
   *
   * @throws IOException where they are no state, or one in whose totals other time counts
   */
  static GraphState state(byte[] bytes, GraphLimits limits, TimeRules rules) throws IOException {
    if (bytes.length == 0) {
      return new GraphState(limits, rules);
    }
    GraphState state = read(bytes, limits);
    if (!state.rules().equals(rules)) {
      throw new IOException(
          "the checkpoint's totals are without %s, those asked for without %s: give the options of"
                  .formatted(names(state.rules()), names(rules))
              + " before, or another --group to begin anew");
    }
    return state;
  }

  private static GraphState read(byte[] bytes, GraphLimits limits) throws IOException {
    return GraphState.readFrom(new ByteInput(bytes), limits);
  }

  private static String names(TimeRules rules) {
    return rules.off().isEmpty() ? "nothing" : String.join(" and ", rules.off());
  }

  /** The state in the form that checkpoints and copies hold, in this version. */
  static byte[] bytes(GraphState state, int version) {
    ByteOutput out = new ByteOutput(1 << 16);
    write(state, version, out);
    return out.take();
  }

  /** The same in pieces. */
  static StateBytes pieces(GraphState state, int version) {
    ByteOutput out = ByteOutput.inPieces();
    write(state, version, out);
    return new StateBytes(out.takePieces());
  }

  private static void write(GraphState state, int version, ByteOutput out) {
    try {
      state.writeTo(out, version);
    } catch (IOException e) {
      throw new UncheckedIOException("a state that does not fit one snapshot", e);
    }
  }

  @Override
  public String toString() {
    return "StateCopy[partition %d, next offset %d, %d bytes]"
        .formatted(partition, nextOffset, bytes.length);
  }
}
