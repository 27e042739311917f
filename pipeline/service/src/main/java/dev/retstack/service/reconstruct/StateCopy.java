package dev.retstack.service.reconstruct;

import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.aggregate.GraphState;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
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

  /** A state of its own for the asker. */
  public GraphState state() {
    try {
      return state(bytes, limits);
    } catch (IOException e) {
      throw new UncheckedIOException("a state just written cannot be read: " + this, e);
    }
  }

  /** The state in these bytes; a new one where there are none. */
  static GraphState state(byte[] bytes, GraphLimits limits) throws IOException {
    return bytes.length == 0
        ? new GraphState(limits)
        : GraphState.readFrom(new DataInputStream(new ByteArrayInputStream(bytes)), limits);
  }

  /** The state in the form that checkpoints and copies hold. */
  static byte[] bytes(GraphState state) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 16);
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      state.writeTo(out);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot happen in memory", e);
    }
    return bytes.toByteArray();
  }

  @Override
  public String toString() {
    return "StateCopy[partition %d, next offset %d, %d bytes]"
        .formatted(partition, nextOffset, bytes.length);
  }
}
