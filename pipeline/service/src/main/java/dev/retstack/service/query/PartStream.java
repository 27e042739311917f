package dev.retstack.service.query;

import dev.retstack.service.http.HeapRoom;
import dev.retstack.service.partition.StateCopy;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Parts on their way from one member to another, big-endian: {@code RSPT}, a byte of version; for
 * each part an int partition (0 and up), longs epoch, nextOffset, checkpointedOffset,
 * skippedOffsets, chunks that wait for images and which (a text), a text (as in {@link
 * java.io.DataOutput#writeUTF}) why it is absent or nothing, an int of length and the body; then
 * the int -1, so that a stream that was cut off shows.
 */
final class PartStream {
  private static final int MAGIC = 0x5253_5054;
  private static final int VERSION = 1;
  private static final int END = -1;

  private PartStream() {}

  static byte[] head() {
    return Part.written(
        out -> {
          out.writeInt(MAGIC);
          out.writeByte(VERSION);
        });
  }

  /** What stands before a body. */
  static byte[] head(Part part) {
    return Part.written(
        out -> {
          out.writeInt(part.partition());
          out.writeLong(part.epoch());
          out.writeLong(part.nextOffset());
          out.writeLong(part.checkpointedOffset());
          out.writeLong(part.skippedOffsets());
          out.writeInt(part.waiting().chunks());
          out.writeUTF(part.waiting().images());
          out.writeUTF(part.absent());
          out.writeInt(part.body().length);
        });
  }

  static byte[] end() {
    return Part.written(out -> out.writeInt(END));
  }

  /**
   * Reads all parts; those that came before a failure have been handed over. One that there is no
   * room for is handed over as absent.
   *
   * @throws IOException where the stream breaks off, or is none
   */
  static void read(InputStream from, HeapRoom.Share room, Consumer<Part> part) throws IOException {
    DataInputStream in = new DataInputStream(from);
    if (in.readInt() != MAGIC || in.readByte() != VERSION) {
      throw new IOException("its parts are of another version: have all members run the same");
    }
    while (true) {
      int partition = in.readInt();
      if (partition == END) {
        return;
      }
      long epoch = in.readLong();
      long nextOffset = in.readLong();
      long checkpointed = in.readLong();
      long skipped = in.readLong();
      StateCopy.Waiting waiting = new StateCopy.Waiting(in.readInt(), in.readUTF());
      String absent = in.readUTF();
      int length = in.readInt();
      if (partition < 0 || length < 0) {
        throw new IOException("partition %d, length %d".formatted(partition, length));
      }
      Optional<String> refusal = room.take(partition, length);
      if (refusal.isPresent()) {
        in.skipNBytes(length);
        part.accept(Part.absent(partition, refusal.get()));
        continue;
      }
      byte[] body = in.readNBytes(length);
      if (body.length < length) {
        throw new EOFException("the stream was cut off in partition " + partition);
      }
      part.accept(
          new Part(
              partition,
              epoch,
              nextOffset,
              checkpointed,
              skipped,
              waiting,
              body,
              Optional.empty(),
              absent));
    }
  }
}
