package dev.retstack.schema;

import java.util.Arrays;
import java.util.SplittableRandom;

/** What disks, networks and adversaries do to bytes. */
public final class Mutations {
  private Mutations() {}

  /** A changed copy; never equal to the original. */
  public static byte[] of(byte[] original, SplittableRandom random) {
    while (true) {
      byte[] changed = original.clone();
      for (int changes = random.nextInt(0, 4); changes >= 0; changes--) {
        changed = once(changed, random);
      }
      if (!Arrays.equals(changed, original)) {
        return changed;
      }
    }
  }

  private static byte[] once(byte[] bytes, SplittableRandom random) {
    if (bytes.length == 0) {
      return new byte[] {(byte) random.nextInt()};
    }
    int at = random.nextInt(0, bytes.length);
    int length = random.nextInt(1, Math.min(64, bytes.length - at) + 1);
    return switch (random.nextInt(0, 8)) {
      case 0, 1 -> {
        bytes[at] ^= (byte) (1 << random.nextInt(0, 8));
        yield bytes;
      }
      case 2 -> {
        bytes[at] = (byte) random.nextInt();
        yield bytes;
      }
      case 3 -> {
        bytes[at] = (byte) (random.nextBoolean() ? 0xff : 0x80);
        yield bytes;
      }
      case 4 -> splice(bytes, at, 0, random(random, length));
      case 5 -> splice(bytes, at, length, new byte[0]);
      case 6 -> splice(bytes, at, 0, Arrays.copyOfRange(bytes, at, at + length));
      default -> Arrays.copyOf(bytes, at);
    };
  }

  /** {@code bytes} with {@code count} bytes at {@code at} replaced by others. */
  public static byte[] splice(byte[] bytes, int at, int count, byte[] others) {
    byte[] out = new byte[bytes.length - count + others.length];
    System.arraycopy(bytes, 0, out, 0, at);
    System.arraycopy(others, 0, out, at, others.length);
    System.arraycopy(bytes, at + count, out, at + others.length, bytes.length - at - count);
    return out;
  }

  private static byte[] random(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
