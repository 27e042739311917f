package dev.retstack.graph.state;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Copies made from what is written of a state, so nothing is shared and nothing can be left out.
 */
final class StateCopies {
  private StateCopies() {}

  /** Makes a fresh core what another one is. */
  static CoreGraph fill(CoreGraph copy, CoreGraph core) {
    ByteOutput bytes = new ByteOutput(1 << 12);
    try {
      core.writeTo(bytes);
      copy.readFrom(new ByteInput(bytes.take()), core.profile());
    } catch (IOException e) {
      throw new UncheckedIOException("a core just written cannot be read: " + core.key(), e);
    }
    return copy;
  }
}
