package dev.retstack.fleet.isa;

import dev.retstack.fleet.isa.StackWalk.Form;

/**
 * A32 as {@link Arm} needs it: calls, and the instructions of a prologue. Encodings: Arm
 * Architecture Reference Manual ARMv7-A, A8.8; all with condition "always".
 */
final class ArmCode {
  private static final int LR = 14;

  /** {@code bl to}; {@code blx to}, where the counting function is Thumb. */
  static final CallForm[] CALLS = {
    CallForm.bits("bl", 4, 0xeb00_0000L, 0xff00_0000L, (at, code) -> at + 8 + distance(code)),
    CallForm.bits(
        "blx",
        4,
        0xfa00_0000L,
        0xfe00_0000L,
        (at, code) -> at + 8 + distance(code) + ((code >>> 23) & 2)),
  };

  /**
   * How far sp goes down, where lr is pushed first, and whether fp is that of an APCS frame: 4
   * above lr. {@code ip} is the sp of the call there, which {@code mov ip, sp} at the start saw to.
   */
  static final StackWalk PROLOGUE =
      StackWalk.of(
          code -> 4,
          form("push {list}", 0xe92d_0000L, 0xffff_0000L, (c, f) -> push(c, f)),
          form("push {r}", 0xe52d_0004L, 0xffff_0fffL, (c, f) -> push(1L << ((c >>> 12) & 15), f)),
          form("vpush", 0xed2d_0a00L, 0xffbf_0e00L, (c, f) -> f.grow((c & 0xff) * 4)),
          form("sub sp,sp,#n", 0xe24d_d000L, 0xffff_f000L, (c, f) -> f.grow(immediate(c))),
          form("add sp,sp,#n", 0xe28d_d000L, 0xffff_f000L, (c, f) -> f.grow(-immediate(c))),
          form(
              "sub fp,ip,#n",
              0xe24c_b000L,
              0xffff_f000L,
              (c, f) -> f.pointAtDepth(immediate(c), 4)),
          form("add fp,sp,#n", 0xe28d_b000L, 0xffff_f000L, (c, f) -> f.point(immediate(c), 4)));

  private ArmCode() {}

  private static Form form(String text, long pattern, long mask, StackWalk.Effect effect) {
    return new Form(text, 4, pattern, mask, effect);
  }

  /** Registers are pushed with the lowest number at the lowest address. */
  static void push(long code, StackWalk.Frame frame) {
    int list = (int) code & 0xffff;
    frame.grow(4L * Integer.bitCount(list));
    if ((list >>> LR & 1) != 0) {
      frame.save(4L * Integer.bitCount(list & ((1 << LR) - 1)));
    }
  }

  /** Signed 24-bit number of words. */
  private static long distance(long code) {
    int words = (int) code << 8 >> 8;
    return 4L * words;
  }

  /** Eight bits, rotated right by twice the number above them. */
  private static long immediate(long code) {
    return Integer.rotateRight((int) code & 0xff, ((int) code >>> 8 & 15) * 2) & 0xffff_ffffL;
  }
}
