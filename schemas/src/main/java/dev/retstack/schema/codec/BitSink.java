package dev.retstack.schema.codec;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Bits, the first one lowest in the first byte. */
final class BitSink {
  private long[] words = new long[1];
  private int at;
  private long word;
  private int count;

  /** Empties it and makes room for so many bits. */
  void reset(int bits) {
    int needed = (bits >>> 6) + 1;
    if (words.length < needed) {
      words = new long[needed];
    }
    at = 0;
    word = 0;
    count = 0;
  }

  void put(int bit) {
    word |= (long) bit << count;
    if (++count == 64) {
      words[at++] = word;
      word = 0;
      count = 0;
    }
  }

  /** Size in bytes, the last one filled up with zeros. */
  int size() {
    return 8 * at + ((count + 7) >>> 3);
  }

  /** Appends the bytes to a buffer that has room for eight more. */
  void drainTo(ByteBuffer to) {
    int end = to.position() + size();
    ByteOrder order = to.order();
    to.order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < at; i++) {
      to.putLong(words[i]);
    }
    for (long rest = word; to.position() < end; rest >>>= 8) {
      to.put((byte) rest);
    }
    to.order(order);
  }
}
