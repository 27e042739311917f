package dev.retstack.schema.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Bits, the first one lowest in the first byte. */
final class BitSink {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private byte[] bytes = new byte[0];
  private int at;
  private long word;
  private int count;

  /** Empties it and makes room for so many bits. */
  void reset(int bits) {
    int needed = (bits >>> 6) * 8 + 8;
    if (bytes.length < needed) {
      bytes = new byte[needed];
    }
    at = 0;
    word = 0;
    count = 0;
  }

  void put(int bit) {
    word |= (long) bit << count;
    if (++count == 64) {
      LONG.set(bytes, at, word);
      at += 8;
      word = 0;
      count = 0;
    }
  }

  /** Size in bytes, the last one filled up with zeros. */
  int finish() {
    LONG.set(bytes, at, word);
    return at + ((count + 7) >>> 3);
  }

  byte[] array() {
    return bytes;
  }
}
