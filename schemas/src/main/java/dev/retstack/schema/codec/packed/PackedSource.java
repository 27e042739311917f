package dev.retstack.schema.codec.packed;

import static dev.retstack.schema.codec.packed.PackedLayout.*;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdException;
import dev.retstack.schema.codec.ByteSource;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.ZstdFrame;
import dev.retstack.schema.record.RecordBatch;

/**
 * Reads the payload of a chunk that is not trusted: first its wrapping, then its streams, as {@link
 * PackedStreams} draws them. The streams must be read to their last byte.
 */
final class PackedSource {
  private static final int INFLATED_BYTES_KEPT_MAX = 1 << 20;

  private final ZstdDecompressCtx zstd = new ZstdDecompressCtx();

  /** What a zstd frame held; kept for the next chunk. */
  private byte[] inflated = new byte[0];

  private boolean marked;

  private final ByteSource[] sources = new ByteSource[MARKED_STREAMS];

  /** The bits of both streams of forks. Where each of them ends there is room behind. */
  long[] forks = new long[0];

  /** By kind of the record before: number of the next bit. */
  final int[] forksAt = new int[2];

  private final int[] forksEnd = new int[2];

  /** By context: where the next time's low and high byte stand, and where the low ones end. */
  final int[] lowAt = new int[4];

  final int[] lowEnd = new int[4];

  /** How far behind its low byte a time's high byte stands. */
  int highBehind;

  /** The bytes that hold all streams. */
  byte[] content;

  /**
   * Finds the streams in a payload, which must stay as it is while they are read.
   *
   * @param count records of the chunk
   */
  void open(byte[] payload, int count) throws CorruptChunkException {
    ByteSource source = new ByteSource(payload, 0, payload.length);
    int flag = source.get();
    marked = (flag & MARKED) != 0;
    switch (flag & ~MARKED) {
      case PLAIN -> openStreams(payload, source.position(), payload.length, count);
      case ZSTD -> {
        int size = inflate(payload, source, HEADER_BYTES_MAX + (long) count * RECORD_BYTES_MAX);
        openStreams(inflated, 0, size, count);
      }
      default -> throw new CorruptChunkException("unknown payload flag " + flag);
    }
  }

  /** Whether the chunk holds other kinds than ENTRY, EXIT and LOST. */
  boolean isMarked() {
    return marked;
  }

  /** Fills {@link #inflated}; returns how many bytes of it. */
  private int inflate(byte[] payload, ByteSource source, long sizeMax)
      throws CorruptChunkException {
    long size = source.varint();
    if (size < 0 || size > sizeMax) {
      throw new CorruptChunkException(
          "unpacked size "
              + Long.toUnsignedString(size)
              + " is more than the "
              + sizeMax
              + " bytes that the records can take");
    }
    int at = source.position();
    int length = source.remaining();
    ZstdFrame.check(payload, at, length);
    if (inflated.length < size) {
      inflated = new byte[(int) size];
    }
    int got;
    try {
      got = zstd.decompressByteArray(inflated, 0, (int) size, payload, at, length);
    } catch (ZstdException e) {
      throw new CorruptChunkException("zstd refuses the payload: " + e.getMessage(), e);
    }
    if (got != size) {
      throw new CorruptChunkException("payload unpacks to " + got + " bytes, not " + size);
    }
    return got;
  }

  private void openStreams(byte[] bytes, int from, int to, int count) throws CorruptChunkException {
    content = bytes;
    ByteSource header = new ByteSource(bytes, from, to);
    int[] lengths = new int[LENGTHS + MARKED_LENGTHS];
    long total = 0;
    for (int i = 0; i < (marked ? lengths.length : LENGTHS); i++) {
      long length = header.varint();
      if (length < 0 || length > to - from) {
        throw new CorruptChunkException(
            "stream " + i + " of " + Long.toUnsignedString(length) + " bytes in " + (to - from));
      }
      lengths[i] = (int) length;
      total += i >= TIMES_LOW && i < LENGTHS ? 2 * length : length;
    }
    if (total != header.remaining()) {
      throw new CorruptChunkException(
          "streams of " + total + " bytes in " + header.remaining() + " bytes of content");
    }
    int at = header.position();
    for (int i = 0; i < TIMES_LOW; i++) {
      sources[i] = new ByteSource(bytes, at, at + lengths[i]);
      at += lengths[i];
    }
    openForks(count);
    int lows = at;
    for (int context = 0; context < 4; context++) {
      lowAt[context] = at;
      at += lengths[TIMES_LOW + context];
      lowEnd[context] = at;
    }
    highBehind = at - lows;
    at += highBehind;
    for (int i = 0; i < MARKED_LENGTHS; i++) {
      int length = lengths[LENGTHS + i];
      sources[STREAMS + i] = new ByteSource(bytes, at, at + length);
      at += length;
    }
  }

