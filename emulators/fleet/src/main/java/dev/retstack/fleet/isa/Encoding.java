package dev.retstack.fleet.isa;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Bytes of instructions. */
final class Encoding {
  private Encoding() {}

  /** 32-bit words in little-endian byte order. */
  static byte[] littleEndian(int... words) {
    ByteBuffer bytes =
        ByteBuffer.allocate(words.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int word : words) {
      bytes.putInt(word);
    }
    return bytes.array();
  }

  /** 32-bit words in the byte order of an ISA. */
  static byte[] words(ByteOrder order, int... words) {
    ByteBuffer bytes = ByteBuffer.allocate(words.length * Integer.BYTES).order(order);
    for (int word : words) {
      bytes.putInt(word);
    }
    return bytes.array();
  }

  static byte[] concat(byte[] head, byte[] rest) {
    return ByteBuffer.allocate(head.length + rest.length).put(head).put(rest).array();
  }
}
