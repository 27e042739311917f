package dev.retstack.schema.wire;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Strict UTF-8: Java's string constructor replaces what is malformed, which would hide a change.
 */
final class Utf8 {
  private Utf8() {}

  static boolean isValid(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      if (bytes[i] < 0) {
        return decodes(bytes, i, to);
      }
    }
    return true;
  }

  private static boolean decodes(byte[] bytes, int from, int to) {
    try {
      var _ = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, from, to - from));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
