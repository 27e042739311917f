package dev.retstack.service.reconstruct;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;

/**
 * Bytes of a state, in pieces: as few large arrays as can be, which are dear for the collector. The
 * buffers are not changed, nor their positions.
 *
 * @param pieces in order, each from its start to its limit
 */
public record StateBytes(List<ByteBuffer> pieces) {
  /** None. */
  static final StateBytes NONE = of(new byte[0]);

  /** Copies the list, not the bytes. */
  public StateBytes {
    pieces = List.copyOf(pieces);
  }

  /** These, which are not copied. */
  public static StateBytes of(byte[] bytes) {
    return new StateBytes(List.of(ByteBuffer.wrap(bytes)));
  }

  /** How many there are. */
  long length() {
    return pieces.stream().mapToLong(ByteBuffer::limit).sum();
  }

  /** All in one array: the only piece's own where it is full. */
  byte[] joined() {
    if (pieces.size() == 1) {
      ByteBuffer only = pieces.getFirst();
      if (only.arrayOffset() == 0 && only.limit() == only.array().length) {
        return only.array();
      }
    }
    ByteBuffer all = ByteBuffer.allocate(Math.toIntExact(length()));
    pieces.forEach(piece -> all.put(piece.duplicate()));
    return all.array();
  }

  /** Hands all over in order, in runs of at most so many bytes; none where there are none. */
  void cut(int most, Consumer<byte[]> run) {
    long left = length();
    ByteBuffer filling = ByteBuffer.allocate((int) Math.min(most, left));
    for (ByteBuffer piece : pieces) {
      ByteBuffer from = piece.duplicate();
      while (from.hasRemaining()) {
        int some = Math.min(from.remaining(), filling.remaining());
        filling.put(from.slice(from.position(), some));
        from.position(from.position() + some);
        left -= some;
        if (!filling.hasRemaining()) {
          run.accept(filling.array());
          filling = ByteBuffer.allocate((int) Math.min(most, left));
        }
      }
    }
  }
}
