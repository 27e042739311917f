package dev.retstack.schema.codec.packed;

import static dev.retstack.schema.codec.packed.PackedLayout.*;

import com.github.luben.zstd.EndDirective;
import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdCompressCtx;
import dev.retstack.schema.codec.ByteSink;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Writes the payload of a chunk: collects its streams, then wraps them up. {@link PackedSource} is
 * the mirror.
 *
 * <pre>
 *  payload   00 | content
 *            01 | varint size | zstd frame    where that is smaller; size = bytes of content
 *            02, 03 like 00, 01, with streams for other kinds of records
 *  content   lengths of the streams as varints | the streams, one after the other
 * </pre>
 *
 * The frame's blocks end around the big streams, so that each has a separate code; a reader need
 * not know.
 */
final class PackedStreams {
  private static final VarHandle EIGHT =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** A stream as long as this has a block of zstd for itself. */
  private static final int OWN_BLOCK_BYTES_MIN = 2048;

  private static final int ZSTD_LEVEL = 1;

  /** Shorter matches hardly ever occur in what is left to code, and looking for them takes time. */
  private static final int MATCH_BYTES_MIN = 7;

  /** Below this zstd's frame costs more than it saves. */
  private static final int ZSTD_BYTES_MIN = 64;

  /** Flag and size before a zstd frame. */
  private static final int FLAG_AND_SIZE_BYTES_MAX = 6;

  /** A block's header and what it may grow by. */
  private static final int BLOCK_BYTES_MAX = 64;

  /** Streams of bytes, by number; null where the stream is of bits or times. */
  final ByteSink[] sinks = new ByteSink[MARKED_STREAMS];

  /**
   * Bits of the forks, a byte each, by kind of the record before: a region for all records each.
   */
  byte[] forks = new byte[0];

  /** Where the next bit stands, by kind of the record before. */
  final int[] forksAt = new int[2];

  /** Times by context: a region of as many bytes as there are records for each. */
  byte[] low = new byte[0];

  byte[] high = new byte[0];
  final int[] timesAt = new int[4];
  private final ByteSink header = new ByteSink(HEADER_BYTES_MAX);
  private final int[] cuts = new int[2 * MARKED_STREAMS];
  private final ZstdCompressCtx zstd = new ZstdCompressCtx();
  private ByteBuffer content = ByteBuffer.allocateDirect(0);
  private ByteBuffer payload = ByteBuffer.allocateDirect(0);
  private int records;
  private int forkRegion;

  PackedStreams() {
    for (int i = 0; i < sinks.length; i++) {
      sinks[i] = isForks(i) || isTimes(i) ? null : new ByteSink(256);
    }
  }

  void reset(int count) {
    records = count;
    for (ByteSink sink : sinks) {
      if (sink != null) {
        sink.clear();
      }
    }
    sinks[SUCCESSORS].reserve(2 * count);
    sinks[SUCCESSORS + 1].reserve(2 * count);
    sinks[FUNCTIONS].reserve(2 * count);
    forkRegion = (count + 8) & -8; // a bit that nobody counts may stand behind the last one
    if (forks.length < 2 * forkRegion) {
      forks = new byte[2 * forkRegion];
    }
    forksAt[0] = 0;
    forksAt[1] = forkRegion;
    if (low.length < 4 * count) {
      low = new byte[4 * count];
      high = new byte[4 * count];
    }
    for (int context = 0; context < 4; context++) {
      timesAt[context] = context * count;
    }
  }

  static void symbol(ByteSink sink, int symbol) {
    if (symbol < SYMBOL_BYTE_MAX) {
      sink.put(symbol);
    } else {
      sink.put(SYMBOL_BYTE_MAX + ((symbol - SYMBOL_BYTE_MAX) >>> 8));
      sink.put(symbol - SYMBOL_BYTE_MAX);
    }
  }

  /** A number of either sign. */
  void number(int stream, long value) {
    ByteSink sink = sinks[stream];
    sink.reserve(10);
    sink.zigzag(value);
  }

  void fork(int previous, int bit) {
    forks[forksAt[previous]++] = (byte) bit;
  }

  void time(int context, long delta) {
    int at = timesAt[context]++;
    low[at] = (byte) delta;
    long rest = delta >>> 8;
    if (Long.compareUnsigned(rest, HIGH_LONG) < 0) {
      high[at] = (byte) rest;
    } else {
      high[at] = (byte) HIGH_LONG;
      sinks[LONG_TIMES].reserve(10);
      sinks[LONG_TIMES].varint(rest - HIGH_LONG);
    }
  }

  boolean isOutsized() {
    return low.length > 4 * KEPT_RECORDS_MAX;
  }

