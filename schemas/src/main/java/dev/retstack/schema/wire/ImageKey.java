package dev.retstack.schema.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * Key of a record of the images topic: the build-id, a slash, and a digest of the record's bytes.
 * So compaction keeps each content that was announced under a build-id, and a reader can take the
 * first.
 */
public final class ImageKey {
  /** Of the digest, which nobody can make another content for. */
  private static final int DIGEST_BYTES = 16;

  private ImageKey() {}

  /** The key of this record. */
  public static byte[] of(String buildId, byte[] message) {
    return (buildId + "/" + digest(message)).getBytes(UTF_8);
  }

  /** Tells this content from others. */
  public static String digest(byte[] message) {
    try {
      byte[] all = MessageDigest.getInstance("SHA-256").digest(message);
      return HexFormat.of().formatHex(Arrays.copyOf(all, DIGEST_BYTES));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  /** The build-id in a key; empty where there is none. The content is not looked at. */
  public static String buildId(byte[] key) {
    int slash = key == null ? -1 : key.length - 2 * DIGEST_BYTES - 1;
    return slash < 0 || key[slash] != '/' ? "" : new String(key, 0, slash, UTF_8);
  }

  /** Whether this is the key of that record. */
  public static boolean isOf(byte[] key, String buildId, byte[] message) {
    return Arrays.equals(key, of(buildId, message));
  }
}
