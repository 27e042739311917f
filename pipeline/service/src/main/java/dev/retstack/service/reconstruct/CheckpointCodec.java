package dev.retstack.service.reconstruct;

import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.ZstdBytes;
import dev.retstack.service.ingest.OtherVersionException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Cuts a checkpoint into parts small enough for any broker, and joins them again.
 *
 * <pre>
 * part, big-endian   magic "RSCP"  u8 version  u32 partition  u64 epoch  u64 nextOffset
 *                    u32 part  u32 parts  u64 rawBytes  u64 packedBytes  u32 crc32c  bytes...
 * </pre>
 *
 * The bytes of all parts together are the state packed by zstd. The CRC-32C is over the header
 * without {@code part} and itself, then over those bytes. All parts of a checkpoint carry the same
 * header but for {@code part}.
 */
final class CheckpointCodec {
  /**
   * Payload of one part: with its header and as a batch it stays below half of G1's smallest
   * region, for which see {@link dev.retstack.graph.snapshot.ByteOutput}, and below Kafka's default
   * limit.
   */
  static final int PART_BYTES = 384 << 10;

  /** The largest payload that was ever written. */
  private static final int MAX_PART_BYTES = 768 << 10;

  /** Largest state that is unpacked; a header that claims more is refused. */
  static final long MAX_STATE_BYTES = 2_000_000_000L;

  private static final int MAGIC = 0x52534350;
  private static final byte VERSION = 1;
  private static final int HEADER_BYTES = 4 + 1 + 4 + 8 + 8 + 4 + 4 + 8 + 8 + 4;

  /** Of state that this release does not read. */
  static final String CURE = "begin anew with another --group";

  private CheckpointCodec() {}

  /**
   * A checkpoint whose state is packed.
   *
   * @param rawBytes of the state unpacked
   * @param bytes the state packed by zstd
   */
  record Packed(int partition, long epoch, long nextOffset, long rawBytes, StateBytes bytes) {
    static Packed of(Checkpoint checkpoint) {
      ByteOutput packed = ByteOutput.inPieces();
      try {
        ZstdBytes.pack(checkpoint.state().pieces(), stream(packed));
      } catch (IOException e) {
        throw new UncheckedIOException("a state that does not fit one checkpoint", e);
      }
      return new Packed(
          checkpoint.partition(),
          checkpoint.epoch(),
          checkpoint.nextOffset(),
          checkpoint.state().length(),
          new StateBytes(packed.takePieces()));
    }

    private static OutputStream stream(ByteOutput out) {
      return new OutputStream() {
        @Override
        public void write(int b) throws IOException {
          out.write(b);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
          out.write(from, offset, length);
        }
      };
    }

    /** The same state under another owner. */
    Packed withEpoch(long raised) {
      return new Packed(partition, raised, nextOffset, rawBytes, bytes);
    }

    /** Number of its parts, at least one. */
    int parts() {
      return Math.toIntExact(Math.max(1, Math.ceilDiv(bytes.length(), (long) PART_BYTES)));
    }

    /**
     * Unpacks the state.
     *
     * @throws CorruptCheckpointException where that is not what it claims to be, or half the heap
     *     has no room for it
     */
    Checkpoint unpack() throws CorruptCheckpointException {
      long room = Runtime.getRuntime().maxMemory() / 2;
      if (rawBytes > room) {
        throw new CorruptCheckpointException(
            "checkpoint has %d MiB unpacked, and there is room for %d MiB: give a larger -Xmx"
                .formatted(rawBytes >> 20, room >> 20));
      }
      try {
        byte[] state = ZstdBytes.unpack(bytes.joined(), Math.toIntExact(rawBytes));
        return new Checkpoint(partition, epoch, nextOffset, StateBytes.of(state));
      } catch (CorruptChunkException e) {
        throw new CorruptCheckpointException("checkpoint does not unpack: " + e.getMessage());
      }
    }
  }

  /** The parts, at least one. */
  static List<byte[]> encode(Checkpoint checkpoint) {
    return encode(Packed.of(checkpoint));
  }

  /** The parts, at least one. */
  static List<byte[]> encode(Packed checkpoint) {
    StateBytes packed = checkpoint.bytes();
    int parts = checkpoint.parts();
    Header unsigned =
        new Header(
            checkpoint.partition(),
            checkpoint.epoch(),
            checkpoint.nextOffset(),
            0,
            parts,
            checkpoint.rawBytes(),
            packed.length(),
            0);
    Header signed = unsigned.withCrc(unsigned.crcWith(packed));
    List<byte[]> encoded = new ArrayList<>(parts);
    packed.cut(
        PART_BYTES,
        run ->
            encoded.add(
                signed
                    .withPart(encoded.size())
                    .write(ByteBuffer.allocate(HEADER_BYTES + run.length))
                    .put(run)
                    .array()));
    return encoded;
  }

