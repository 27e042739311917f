package dev.retstack.unicorn;

import java.util.Comparator;

/**
 * A version of libunicorn.
 *
 * @param major first number
 * @param minor second number
 * @param patch third number
 */
public record Version(int major, int minor, int patch) implements Comparable<Version> {
  /** The version that retstack is measured and tested with. */
  public static final Version TESTED = new Version(2, 1, 4);

  private static final Comparator<Version> ORDER =
      Comparator.comparingInt(Version::major)
          .thenComparingInt(Version::minor)
          .thenComparingInt(Version::patch);

  /** Unpacks the result of {@code uc_version}: a byte each for major, minor, patch, extra. */
  static Version ofPacked(int packed) {
    return new Version(packed >>> 24, packed >>> 16 & 0xff, packed >>> 8 & 0xff);
  }

  @Override
  public int compareTo(Version other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return major + "." + minor + "." + patch;
  }
}
