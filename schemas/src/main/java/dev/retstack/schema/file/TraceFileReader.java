package dev.retstack.schema.file;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceSeal;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.ZstdFrame;
import dev.retstack.schema.wire.AvroGuard;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.specific.SpecificDatumReader;

/**
 * Reads a recorded trace from front to back and trusts nothing in it. For one thread.
 *
 * <ul>
 *   <li>A file that was cut off is read up to the cut, and {@link #truncated()} says so.
 *   <li>A file that is not a trace, or was changed, gives a {@link CorruptTraceException} at the
 *       change, or at the seal at the latest. So entries are certain only after {@link #next()} has
 *       returned null.
 *   <li>Memory stays below four times the file's size or 64 MiB, whichever is more.
 * </ul>
 *
 * <p>This is own code because Avro's {@code DataFileReader} keeps none of these promises: it trusts
 * the sizes in a block, and it cannot tell a cut file from a changed one.
 */
public final class TraceFileReader implements Closeable {
  static {
    AvroGuard.trustOwnClasses();
  }

  private static final int UNPACKED_BYTES_MIN = 1 << 16;

  private final String file;
  private final TraceInput in;
  private byte[] sync;
  private SpecificDatumReader<TraceEntry> datums;
  private BinaryDecoder decoder;
  private byte[] unpacked = new byte[UNPACKED_BYTES_MIN];
  private long entries;
  private boolean ended;
  private String truncation;

  private TraceFileReader(String file, InputStream in) {
    this.file = file;
    this.in = new TraceInput(in);
  }

  /**
   * Opens a trace and reads its header.
   *
   * @throws CorruptTraceException where the file does not begin like a trace that this version
   *     knows
   */
  public static TraceFileReader open(Path file) throws IOException {
    return open(file.toString(), Files.newInputStream(file));
  }

  /** As {@link #open(Path)}, from any stream; the name is for messages. */
  static TraceFileReader open(String name, InputStream in) throws IOException {
    TraceFileReader reader = new TraceFileReader(name, in);
    try {
      reader.readHeader();
    } catch (CutOffException e) {
      reader.cutOff(e);
    } catch (IOException | RuntimeException e) {
      reader.close();
      throw e;
    }
    return reader;
  }

  /**
   * The next image or chunk; the seal is checked and not given out.
   *
   * @return null after the last one: then see {@link #truncated()}
   * @throws CorruptTraceException where the file was changed; a caller drops what it has read
   */
  public TraceEntry next() throws IOException {
    if (ended) {
      return null;
    }
    try {
      return nextEntry();
    } catch (CutOffException e) {
      cutOff(e);
      return null;
    } catch (CorruptTraceException e) {
      ended = true;
      throw e;
    }
  }

  /** True once {@link #next()} has met the end of a file that is not sealed. */
  public boolean truncated() {
    return truncation != null;
  }

  /** One sentence that names the offset and what is readable; empty unless truncated. */
  public String truncation() {
    return truncation == null ? "" : truncation;
  }

  @Override
  public void close() throws IOException {
    ended = true;
    in.close();
  }

  private void readHeader() throws IOException, CutOffException {
    List<byte[]> candidates = new ArrayList<>(TraceFormat.HEADERS);
    while (candidates.getFirst().length > in.offset()) {
      int at = (int) in.offset();
      int b = in.read();
      if (b < 0) {
        throw new CutOffException("its header");
      }
      int expected = candidates.getFirst()[at] & 0xff;
      candidates.removeIf(header -> (header[at] & 0xff) != b);
      if (candidates.isEmpty()) {
        throw corrupt(
            at,
            "not a trace that this version knows: header byte expected 0x%02x, received 0x%02x;"
                    .formatted(expected, b)
                + " if another version wrote it, record it again");
      }
    }
    if (in.take(TraceFormat.SYNC_BYTES) < TraceFormat.SYNC_BYTES) {
      throw new CutOffException("its header");
    }
    sync = Arrays.copyOf(in.bytes(), TraceFormat.SYNC_BYTES);
    datums = new SpecificDatumReader<>(TraceEntry.getClassSchema());
  }

