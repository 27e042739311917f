package dev.retstack.fleet.isa;

import dev.retstack.fleet.isa.StackWalk.Form;

/**
 * Thumb-2 as {@link Arm} needs it: calls, and the instructions of a prologue. Encodings: Arm
 * Architecture Reference Manual ARMv7-A, A8.8, T1 to T4. An instruction of 32 bits is two
 * halfwords, the first one low in the numbers here.
 */
final class ThumbCode {
  /** {@code bl to}; {@code blx to}, where the counting function is A32. */
  static final CallForm[] CALLS = {
    CallForm.bits("bl", 4, 0xd000_f000L, 0xd000_f800L, (at, code) -> at + 4 + distance(code)),
    CallForm.bits(
        "blx", 4, 0xc000_f000L, 0xd001_f800L, (at, code) -> (at + 4 & -4) + distance(code)),
  };

  /** How far sp goes down, and where lr is pushed first. */
  static final StackWalk PROLOGUE =
      StackWalk.of(
          code -> (code & 0xf800) >= 0xe800 ? 4 : 2,
          form("push {list}", 2, 0xb400, 0xfe00, (c, f) -> ArmCode.push(narrowList(c), f)),
          form("push.w {list}", 4, 0x0000_e92dL, 0x0000_ffffL, (c, f) -> ArmCode.push(c >>> 16, f)),
          form(
              "push.w {r}",
              4,
              0x0d04_f84dL,
              0x0fff_ffffL,
              (c, f) -> ArmCode.push(1L << ((c >>> 28) & 15), f)),
          form("vpush", 4, 0x0a00_ed2dL, 0x0e00_ffbfL, (c, f) -> f.grow((c >>> 16 & 0xff) * 4)),
          form("sub sp,#n", 2, 0xb080, 0xff80, (c, f) -> f.grow((c & 0x7f) * 4)),
          form("add sp,#n", 2, 0xb000, 0xff80, (c, f) -> f.grow((c & 0x7f) * -4)),
          form("sub.w sp,sp,#n", 4, 0x0d00_f1adL, 0x8f00_fbffL, (c, f) -> f.grow(constant(c))),
          form("add.w sp,sp,#n", 4, 0x0d00_f10dL, 0x8f00_fbffL, (c, f) -> f.grow(-constant(c))),
          form("subw sp,sp,#n", 4, 0x0d00_f2adL, 0x8f00_fbffL, (c, f) -> f.grow(plain(c))),
          form("addw sp,sp,#n", 4, 0x0d00_f20dL, 0x8f00_fbffL, (c, f) -> f.grow(-plain(c))));

  private ThumbCode() {}

  private static Form form(
      String text, int size, long pattern, long mask, StackWalk.Effect effect) {
    return new Form(text, size, pattern, mask, effect);
  }

  /** r0 to r7 in bits 0 to 7, lr in bit 8. */
  private static long narrowList(long code) {
    return (code & 0xff) | (code & 0x100) << 6;
  }

  /** S:I1:I2:imm10:imm11:0, where I1 and I2 are J1 and J2, inverted where S is clear. */
  private static long distance(long code) {
    long sign = code >>> 10 & 1;
    long i1 = ~(code >>> 29 ^ sign) & 1;
    long i2 = ~(code >>> 27 ^ sign) & 1;
    long bits =
        sign << 24 | i1 << 23 | i2 << 22 | (code & 0x3ff) << 12 | (code >>> 16 & 0x7ff) << 1;
    return bits << 39 >> 39;
  }

  /** The 12 bits i:imm3:imm8. */
  private static long plain(long code) {
    return (code >>> 10 & 1) << 11 | (code >>> 28 & 7) << 8 | (code >>> 16 & 0xff);
  }

  /** What these bits stand for as a "modified immediate constant" (A6.3.2). */
  private static long constant(long code) {
    int bits = (int) plain(code);
    int low = bits & 0xff;
    return switch (bits >>> 8) {
      case 0 -> low;
      case 1 -> low | low << 16;
      case 2 -> (low << 8 | low << 24) & 0xffff_ffffL;
      case 3 -> (low | low << 8 | low << 16 | low << 24) & 0xffff_ffffL;
      default -> Integer.rotateRight((low & 0x7f) | 0x80, bits >>> 7) & 0xffff_ffffL;
    };
  }
}
