package dev.retstack.graph.aggregate;

import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Copies by way of what is written of a state: nothing is shared, and nothing can be left out. */
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
