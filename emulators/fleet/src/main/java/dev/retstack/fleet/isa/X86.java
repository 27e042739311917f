package dev.retstack.fleet.isa;

import dev.retstack.fleet.isa.SiteFacts.Where;
import dev.retstack.fleet.isa.StackWalk.Effect;
import dev.retstack.fleet.isa.StackWalk.Form;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What i386 and x86_64 share: how a counting function is called, and what stands in front of the
 * call.
 *
 * <pre>
 * a nested function of gcc, -mfentry         a function that realigns its stack, -pg
 *
 *   f: push %r10      static chain             f: lea  8(%rsp),%r10      arguments
 *      call __fentry__                            and  $-64,%rsp
 *      pop  %r10                                  push -8(%r10)          copies the return address
 *                                                 push %rbp
 *                                                 mov  %rsp,%rbp
 *                                                 ...
 *                                                 call mcount
 *                                                 ...
 *                                                 lea  -8(%r10),%rsp
 *                                                 ret                    by the original
 * </pre>
 *
 * i386 does it with %ecx and words of 4 bytes. The instructions in front of a call are read up to
 * the first that is none of these: no other length of an x86 instruction has to be known.
 */
final class X86 {
  /** Opcodes 0x50 to 0x57: push of a register. */
  private static final String PUSH = "push %reg";

  /** How far behind a site the frame pointer is set, scheduled code in between: measured 40. */
  private static final int FRAME_WITHIN = 64;

  /**
   * Bytes from a function's beginning to its call behind the prologue, at most: beyond none is
   * read.
   */
  private static final long PROLOGUE_MOST = 1024;

  private static final int RET = 0xc3;
  private static final int ENTER = 0xc8;

  /**
   * What compilers and the kernel put at a site that may become a call, one byte to ten (Intel SDM
   * volume 2, NOP); the one of six bytes is as long as a call of position-independent code. Behind
   * them those that clang writes with a displacement.
   */
  static final String[] NOPS = {
    "90",
    "66 90",
    "0f 1f 00",
    "0f 1f 40 00",
    "0f 1f 44 00 00",
    "66 0f 1f 44 00 00",
    "0f 1f 80 00 00 00 00",
    "0f 1f 84 00 00 00 00 00",
    "66 0f 1f 84 00 00 00 00 00",
    "66 2e 0f 1f 84 00 00 00 00 00",
    "0f 1f 40 08",
    "0f 1f 44 00 08",
    "66 0f 1f 44 00 08",
    "0f 1f 80 00 02 00 00",
    "0f 1f 84 00 00 02 00 00",
    "66 0f 1f 84 00 00 02 00 00",
    "2e 66 0f 1f 84 00 00 02 00 00"
  };

  /** {@code jmp rel32}. */
  static byte[] jump(long at, long target) {
    int bytes = 5;
    long distance = target - at - bytes;
    return distance == (int) distance
        ? ByteBuffer.allocate(bytes)
            .order(ByteOrder.LITTLE_ENDIAN)
            .put((byte) 0xe9)
            .putInt((int) distance)
            .array()
        : new byte[0];
  }

  /** Names of the exceptions of both, by their vectors (Intel SDM volume 3, 6.3.1). */
  static final Isa.Stops STOPS =
      new Isa.Stops(
          List.of(new byte[] {(byte) 0xeb, (byte) 0xfe}),
          Map.of(
              0, "divide error",
              1, "debug",
              3, "breakpoint",
              4, "overflow",
              6, "invalid opcode",
              12, "stack fault",
              13, "general protection",
              14, "page fault",
              16, "floating point",
              17, "alignment check"));

  /** {@code addr32 jmp} behind itself: the prefix makes it as long as the calls of six bytes. */
  static final String LONG_SKIP = "67 e9 00 00 00 00";

  static final String LONG_NOP = "66 0f 1f 44 00 00";

  /** {@code addr32 call}: what a static link makes of a call through the GOT. */
  static final CallForm RELAXED_CALL =
      CallForm.direct("addr32 call", "67 e8 .. .. .. ..", (at, code) -> at + 6 + (int) (code >> 16))
          .skippedBy(X86.LONG_SKIP, X86.LONG_NOP);

  /** {@code call rel32}. */
  static final CallForm CALL =
      CallForm.direct("call", "e8 .. .. .. ..", (at, code) -> at + 5 + (int) (code >> 8))
          .skippedBy("e9 00 00 00 00", "0f 1f 44 00 00");

  private static final Effect NO_EFFECT = (code, frame) -> {};

  private X86() {}

  /**
   * Reads what stands in front of a call, and whether the function sets the frame pointer behind
   * it.
   */
  static Prologue beforeFrame(int wordBytes) {
    StackWalk walk = walk(wordBytes);
    long set = wordBytes == 8 ? 0xe5_8948L : 0xe589L; // mov %rsp,%rbp
    long mask = wordBytes == 8 ? 0xff_ffffL : 0xffffL;
    return (code, function, site, after) ->
        walk.scan(code, function, site, after)
            .map(facts -> facts.withKeepsFrame(sets(code, after, set, mask)));
  }

