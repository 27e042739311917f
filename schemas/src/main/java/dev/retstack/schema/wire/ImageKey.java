package dev.retstack.schema.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;

/**
 * Key of a record of the images topic: the build-id, a slash, and a digest of the record's bytes.
 * So compaction keeps each content that was announced under a build-id, and a reader can take the
 * first.
 */
public final class ImageKey {
  private ImageKey() {}

  /** The key of this record. */
  public static byte[] of(String buildId, byte[] message) {
    return (buildId + "/" + Digest.of(message)).getBytes(UTF_8);
  }

  /** The build-id in a key; empty where there is none. The content is not looked at. */
  public static String buildId(byte[] key) {
    int slash = key == null ? -1 : key.length - Digest.LENGTH - 1;
    return slash < 0 || key[slash] != '/' ? "" : new String(key, 0, slash, UTF_8);
  }

  /** Whether this is the key of that record. */
  public static boolean isOf(byte[] key, String buildId, byte[] message) {
    return Arrays.equals(key, of(buildId, message));
  }
}
