package dev.retstack.machine.isa.call;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

/** Bytes of instructions. */
public final class Encoding {
  private Encoding() {}

  /** 32-bit words in little-endian byte order. */
  public static byte[] littleEndian(int... words) {
    return words(ByteOrder.LITTLE_ENDIAN, words);
  }

  /** 32-bit words in the byte order of an ISA. */
  public static byte[] words(ByteOrder order, int... words) {
    ByteBuffer bytes = ByteBuffer.allocate(words.length * Integer.BYTES).order(order);
    for (int word : words) {
      bytes.putInt(word);
    }
    return bytes.array();
  }

  /** Bytes in hex, in the order of memory; blanks do not count. */
  public static byte[] hex(String bytes) {
    return HexFormat.of().parseHex(bytes.replace(" ", ""));
  }
}
