package dev.retstack.fleet.loader;

/**
 * What a file may ask for. A limit on everything: a few bytes of header can otherwise demand
 * terabytes.
 *
 * @param fileBytesMax largest file that is read
 * @param memoryBytesMax largest sum of the sizes in memory of all segments
 * @param pieBase address at which a position-independent executable is placed; page-aligned
 */
public record ElfLimits(long fileBytesMax, long memoryBytesMax, long pieBase) {

  /** 512 MiB of file, 256 MiB of guest memory, position-independent programs at 0x20000000. */
  public static final ElfLimits DEFAULT = new ElfLimits(512L << 20, 256L << 20, 0x2000_0000L);

  /** Checks that the limits themselves make sense. */
  public ElfLimits {
    if (fileBytesMax <= 0 || memoryBytesMax <= 0) {
      throw new IllegalArgumentException(
          "limits must be positive: file " + fileBytesMax + ", memory " + memoryBytesMax);
    }
    if (pieBase < 0 || (pieBase & 0xFFFF) != 0) {
      throw new IllegalArgumentException(
          "base 0x" + Long.toHexString(pieBase) + " is not a multiple of 64 KiB");
    }
  }
}
