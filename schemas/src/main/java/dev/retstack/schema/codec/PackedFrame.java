package dev.retstack.schema.codec;

/** A frame of the ret_stack: the fields of its entry. Frames stay where they are and are reused. */
final class PackedFrame {
  final PackedFrame caller;

  /** How many frames lie between this one and the base; 0: the base. */
  final int height;

  /** The frame above; null where there was never one. */
  PackedFrame callee;

  /** False for the base as long as nothing tells its fields. */
  boolean known = true;

  long selfPc;
  long fromPc;
  long retP;
  long fp;

  /** Index of the entry's record. */
  int entry;

  /** Number of the site that the frame returns to. */
  int site;

  private PackedFrame(PackedFrame caller, int height) {
    this.caller = caller;
    this.height = height;
  }

  /** A stack without frames: only the base. */
  static PackedFrame base() {
    return new PackedFrame(null, 0);
  }

  /** The frame above, as it was left by an earlier call. */
  PackedFrame push() {
    if (callee == null) {
      callee = new PackedFrame(this, height + 1);
    }
    return callee;
  }
}
