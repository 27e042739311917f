package dev.retstack.unicorn.library;

import java.util.Comparator;

/**
 * A version of libunicorn.
 *
 * @param major first number
 * @param minor second number
 * @param patch third number
 */
public record UnicornVersion(int major, int minor, int patch)
    implements Comparable<UnicornVersion> {
  /** The version that retstack is measured and tested with. */
  public static final UnicornVersion TESTED = new UnicornVersion(2, 1, 4);

  private static final Comparator<UnicornVersion> ORDER =
      Comparator.comparingInt(UnicornVersion::major)
          .thenComparingInt(UnicornVersion::minor)
          .thenComparingInt(UnicornVersion::patch);

  /** Unpacks the result of {@code uc_version}: a byte each for major, minor, patch, extra. */
  static UnicornVersion ofPacked(int packed) {
    return new UnicornVersion(packed >>> 24, packed >>> 16 & 0xff, packed >>> 8 & 0xff);
  }

  @Override
  public int compareTo(UnicornVersion other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return major + "." + minor + "." + patch;
  }
}
