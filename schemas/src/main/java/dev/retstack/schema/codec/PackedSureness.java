package dev.retstack.schema.codec;

/** How sure a time or a callee is to be the same again. */
final class PackedSureness {
  /** Not yet: it was seen once at most. */
  static final int UNSURE = 0;

  /** As it was last. */
  static final int SURE = 1;

  /** Not at all, for good. */
  static final int VARIES = 2;

  /** Not yet, but one chance. */
  static final int DOUBTED = 3;

  private PackedSureness() {}

  /** How sure it is after the next value, which was equal to the last one or not. */
  static int taught(int sureness, boolean equal) {
    return switch (sureness) {
      case UNSURE -> equal ? SURE : DOUBTED;
      case SURE -> equal ? SURE : VARIES;
      case DOUBTED -> equal ? SURE : VARIES;
      default -> VARIES;
    };
  }
}
