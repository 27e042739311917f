package dev.retstack.graph.snapshot;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** All parts of a state in one piece of memory: of each its key, its length and its bytes. */
public final class JoinedParts implements StateChanges {
  private static final int ROOM = 1 << 16;

  private final ByteOutput out = new ByteOutput(ROOM);

  /** Where a part stands. */
  private record Span(int from, int to) {}

  @Override
  public void put(String key, byte[] part) {
    try {
      Fields.writeText(out, key);
      out.writeInt(part.length);
      out.write(part);
    } catch (IOException e) {
      throw new UncheckedIOException("a state that does not fit one piece of memory", e);
    }
  }

  @Override
  public void remove(String key) {
    throw new IllegalStateException("all parts are written, none is removed: " + key);
  }

  /** What was put so far; nothing is put after this. */
  public byte[] take() {
    return out.take();
  }

  /**
   * The parts by their keys, each copied out of the whole when it is asked for.
   *
   * @throws IOException where these are no such parts
   */
  public static Map<String, byte[]> of(byte[] joined) throws IOException {
    Map<String, Span> spans = new HashMap<>();
    ByteInput in = new ByteInput(joined);
    while (in.remaining() > 0) {
      String key = Fields.readText(in);
      int length = in.readInt();
      int from = in.position();
      if (in.skipBytes(length) != length || spans.put(key, new Span(from, from + length)) != null) {
        throw new IOException("corrupt state: part " + key + " occurs twice, or is cut off");
      }
    }
    return new LazyParts<>(spans, span -> Arrays.copyOfRange(joined, span.from(), span.to()));
  }
}
