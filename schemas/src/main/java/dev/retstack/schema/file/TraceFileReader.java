package dev.retstack.schema.file;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import dev.retstack.schema.IndexBlock;
import dev.retstack.schema.PyramidDirectory;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceSeal;
import dev.retstack.schema.avro.AvroSource;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.ZstdFrame;
import dev.retstack.schema.file.TraceIndex.WrongIndexException;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Reads a recorded trace from front to back and trusts nothing in it. For one thread.
 *
 * <ul>
 *   <li>A file that was cut off is read up to the cut, and {@link #truncated()} says so.
 *   <li>A file that is not a trace, or was changed, gives a {@link CorruptTraceException} at the
 *       change, or at the seal at the latest. So entries are certain only after {@link #next()} has
 *       returned null.
 *   <li>An index that is not what the entries give is not used, and {@link #notice()} says so.
 *   <li>Memory stays below four times the file's size or 64 MiB, whichever is more.
 * </ul>
 *
 * <p>This is own code because Avro's {@code DataFileReader} keeps none of these promises: it trusts
 * the sizes in a block, and it cannot distinguish a cut file from a changed one.
 */
public final class TraceFileReader implements Closeable {
  private static final int UNPACKED_BYTES_MIN = 1 << 16;

  private final String file;
  private final TraceInput in;
  private final TraceIndex index = new TraceIndex();
  private byte[] sync;
  private byte[] unpacked = new byte[UNPACKED_BYTES_MIN];
  private long entries;
  private boolean ended;
  private boolean truncated;
  private boolean ofCut;
  private String notice = "";

  private TraceFileReader(String file, InputStream in, SeekableByteChannel channel) {
    this.file = file;
    this.in = new TraceInput(in, channel);
  }

  /**
   * Opens a trace and reads its header.
   *
   * @throws CorruptTraceException where the file does not begin like a trace that this version
   *     knows
   */
  public static TraceFileReader open(Path file) throws IOException {
    SeekableByteChannel channel = Files.newByteChannel(file);
    return open(file.toString(), Channels.newInputStream(channel), channel);
  }

  /** As {@link #open(Path)}, from any stream; the name is for messages. */
  static TraceFileReader open(String name, InputStream in) throws IOException {
    return open(name, in, null);
  }

  /**
   * As {@link #open(Path)}, from a stream that reads the channel, which may be in use elsewhere.
   */
  static TraceFileReader open(String name, InputStream in, SeekableByteChannel channel)
      throws IOException {
    TraceFileReader reader = new TraceFileReader(name, in, channel);
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
   * The next image or chunk; index and seal are checked and not given out.
   *
   * @return null after the last one: then see {@link #notice()}
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
    return truncated;
  }

  /**
   * Whether what came behind a cut is missing, once {@link #next()} has returned null: of this
   * file, or of one that it was made of. {@link #indexAtEnd} shows the latter too.
   */
  public boolean isCut() {
    return truncated || ofCut;
  }

  /**
   * A sentence for the user, once {@link #next()} has returned null: at which byte the file was cut
   * off and what is readable, or that its index is wrong; empty where all is well.
   */
  public String notice() {
    return notice.isEmpty() && ofCut
        ? file + " was made of a trace that was cut off: what came behind the cut is missing"
        : notice;
  }

  /** The index of the entries that were read so far. */
  TraceIndex index() {
    return index;
  }

  /** Where the next block begins. */
  long position() {
    return in.offset();
  }

  @Override
  public void close() throws IOException {
    ended = true;
    in.close();
  }

  private void readHeader() throws IOException, CutOffException {
    int length = TraceFormat.HEADERS.getFirst().length;
    int taken = in.take(length);
    byte[] nearest = TraceFormat.HEADERS.getFirst();
    int same = 0; // bytes that are as expected
    for (byte[] header : TraceFormat.HEADERS) {
      int wrong = Arrays.mismatch(header, 0, taken, in.bytes(), 0, taken);
      if (wrong < 0 || wrong > same) {
        nearest = header;
        same = wrong < 0 ? taken : wrong;
      }
    }
    if (same < taken) {
      throw corrupt(
          same,
          "not a trace that this version knows: header byte expected 0x%02x, received 0x%02x;"
                  .formatted(nearest[same] & 0xff, in.bytes()[same] & 0xff)
              + " if another version wrote it, record it again");
    }
    if (taken < length) {
      throw new CutOffException("its header");
    }
    if (in.take(TraceFormat.SYNC_BYTES) < TraceFormat.SYNC_BYTES) {
      throw new CutOffException("its header");
    }
    sync = Arrays.copyOf(in.bytes(), TraceFormat.SYNC_BYTES);
  }

  private TraceEntry nextEntry() throws IOException, CutOffException {
    long start = in.offset();
    long crcBefore = in.crc32c();
    int length = readBlock(start);
    TraceEntry entry;
    try {
      entry = entry(start, length);
    } catch (CorruptTraceException e) {
      sealAfterIndex(start, crcBefore, e, e.getMessage());
      return null;
    }
    if (entry.getEnd() != null || entry.getTiles() != null || entry.getPyramid() != null) {
      String what = entry.getEnd() != null ? "seal" : "pyramid";
      throw corrupt(start, what + " without an index before it");
    }
    if (entry.getIndex() != null) {
      sealAfterIndex(start, crcBefore, null, index.difference(entry.getIndex()));
      return null;
    }
    if (entry.getImage() != null) {
      index.add(entry.getImage(), start, in.offset());
    } else {
      index.add(entry.getChunk(), start, in.offset());
    }
    entries++;
    return entry;
  }

  /** The entry in the block that was just taken, checked by itself. */
  private TraceEntry entry(long start, int length) throws IOException {
    TraceEntry entry = decode(start, unpack(start, length));
    int set =
        (entry.getImage() == null ? 0 : 1)
            + (entry.getChunk() == null ? 0 : 1)
            + (entry.getIndex() == null ? 0 : 1)
            + (entry.getEnd() == null ? 0 : 1)
            + (entry.getTiles() == null ? 0 : 1)
            + (entry.getPyramid() == null ? 0 : 1);
    if (set != 1) {
      throw corrupt(start, "entry with %d fields set, expected 1".formatted(set));
    }
    try {
      if (entry.getChunk() != null) {
        Chunks.check(entry.getChunk());
      } else if (entry.getImage() != null) {
        Chunks.checkFunctions(entry.getImage());
      }
    } catch (CorruptChunkException e) {
      throw corrupt(start, e.getMessage());
    }
    return entry;
  }

  /**
   * Ends with the seal, which comes behind the pyramid, or now: the block before it is the index,
   * or is unreadable. In the latter case only the seal shows what it is.
   *
   * @param start of the block before
   * @param unreadable why it cannot be read, or null
   * @param fault what is wrong with it as an index; empty = nothing
   */
  private void sealAfterIndex(
      long start, long crcBefore, CorruptTraceException unreadable, String fault)
      throws IOException, CutOffException {
    final long indexCrc = in.blockCrc32c();
    try {
      PyramidCheck pyramid = new PyramidCheck(in.offset());
      long at = in.offset();
      TraceSeal seal = null;
      while (seal == null) {
        at = in.offset();
        try {
          seal = sealOrPyramid(at, pyramid);
        } catch (CorruptTraceException | CutOffException e) {
          // where the blocks of a pyramid do not follow each other, the seal is found from the end
          Tail tail = in.size() > at ? tail(start) : null;
          if (tail == null || tail.sealAt() <= at) {
            throw e;
          }
          pyramid.wrong(e.getMessage());
          at = tail.sealAt();
          seal = tail.seal();
        }
      }
      checkSeal(seal, start, crcBefore, at);
      ended = true;
      if (!fault.isEmpty() || seal.getIndexCrc32c() != indexCrc) {
        String why = fault.isEmpty() ? "it was changed after it was written" : fault;
        notice =
            "%s: its index is wrong, only the chunks themselves are believed: %s"
                .formatted(file, why);
      } else if (!pyramid.isOf(seal)) {
        notice = TracePyramid.wrong(file, pyramid.fault);
      }
    } catch (CorruptTraceException | CutOffException e) {
      if (unreadable != null) {
        throw unreadable;
      }
      throw e;
    }
  }

  /** Takes the block behind the index or a pyramid's block; null where it is not a seal. */
  private TraceSeal sealOrPyramid(long at, PyramidCheck pyramid)
      throws IOException, CutOffException {
    int length = readBlock(at);
    long crc = in.blockCrc32c();
    TraceEntry entry;
    try {
      entry = entry(at, length);
    } catch (CorruptTraceException e) {
      if (in.isAtEnd()) {
        throw e; // it should be the seal
      }
      pyramid.wrong(e.getMessage());
      return null;
    }
    if (entry.getTiles() != null) {
      pyramid.tiles(in.offset() - at, crc);
    } else if (entry.getPyramid() != null) {
      pyramid.directory(at, crc, entry.getPyramid());
    } else if (entry.getEnd() == null) {
      throw corrupt(at, "no seal follows the index");
    }
    return entry.getEnd();
  }

  /** Whether the blocks between index and seal are a pyramid of this trace. */
  private static final class PyramidCheck {
    private final long first;
    private final List<Long> tiles = new ArrayList<>();
    private String fault = "";
    private PyramidDirectory directory;
    private long position;
    private long crc;

    PyramidCheck(long first) {
      this.first = first;
    }

    void wrong(String why) {
      fault = fault.isEmpty() ? why : fault;
    }

    void tiles(long bytes, long blockCrc) {
      tiles.add(bytes);
      tiles.add(blockCrc);
      if (directory != null) {
        wrong("blocks follow its directory");
      }
    }

    void directory(long at, long blockCrc, PyramidDirectory found) {
      if (directory != null) {
        wrong("it has two directories");
      }
      directory = found;
      position = at;
      crc = blockCrc;
    }

    boolean isOf(TraceSeal seal) {
      if (directory == null && tiles.isEmpty() && seal.getPyramid() == 0) {
        return fault.isEmpty();
      }
      if (directory == null || seal.getPyramid() != position || seal.getPyramidCrc32c() != crc) {
        wrong("it was changed after it was written");
      } else {
        wrong(TracePyramid.fault(directory, seal, first));
        List<Long> told = new ArrayList<>();
        TracePyramid.places(directory)
            .forEach(
                place -> {
                  told.add((long) place.getBytes());
                  told.add(place.getCrc32c());
                });
        wrong(told.equals(tiles) ? "" : "its blocks are not those that its directory names");
      }
      return fault.isEmpty();
    }
  }

  /**
   * The entry whose block begins there; the next block is then at {@link #position}. What {@link
   * #next} does after this is not defined.
   *
   * @throws CorruptTraceException where no whole block with an entry begins there
   */
  TraceEntry entryAt(long position) throws IOException {
    in.seek(position);
    try {
      return entry(position, readBlock(position));
    } catch (CutOffException e) {
      throw corrupt(position, "the file ends inside " + e.getMessage());
    }
  }

  /**
   * Whether an entry of an image takes these bytes; only its first one is looked at.
   *
   * @throws CorruptTraceException as {@link #entryAt}
   */
  boolean isImage(long position, long bytes) throws IOException {
    in.seek(position);
    try {
      int length = readBlock(position);
      return in.offset() == position + bytes && unpack(position, length) > 0 && unpacked[0] != 0;
    } catch (CutOffException e) {
      throw corrupt(position, "the file ends inside " + e.getMessage());
    }
  }

  /**
   * The index that the seal names, found from the end of the file.
   *
   * @param first where the first block begins
   * @return null where the file does not end with a seal: it was cut off, or is being written
   */
  TraceIndex indexAtEnd(long first) throws IOException, WrongIndexException {
    Tail tail = tail(first);
    if (tail == null) {
      return null;
    }
    try {
      TraceSeal seal = tail.seal();
      ofCut = seal.getCut();
      long at = seal.getBytes();
      if (at < first || at >= tail.sealAt()) {
        throw new WrongIndexException();
      }
      IndexBlock block = entryAt(at).getIndex();
      boolean isLast = in.offset() == tail.sealAt();
      if (block == null
          || (seal.getPyramid() == 0 && !isLast)
          || in.blockCrc32c() != seal.getIndexCrc32c()) {
        throw new WrongIndexException();
      }
      return TraceIndex.of(block, first, at, seal.getEntries());
    } catch (CorruptTraceException e) {
      throw new WrongIndexException();
    }
  }

  /**
   * The end of a complete file.
   *
   * @param sealAt where the block of the seal begins
   */
  record Tail(TraceSeal seal, long sealAt) {}

  /** The end of the file; null where it does not end with a seal. */
  Tail tail(long first) throws IOException {
    long size = in.size();
    long sealAt = lastBlock(first, size);
    if (sealAt < 0) {
      return null;
    }
    try {
      TraceSeal seal = entryAt(sealAt).getEnd();
      return seal == null || in.offset() != size ? null : new Tail(seal, sealAt);
    } catch (CorruptTraceException e) {
      return null;
    }
  }

  /** CRC-32C of the block that {@link #entryAt} read last. */
  long blockCrc32c() {
    return in.blockCrc32c();
  }

  /** The marker behind each block. */
  byte[] sync() {
    return sync.clone();
  }

  /** Where the last block begins, if it is as short as a seal; -1 otherwise. */
  private long lastBlock(long first, long size) throws IOException {
    int tail = (int) Math.min(size - first + TraceFormat.SYNC_BYTES, TraceFormat.SEAL_BYTES_MAX);
    in.seek(size - tail);
    if (in.take(tail) < tail) {
      return -1;
    }
    for (int at = tail - 2 * TraceFormat.SYNC_BYTES; at >= 0; at--) {
      if (isSync(at)) {
        return size - tail + at + TraceFormat.SYNC_BYTES;
      }
    }
    return -1;
  }

  /** Takes one block; its packed bytes are then at the front of the input's bytes. */
  private int readBlock(long start) throws IOException, CutOffException {
    in.beginBlock();
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
      return AvroSource.read(new TraceEntry(), unpacked, 0, length);
    } catch (CorruptChunkException e) {
      throw corrupt(start, e.getMessage());
    }
  }

  /** Accepts a seal of this many bytes before the index, as the last block of the file. */
  private void checkSeal(TraceSeal seal, long start, long crc, long sealAt) throws IOException {
    if (seal.getEntries() != entries || seal.getBytes() != start || seal.getCrc32c() != crc) {
      throw corrupt(
          sealAt,
          "seal expected %d entries in %d bytes with CRC-32C %08x, received %d in %d with %08x"
              .formatted(
                  seal.getEntries(), seal.getBytes(), seal.getCrc32c(), entries, start, crc));
    }
    long after = in.offset();
    if (in.read() >= 0) {
      throw corrupt(after, "bytes follow the seal");
    }
    ofCut = seal.getCut();
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
    truncated = true;
    notice =
        "%s was cut off at byte %d inside or before %s: %s readable"
            .formatted(
                file,
                in.offset(),
                e.getMessage(),
                entries == 1 ? "1 entry is" : entries + " entries are");
  }

  private CorruptTraceException corrupt(long offset, String what) {
    return new CorruptTraceException(file, offset, what);
  }

  /** A file with offset and running CRC-32C of what was taken; without a channel it cannot seek. */
  private static final class TraceInput implements Closeable {
    private static final int FIRST_BYTES = 1 << 16;

    private final InputStream in;
    private final SeekableByteChannel channel;
    private final byte[] buffer = new byte[1 << 16];
    private int at;
    private int limit;
    private final CRC32C crc = new CRC32C();
    private final CRC32C blockCrc = new CRC32C();
    private long offset;
    private byte[] bytes = new byte[FIRST_BYTES];

    TraceInput(InputStream in, SeekableByteChannel channel) {
      this.in = in;
      this.channel = channel;
    }

    /** Bytes of the file; 0 where it cannot seek. */
    long size() throws IOException {
      return channel == null ? 0 : channel.size();
    }

    /** Moves to another byte; {@link #crc32c} is meaningless from here on. */
    void seek(long to) throws IOException {
      long from = offset - at;
      if (to >= from && to <= from + limit) {
        at = (int) (to - from);
      } else {
        channel.position(to);
        at = 0;
        limit = 0;
      }
      offset = to;
    }

    void beginBlock() {
      blockCrc.reset();
    }

    /** CRC-32C of the bytes taken since {@link #beginBlock}. */
    long blockCrc32c() {
      return blockCrc.getValue();
    }

    /** Bytes taken so far. */
    long offset() {
      return offset;
    }

    /** CRC-32C of the bytes taken so far. */
    long crc32c() {
      return crc.getValue();
    }

    boolean isAtEnd() throws IOException {
      return at == limit && !fill();
    }

    /** Takes one byte, 0 to 255; -1 at the end. */
    int read() throws IOException {
      if (at == limit && !fill()) {
        return -1;
      }
      int b = buffer[at++] & 0xff;
      crc.update(b);
      blockCrc.update(b);
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
      blockCrc.update(bytes, 0, taken);
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