  private TraceEntry nextEntry() throws IOException, CutOffException {
    long start = in.offset();
    long crcBefore = in.crc32c();
    int length = readBlock(start);
    TraceEntry entry = decode(start, unpack(start, length));
    int set =
        (entry.getImage() == null ? 0 : 1)
            + (entry.getChunk() == null ? 0 : 1)
            + (entry.getEnd() == null ? 0 : 1);
    if (set != 1) {
      throw corrupt(start, "entry with %d fields set, expected 1".formatted(set));
    }
    if (entry.getEnd() != null) {
      checkSeal(entry.getEnd(), start, crcBefore);
      ended = true;
      return null;
    }
    if (entry.getChunk() != null) {
      try {
        Chunks.check(entry.getChunk());
      } catch (CorruptChunkException e) {
        throw corrupt(start, e.getMessage());
      }
    }
    entries++;
    return entry;
  }

  /** Takes one block; its packed bytes are then at the front of the input's bytes. */
  private int readBlock(long start) throws IOException, CutOffException {
    long count = number(start, "its seal");
    if (count != 1) {
      throw corrupt(start, "block of %d entries, expected 1".formatted(count));
    }
    long sizeAt = in.offset();
    long size = number(sizeAt, "a block");
    if (size < 1 || size > TraceFormat.BLOCK_BYTES_MAX) {
      throw corrupt(
          sizeAt,
          "block of %d bytes, expected 1 to %d".formatted(size, TraceFormat.BLOCK_BYTES_MAX));
    }
    int length = (int) size;
    int wanted = length + TraceFormat.SYNC_BYTES;
    int taken = in.take(wanted);
    if (taken < wanted) {
      // a file that was cut holds no marker after the cut; a changed size leaves one
      int marker = indexOfSync(taken);
      if (marker >= 0) {
        throw corrupt(
            sizeAt, "block of %d bytes, but its marker stands after %d".formatted(length, marker));
      }
      throw new CutOffException("a block");
    }
    if (!isSync(length)) {
      throw corrupt(
          start, "block of %d bytes is not followed by the file's marker".formatted(length));
    }
    return length;
  }

  private int unpack(long start, int length) throws CorruptTraceException {
    byte[] packed = in.bytes();
    try {
      int descriptor = ZstdFrame.check(packed, 0, length);
      int window = packed[5] & 0xff;
      if (descriptor != TraceFormat.ZSTD_DESCRIPTOR || window != TraceFormat.ZSTD_WINDOW) {
        throw corrupt(
            start,
            "zstd frame begins 0x%02x 0x%02x, expected 0x%02x 0x%02x"
                .formatted(
                    descriptor, window, TraceFormat.ZSTD_DESCRIPTOR, TraceFormat.ZSTD_WINDOW));
      }
    } catch (CorruptChunkException e) {
      throw corrupt(start, e.getMessage());
    }
    grow(4L * length);
    while (true) {
      try {
        return (int) Zstd.decompressByteArray(unpacked, 0, unpacked.length, packed, 0, length);
      } catch (ZstdException e) {
        boolean tooSmall = e.getErrorCode() == Zstd.errDstSizeTooSmall();
        if (!tooSmall || unpacked.length == TraceFormat.ENTRY_BYTES_MAX) {
          throw corrupt(start, "zstd refuses the block: " + e.getMessage());
        }
        grow(4L * unpacked.length);
      }
    }
  }

  private void grow(long size) {
    int capped = (int) Math.min(size, TraceFormat.ENTRY_BYTES_MAX);
    if (unpacked.length < capped) {
      unpacked = new byte[capped];
    }
  }

  private TraceEntry decode(long start, int length) throws IOException {
    try {
      AvroGuard.check(TraceEntry.getClassSchema(), unpacked, 0, length);
      decoder = DecoderFactory.get().binaryDecoder(unpacked, 0, length, decoder);
      return datums.read(null, decoder);
    } catch (CorruptChunkException | AvroRuntimeException e) {
      throw corrupt(start, e.getMessage());
    }
  }

