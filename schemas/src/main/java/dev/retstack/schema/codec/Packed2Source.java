package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Layout.*;

/** The streams of a chunk that nobody vouches for. Strict: what they hold must be used up. */
final class Packed2Source {
  private final ByteSource[] sources = new ByteSource[TIMES_LOW];

  /** By kind of the record before: number of the next bit of forks, from the first of content. */
  final int[] forksAt = new int[2];

  final int[] forksEnd = new int[2];

  /** By context: where the next time's low and high byte stand, and where the low ones end. */
  final int[] lowAt = new int[4];

  final int[] lowEnd = new int[4];
  final int[] highAt = new int[4];

  /** The bytes that hold all streams. */
  byte[] content;

  /** Finds the streams in {@code content[from, to)}. */
  void open(byte[] bytes, int from, int to) throws CorruptChunkException {
    content = bytes;
    ByteSource header = new ByteSource(bytes, from, to);
    int[] lengths = new int[LENGTHS];
    long total = 0;
    for (int i = 0; i < LENGTHS; i++) {
      long length = header.varint();
      if (length < 0 || length > to - from) {
        throw new CorruptChunkException(
            "stream " + i + " of " + Long.toUnsignedString(length) + " bytes in " + (to - from));
      }
      lengths[i] = (int) length;
      total += i < TIMES_LOW ? length : 2 * length;
    }
    if (total != header.remaining()) {
      throw new CorruptChunkException(
          "streams of " + total + " bytes in " + header.remaining() + " bytes of content");
    }
    int at = header.position();
    for (int i = 0; i < TIMES_LOW; i++) {
      if (i == FORKS || i == FORKS + 1) {
        forksAt[i - FORKS] = at * 8;
        forksEnd[i - FORKS] = (at + lengths[i]) * 8;
      } else {
        sources[i] = new ByteSource(bytes, at, at + lengths[i]);
      }
      at += lengths[i];
    }
    for (int context = 0; context < 4; context++) {
      lowAt[context] = at;
      at += lengths[TIMES_LOW + context];
      lowEnd[context] = at;
    }
    for (int context = 0; context < 4; context++) {
      highAt[context] = at;
      at += lengths[TIMES_LOW + context];
    }
  }

  ByteSource stream(int number) {
    return sources[number];
  }

  /** The next bit of the forks after a record of that kind. */
  int fork(int previous) throws CorruptChunkException {
    int at = forksAt[previous];
    if (at == forksEnd[previous]) {
      throw new CorruptChunkException("forks end at byte " + at / 8 + " before the records do");
    }
    forksAt[previous]++;
    return content[at >> 3] >> (at & 7) & 1;
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
    long high = content[highAt[context]++] & 0xff;
    if (high == HIGH_LONG) {
      high = sources[LONG_TIMES].varint();
      if (high >>> 56 != 0 || (high += HIGH_LONG) >>> 56 != 0) {
        throw new CorruptChunkException(
            "time beyond 64 bits before byte " + sources[LONG_TIMES].position());
      }
    }
    return (high << 8) | low;
  }

  /** Refuses bytes that no record used. */
  void checkEnd() throws CorruptChunkException {
    for (ByteSource source : sources) {
      if (source != null) {
        Codecs.checkEnd(source);
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
    int end = forksEnd[previous];
    boolean used = end - forksAt[previous] < 8;
    while (used && forksAt[previous] < end) {
      used = fork(previous) == 0;
    }
    if (!used) {
      throw new CorruptChunkException("forks follow the last record, before byte " + end / 8);
    }
  }
}
