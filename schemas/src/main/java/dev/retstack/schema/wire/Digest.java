package dev.retstack.schema.wire;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** Identifies a content: nobody can make another one with the same digest. */
public final class Digest {
  /** The first ones of SHA-256. */
  private static final int BYTES = 16;

  /** Characters of a digest. */
  public static final int LENGTH = 2 * BYTES;

  private Digest() {}

  /** Lower-case hex. */
  public static String of(byte[] content) {
    try {
      byte[] all = MessageDigest.getInstance("SHA-256").digest(content);
      return HexFormat.of().formatHex(Arrays.copyOf(all, BYTES));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }
}