  /**
   * The payload: all streams, in order, behind their lengths. Blocks of zstd end around the big
   * ones.
   *
   * @param marked whether the chunk holds other kinds than those of the graph
   */
  byte[] payload(boolean marked) {
    int streams = marked ? MARKED_STREAMS : STREAMS;
    int total = 0;
    header.clear();
    header.reserve(HEADER_BYTES_MAX);
    for (int i = 0; i < streams; i++) {
      total += length(i);
      if (i < LENGTHS || i >= STREAMS) {
        header.varint(length(i));
      }
    }
    if (content.capacity() < header.size() + total) {
      content = ByteBuffer.allocateDirect(header.size() + total);
    }
    content.clear();
    content.put(header.array(), 0, header.size());
    int cutCount = 0;
    int lastCut = 0;
    for (int i = 0; i < streams; i++) {
      boolean big = length(i) >= OWN_BLOCK_BYTES_MIN;
      if (big && content.position() > lastCut) {
        cuts[cutCount++] = lastCut = content.position();
      }
      if (isForks(i)) {
        drainForks(i - FORKS);
      } else {
        content.put(bytes(i), offset(i), length(i));
      }
      if (big && content.position() < header.size() + total) {
        cuts[cutCount++] = lastCut = content.position();
      }
    }
    return wrap(marked ? MARKED : 0, cutCount);
  }

  private static boolean isForks(int stream) {
    return stream == FORKS || stream == FORKS + 1;
  }

  private static boolean isTimes(int stream) {
    return stream >= TIMES_LOW && stream < STREAMS;
  }

  private byte[] bytes(int stream) {
    return !isTimes(stream) ? sinks[stream].array() : stream >= TIMES_HIGH ? high : low;
  }

  private int offset(int stream) {
    return isTimes(stream) ? ((stream - TIMES_LOW) & 3) * records : 0;
  }

  private int length(int stream) {
    if (isTimes(stream)) {
      return timesAt[(stream - TIMES_LOW) & 3] - offset(stream);
    }
    return isForks(stream)
        ? (forksAt[stream - FORKS] - (stream - FORKS) * forkRegion + 7) >>> 3
        : sinks[stream].size();
  }

  /** Packs eight bytes, each 0 or 1, into one: each meets the product's upper byte at its bit. */
  private void drainForks(int previous) {
    int from = previous * forkRegion;
    int end = forksAt[previous];
    ByteBuffer to = content;
    Arrays.fill(forks, end, from + ((end - from + 7) & -8), (byte) 0);
    for (int at = from; at < end; at += 8) {
      to.put((byte) (((long) EIGHT.get(forks, at) * 0x0102_0408_1020_4080L) >>> 56));
    }
  }

  /** The payload of what stands in {@link #content}; blocks end at the first of the cuts. */
  private byte[] wrap(int mark, int cutCount) {
    int size = content.position();
    content.flip();
    if (size >= ZSTD_BYTES_MIN) {
      squeeze(mark, size, cutCount);
      if (payload.position() <= size) {
        return bytes(payload.flip(), new byte[payload.limit()], 0);
      }
    }
    byte[] plain = new byte[1 + size];
    plain[0] = (byte) (mark | PLAIN);
    return bytes(content.position(0).limit(size), plain, 1);
  }

  private static byte[] bytes(ByteBuffer from, byte[] to, int offset) {
    from.get(to, offset, to.length - offset);
    return to;
  }

  private void squeeze(int mark, int size, int cutCount) {
    int sizeMax =
        FLAG_AND_SIZE_BYTES_MAX + (int) Zstd.compressBound(size) + BLOCK_BYTES_MAX * (cutCount + 1);
    if (payload.capacity() < sizeMax) {
      payload = ByteBuffer.allocateDirect(sizeMax);
    }
    payload.clear().put((byte) (mark | ZSTD));
    int rest = size;
    while (rest > 0x7f) {
      payload.put((byte) (rest | 0x80));
      rest >>>= 7;
    }
    payload.put((byte) rest);
    zstd.reset();
    zstd.setLevel(ZSTD_LEVEL).setMinMatch(MATCH_BYTES_MIN).setPledgedSrcSize(size);
    for (int i = 0; i < cutCount; i++) {
      content.limit(cuts[i]);
      step(EndDirective.FLUSH);
    }
    content.limit(size);
    step(EndDirective.END);
  }

  private void step(EndDirective directive) {
    if (!zstd.compressDirectByteBufferStream(payload, content, directive)) {
      throw new IllegalStateException(
          "zstd did not finish: " + payload.remaining() + " bytes of room left");
    }
  }

  /** Gives back memory outside the heap. */
  void release() {
    zstd.close();
  }
}