  /**
   * Reads what stands in front of a call that is made behind the prologue. Where the function has
   * not set the frame pointer that is another's, and so is the return address above it: then it is
   * left alone. Where no symbol tells the function's beginning, or that is far, it is believed.
   */
  static Prologue behindFrame(int wordBytes) {
    StackWalk walk = walk(wordBytes);
    return (code, function, site, after) ->
        walk.scan(code, function, site, after)
            .map(
                facts ->
                    site - function <= 0
                            || site - function > PROLOGUE_MOST
                            || setsFrame(code, function, site, wordBytes)
                        ? facts.withWhere(Where.SAVED)
                        : SiteFacts.IN_REGISTER);
  }

  /** {@code mov %rsp,%rbp} in both forms, or {@code enter}. */
  private static boolean setsFrame(Code code, long from, long to, int wordBytes) {
    long mask = wordBytes == 8 ? 0xff_ffffL : 0xffffL;
    for (long at = from; at < to; at++) {
      long bytes = code.at(at) & mask;
      if (bytes == (wordBytes == 8 ? 0xe5_8948L : 0xe589L)
          || bytes == (wordBytes == 8 ? 0xec_8b48L : 0xec8bL)) {
        return true;
      }
    }
    return (code.at(from) & 0xff) == ENTER;
  }

  /**
   * Takes the nops that a function begins with, by gcc -mfentry: behind endbr, and behind the push
   * of a nested function's static chain.
   *
   * @param chain the push, the first byte lowest, in as many bytes
   */
  static Prologue firstNop(int wordBytes, long chain, int chainBytes) {
    Prologue frame = beforeFrame(wordBytes);
    long endbr = wordBytes == 8 ? 0xfa1e_0ff3L : 0xfb1e_0ff3L;
    return (code, function, site, after) -> {
      long at = function;
      at += (code.at(at) & 0xffff_ffffL) == endbr ? Integer.BYTES : 0;
      boolean nested = at != site && (code.at(at) & ((1L << (8 * chainBytes)) - 1)) == chain;
      return at + (nested ? chainBytes : 0) == site
          ? frame.scan(code, function, site, after)
          : Optional.empty();
    };
  }

  /** Takes the nops of gcc -pg, behind the prologue, whatever it does with the return address. */
  static Prologue nopBehindFrame(int wordBytes) {
    Prologue frame = behindFrame(wordBytes);
    return (code, function, site, after) ->
        frame.scan(code, function, site, after).map(facts -> facts.withCopied(false));
  }

  private static boolean sets(Code code, long from, long pattern, long mask) {
    for (long at = from; at < from + FRAME_WITHIN; at++) {
      long bytes = code.at(at);
      if ((bytes & mask) == pattern) {
        return true;
      }
      if ((bytes & 0xff) == RET) {
        return false;
      }
    }
    return false;
  }

  private static StackWalk walk(int wordBytes) {
    Effect push = (code, frame) -> frame.grow(wordBytes);
    Effect realign = (code, frame) -> frame.lose();
    Effect copy = (code, frame) -> frame.pushAgain();
    Form[] forms =
        wordBytes == 8
            ? new Form[] {
              Form.bytes("endbr64", "f3 0f 1e fa", NO_EFFECT),
              new Form("lea disp8(%rsp),%reg", 5, 0x24_448d48L, 0xff_c7fffbL, NO_EFFECT),
              Form.bytes("and $imm8,%rsp", "48 83 e4 ..", realign),
              Form.bytes("and $imm32,%rsp", "48 81 e4 .. .. .. ..", realign),
              new Form("push -8(%reg)", 3, 0xf870ffL, 0xfff8ffL, copy),
              new Form("push -8(%r8-15)", 4, 0xf870ff41L, 0xfff8ffffL, copy),
              new Form(PUSH, 1, 0x50, 0xf8, push),
              new Form("push %r8-15", 2, 0x5041, 0xf8ff, push),
            }
            : new Form[] {
              Form.bytes("endbr32", "f3 0f 1e fb", NO_EFFECT),
              new Form("lea disp8(%esp),%reg", 4, 0x24448dL, 0xffc7ffL, NO_EFFECT),
              Form.bytes("and $imm8,%esp", "83 e4 ..", realign),
              Form.bytes("and $imm32,%esp", "81 e4 .. .. .. ..", realign),
              new Form("push -4(%reg)", 3, 0xfc70ffL, 0xfff8ffL, copy),
              new Form(PUSH, 1, 0x50, 0xf8, push),
            };
    return StackWalk.ofPushing(forms);
  }
}
