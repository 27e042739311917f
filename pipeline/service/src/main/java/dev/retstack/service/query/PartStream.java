package dev.retstack.service.query;

import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.service.identity.AnswerSeal;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Parts on their way from one member to another, big-endian: {@code RSPT}, a byte of version; for
 * each part an int partition (0 and up), longs epoch, nextOffset, checkpointedOffset,
 * skippedOffsets, chunks that wait for images and which (a text), a text (as in {@link
 * java.io.DataOutput#writeUTF}) why it is absent or nothing, an int of length and the body ({@link
 * Part.Kind}); then the int -1, so that a stream that was cut off shows. Behind each part, and
 * behind -1, stands the member's signature of all before it ({@link AnswerSeal}).
 */
final class PartStream {
  private static final int MAGIC = 0x5253_5054;
  private static final int VERSION = 1;
  private static final int END = -1;
  private static final int SKIPPED_BYTES = 1 << 16;

  private PartStream() {}

  /** Signs as a member does. */
  interface Signer {
    byte[] sign(AnswerSeal seal);
  }

  /** Whether the member that was asked signed what was read. */
  interface Checker {
    boolean isSigned(AnswerSeal read, byte[] signature);
  }

  /** What goes to one caller. */
  static final class Writer {
    private final AnswerSeal seal;
    private final Signer signer;

    Writer(AnswerSeal seal, Signer signer) {
      this.seal = seal;
      this.signer = signer;
    }

    byte[] head() {
      byte[] head =
          Part.written(
              out -> {
                out.writeInt(MAGIC);
                out.writeByte(VERSION);
              });
      seal.add(head);
      return head;
    }

    /** A part: what stands before its body, the body, and the signature. */
    List<byte[]> part(Part part) {
      byte[] head = headOf(part);
      seal.add(head);
      seal.add(part.body());
      return List.of(head, part.body(), signer.sign(seal));
    }

    List<byte[]> end() {
      byte[] end = Part.written(out -> out.writeInt(END));
      seal.add(end);
      return List.of(end, signer.sign(seal));
    }
  }

  private static byte[] headOf(Part part) {
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

  /**
   * Reads all parts; those that came before a failure have been handed over. One that there is no
   * room for is handed over as absent.
   *
   * @throws IOException where the stream breaks off, or is none, or was changed on the way
   */
  static void read(
      InputStream from, HeapRoom.Share room, AnswerSeal seal, Checker checker, Consumer<Part> part)
      throws IOException {
    DataInputStream in = new DataInputStream(new Sealed(from, seal));
    if (in.readInt() != MAGIC || in.readByte() != VERSION) {
      throw new IOException("its parts are of another version: have all members run the same");
    }
    int partition = in.readInt();
    while (partition != END) {
      Part read = part(partition, in, room);
      requireSigned(from, seal, checker);
      part.accept(read);
      partition = in.readInt();
    }
    requireSigned(from, seal, checker);
  }

  private static Part part(int partition, DataInputStream in, HeapRoom.Share room)
      throws IOException {
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
      for (int left = length; left > 0; left -= SKIPPED_BYTES) {
        var _ = in.readNBytes(Math.min(left, SKIPPED_BYTES)); // signed as well
      }
      return Part.absent(partition, refusal.get());
    }
    byte[] body = in.readNBytes(length);
    if (body.length < length) {
      throw new EOFException("the stream was cut off in partition " + partition);
    }
    return new Part(
        partition,
        epoch,
        nextOffset,
        checkpointed,
        skipped,
        waiting,
        body,
        Optional.empty(),
        absent);
  }

  /** Reads the next signature, which is not signed itself. */
  private static void requireSigned(InputStream from, AnswerSeal seal, Checker checker)
      throws IOException {
    byte[] signature = from.readNBytes(AnswerSeal.BYTES);
    if (signature.length < AnswerSeal.BYTES) {
      throw new EOFException("the stream was cut off in a signature");
    }
    if (!checker.isSigned(seal, signature)) {
      throw new IOException(
          "its parts are not what it signed: somebody on the way changed them; use TLS, or another way");
    }
  }

  /** Adds what is read to a seal. */
  private static final class Sealed extends FilterInputStream {
    private final AnswerSeal seal;

    Sealed(InputStream in, AnswerSeal seal) {
      super(in);
      this.seal = seal;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int from, int most) throws IOException {
      int count = in.read(into, from, most);
      seal.add(into, from, Math.max(0, count));
      return count;
    }
  }
}