  private void checkSeal(TraceSeal seal, long start, long crc) throws IOException {
    if (seal.getEntries() != entries || seal.getBytes() != start || seal.getCrc32c() != crc) {
      throw corrupt(
          start,
          "seal expected %d entries in %d bytes with CRC-32C %08x, received %d in %d with %08x"
              .formatted(
                  seal.getEntries(), seal.getBytes(), seal.getCrc32c(), entries, start, crc));
    }
    long after = in.offset();
    if (in.read() >= 0) {
      throw corrupt(after, "bytes follow the seal");
    }
  }

  /** A zigzag varint of at most 64 bits in its shortest form. */
  private long number(long start, String what) throws IOException, CutOffException {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      int b = in.read();
      if (b < 0) {
        throw new CutOffException(shift == 0 ? what : "a block");
      }
      if (shift == 63 && b > 1) {
        throw corrupt(start, "number beyond 64 bits");
      }
      value |= (long) (b & 0x7f) << shift;
      if (b < 0x80) {
        if (b == 0 && shift > 0) {
          throw corrupt(start, "overlong number");
        }
        return (value >>> 1) ^ -(value & 1);
      }
    }
  }

  private int indexOfSync(int taken) {
    for (int i = 0; i + TraceFormat.SYNC_BYTES <= taken; i++) {
      if (isSync(i)) {
        return i;
      }
    }
    return -1;
  }

  private boolean isSync(int at) {
    return Arrays.equals(in.bytes(), at, at + sync.length, sync, 0, sync.length);
  }

  private void cutOff(CutOffException e) {
    ended = true;
    truncation =
        "%s was cut off at byte %d inside or before %s: %d entries are readable"
            .formatted(file, in.offset(), e.getMessage(), entries);
  }

  private CorruptTraceException corrupt(long offset, String what) {
    return new CorruptTraceException(file, offset, what);
  }

  /** A file read once from front to back, with offset and running CRC-32C of what was taken. */
  private static final class TraceInput implements Closeable {
    private static final int FIRST_BYTES = 1 << 16;

    private final InputStream in;
    private final byte[] buffer = new byte[1 << 16];
    private int at;
    private int limit;
    private final CRC32C crc = new CRC32C();
    private long offset;
    private byte[] bytes = new byte[FIRST_BYTES];

    TraceInput(InputStream in) {
      this.in = in;
    }

    /** Bytes taken so far. */
    long offset() {
      return offset;
    }

    /** CRC-32C of the bytes taken so far. */
    long crc32c() {
      return crc.getValue();
    }

    /** Takes one byte, 0 to 255; -1 at the end. */
    int read() throws IOException {
      if (at == limit && !fill()) {
        return -1;
      }
      int b = buffer[at++] & 0xff;
      crc.update(b);
      offset++;
      return b;
    }

    /**
     * Takes up to {@code count} bytes into {@link #bytes()}; memory grows with what really comes.
     *
     * @return how many came; fewer than {@code count} only at the end of the file
     */
    int take(int count) throws IOException {
      int taken = 0;
      while (taken < count && (at < limit || fill())) {
        int more = Math.min(count - taken, limit - at);
        if (taken + more > bytes.length) {
          bytes = Arrays.copyOf(bytes, (int) Math.min(2L * bytes.length, count));
        }
        System.arraycopy(buffer, at, bytes, taken, more);
        at += more;
        taken += more;
      }
      crc.update(bytes, 0, taken);
      offset += taken;
      return taken;
    }

    /** What {@link #take} filled; valid up to the next call. */
    byte[] bytes() {
      return bytes;
    }

    private boolean fill() throws IOException {
      at = 0;
      limit = Math.max(in.read(buffer), 0);
      return limit > 0;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /** The file ended inside something. Never leaves the package. */
  private static final class CutOffException extends Exception {
    private static final long serialVersionUID = 1;

    CutOffException(String inside) {
      super(inside);
    }
  }
}