  /**
   * Copies the bits into words: as many as records could use, so that the loop may read on where
   * they end, and a few more of too many, so that it shows.
   */
  private void openForks(int count) {
    int words = (count >>> 6) + 2;
    if (forks.length < 2 * words) {
      forks = new long[2 * words];
    }
    for (int previous = 0; previous < 2; previous++) {
      ByteSource stream = sources[FORKS + previous];
      stream.words(forks, previous * words, words);
      forksAt[previous] = (previous * words) << 6;
      forksEnd[previous] = forksAt[previous] + (int) Math.min(count + 8, 8L * stream.remaining());
    }
  }

  ByteSource stream(int number) {
    return sources[number];
  }

  /** The next bit of the forks after a record of that kind. */
  int fork(int previous) throws CorruptChunkException {
    int at = forksAt[previous]++;
    if (at >= forksEnd[previous]) {
      throw new CorruptChunkException("forks end before the records do");
    }
    return (int) (forks[at >>> 6] >>> at) & 1;
  }

  /** A symbol below {@code limit}. */
  int symbol(int stream, int limit) throws CorruptChunkException {
    ByteSource source = sources[stream];
    int symbol = source.get();
    if (symbol >= SYMBOL_BYTE_MAX) {
      symbol = ((symbol - SYMBOL_BYTE_MAX) << 8) + source.get() + SYMBOL_BYTE_MAX;
    }
    if (symbol >= limit) {
      throw new CorruptChunkException(
          "number " + symbol + " of " + limit + " before byte " + source.position());
    }
    return symbol;
  }

  long time(int context) throws CorruptChunkException {
    int at = lowAt[context]++;
    if (at == lowEnd[context]) {
      throw new CorruptChunkException("times end at byte " + at + " before the records do");
    }
    int low = content[at] & 0xff;
    long high = content[at + highBehind] & 0xff;
    return (high(high, LONG_TIMES) << 8) | low;
  }

  /**
   * Bits of a time above its low byte.
   *
   * @param high the high byte
   * @param stream has the bits where the high byte cannot hold them
   */
  long high(long high, int stream) throws CorruptChunkException {
    if (high != HIGH_LONG) {
      return high;
    }
    long rest = sources[stream].varint();
    if (rest >>> 56 != 0 || (rest += HIGH_LONG) >>> 56 != 0) {
      throw new CorruptChunkException(
          "time beyond 64 bits before byte " + sources[stream].position());
    }
    return rest;
  }

  /** Refuses bytes that no record used. */
  void checkEnd() throws CorruptChunkException {
    for (int i = 0; i < MARKED_STREAMS; i++) {
      if (sources[i] != null && i != FORKS && i != FORKS + 1) {
        sources[i].checkEnd();
      }
    }
    checkForksEnd(RecordBatch.ENTRY);
    checkForksEnd(RecordBatch.EXIT);
    for (int context = 0; context < 4; context++) {
      if (lowAt[context] != lowEnd[context]) {
        throw new CorruptChunkException(
            (lowEnd[context] - lowAt[context]) + " times follow the last record");
      }
    }
  }

  /** Refuses bits that were not read, but for the zeros that fill up the last byte. */
  private void checkForksEnd(int previous) throws CorruptChunkException {
    int rest = forksEnd[previous] - forksAt[previous];
    boolean used = rest >= 0 && rest < 8;
    while (used && rest-- > 0) {
      used = fork(previous) == 0;
    }
    if (!used) {
      throw new CorruptChunkException("forks follow the last record");
    }
  }

  /** True where a large chunk left more memory than an ordinary one needs. */
  boolean isOutsized() {
    return inflated.length > INFLATED_BYTES_KEPT_MAX;
  }

  /** Gives back memory outside the heap. */
  void release() {
    zstd.close();
  }
}