  /** Number of parts that belong to the checkpoint whose part 0 this is. */
  static int parts(byte[] first) throws IOException {
    return Header.read(ByteBuffer.wrap(first)).parts;
  }

  /**
   * Joins the parts of one checkpoint, in order.
   *
   * @throws CorruptCheckpointException when they are not the parts of one checkpoint, or damaged
   * @throws OtherVersionException when they are of another version
   */
  static Checkpoint decode(List<byte[]> parts) throws IOException {
    return join(parts).unpack();
  }

  /**
   * Joins the parts of one checkpoint, in order, and leaves the state packed.
   *
   * @throws CorruptCheckpointException when they are not the parts of one checkpoint, or damaged
   * @throws OtherVersionException when they are of another version
   */
  static Packed join(List<byte[]> parts) throws IOException {
    Header first = Header.read(ByteBuffer.wrap(parts.getFirst()));
    if (parts.size() != first.parts) {
      throw new CorruptCheckpointException(
          "checkpoint has %d parts, its header says %d".formatted(parts.size(), first.parts));
    }
    if (first.packedBytes < 0
        || first.packedBytes > (long) first.parts * MAX_PART_BYTES
        || first.rawBytes < 0
        || first.rawBytes > MAX_STATE_BYTES) {
      throw new CorruptCheckpointException(
          "checkpoint claims %d bytes packed, %d unpacked, in %d parts"
              .formatted(first.packedBytes, first.rawBytes, first.parts));
    }
    ByteBuffer packed = ByteBuffer.allocate(Math.toIntExact(first.packedBytes));
    for (int i = 0; i < parts.size(); i++) {
      ByteBuffer part = ByteBuffer.wrap(parts.get(i));
      Header header = Header.read(part);
      if (!header.equals(first.withPart(i)) || part.remaining() > packed.remaining()) {
        throw new CorruptCheckpointException(
            "part %d does not belong to its checkpoint: %s, expected %s"
                .formatted(i, header, first.withPart(i)));
      }
      packed.put(part);
    }
    StateBytes all = StateBytes.of(packed.array());
    if (packed.hasRemaining() || first.crcWith(all) != first.crc) {
      throw new CorruptCheckpointException(
          "checkpoint of partition %d at offset %d fails its checksum"
              .formatted(first.partition, first.nextOffset));
    }
    return new Packed(first.partition, first.epoch, first.nextOffset, first.rawBytes, all);
  }

  private record Header(
      int partition,
      long epoch,
      long nextOffset,
      int part,
      int parts,
      long rawBytes,
      long packedBytes,
      int crc) {
    static Header read(ByteBuffer in) throws IOException {
      if (in.remaining() < HEADER_BYTES) {
        throw new CorruptCheckpointException(
            "checkpoint part of %d bytes is shorter than its header".formatted(in.remaining()));
      }
      int magic = in.getInt();
      byte version = in.get();
      if (magic != MAGIC) {
        throw new CorruptCheckpointException("not a checkpoint: magic 0x%08x".formatted(magic));
      }
      if (version != VERSION) {
        throw new OtherVersionException("a checkpoint", version & 0xff, VERSION, CURE);
      }
      Header header =
          new Header(
              in.getInt(),
              in.getLong(),
              in.getLong(),
              in.getInt(),
              in.getInt(),
              in.getLong(),
              in.getLong(),
              in.getInt());
      if (header.parts < 1 || header.part < 0 || header.part >= header.parts) {
        throw new CorruptCheckpointException(
            "checkpoint part %d of %d".formatted(header.part, header.parts));
      }
      return header;
    }

    ByteBuffer write(ByteBuffer out) {
      return out.putInt(MAGIC)
          .put(VERSION)
          .putInt(partition)
          .putLong(epoch)
          .putLong(nextOffset)
          .putInt(part)
          .putInt(parts)
          .putLong(rawBytes)
          .putLong(packedBytes)
          .putInt(crc);
    }

    int crcWith(StateBytes packed) {
      CRC32C sum = new CRC32C();
      sum.update(withPart(0).withCrc(0).write(ByteBuffer.allocate(HEADER_BYTES)).flip());
      packed.pieces().forEach(piece -> sum.update(piece.duplicate()));
      return (int) sum.getValue();
    }

    Header withPart(int number) {
      return new Header(partition, epoch, nextOffset, number, parts, rawBytes, packedBytes, crc);
    }

    Header withCrc(int sum) {
      return new Header(partition, epoch, nextOffset, part, parts, rawBytes, packedBytes, sum);
    }
  }
}
