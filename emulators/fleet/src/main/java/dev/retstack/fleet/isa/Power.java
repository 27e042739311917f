package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.PpcConst.*;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * What the PowerPC ISAs share: instructions, the landing page, exceptions. Source: Power ISA 3.0B,
 * Book I.
 *
 * @param order byte order of the instructions
 * @param wordBytes 4 or 8
 */
record Power(ByteOrder order, int wordBytes) {
  /** {@code nop}: {@code ori r0, r0, 0}. */
  static final int NOP = 0x6000_0000;

  /** {@code mflr r0}. */
  static final int MFLR_R0 = 0x7c08_02a6;

  /** {@code blr}. */
  static final int BLR = 0x4e80_0020;

  /** {@code b .}. */
  private static final int BRANCH = 0x4800_0000;

  /** MSR.FP. */
  static final long MSR_FLOATING_POINT = 1L << 13;

  /** Registers of arguments: r3 to r10. */
  static final int[] ARGUMENTS = {
    UC_PPC_REG_3,
    UC_PPC_REG_4,
    UC_PPC_REG_5,
    UC_PPC_REG_6,
    UC_PPC_REG_7,
    UC_PPC_REG_8,
    UC_PPC_REG_9,
    UC_PPC_REG_10
  };

  /** Bytes of an instruction. */
  static final int STEP = 4;

  /**
   * The card of nops at the entry, before lr is saved anywhere.
   *
   * @param saved where the prologue will save lr: retp
   */
  AbiCard patchable(Operand saved) {
    return AbiCard.named("patchable")
        .flags("-fpatchable-function-entry=2")
        .moment(AbiCard.Moment.BEFORE_PROLOGUE)
        .arguments(ARGUMENTS)
        .sites(AbiCard.SiteTable.PATCHABLE, hex(NOP))
        .slots(Slot.register(UC_PPC_REG_LR, saved))
        .fpMustAgree(Operand.register(UC_PPC_REG_31), Operand.register(UC_PPC_REG_31))
        .retpAtExit(saved)
        .remark("the nops stay: the site is seen, not patched")
        .build();
  }

  /** Reads how far the stack pointer goes down ({@code stwu r1,-n(r1)}), and where lr is saved. */
  StackWalk prologue() {
    return StackWalk.of(
        code -> STEP,
        StackWalk.Form.word(
            order, "stwu r1,d(r1)", 0x9421_0000, 0xffff_0000, (word, f) -> f.grow(-(short) word)),
        StackWalk.Form.word(
            order, "stw r0,d(r1)", 0x9001_0000, 0xffff_0000, (word, f) -> f.save((short) word)));
  }

  /** {@code bl}: a 26-bit distance, its two lowest bits being those of the instruction. */
  CallForm call() {
    CallForm.Target target = (at, code) -> at + (((int) code << 6) >> 6 & -4);
    return order == ByteOrder.BIG_ENDIAN
        ? CallForm.big("bl", STEP, 0x4800_0001L, 0xfc00_0003L, target)
        : CallForm.bits("bl", STEP, 0x4800_0001L, 0xfc00_0003L, target);
  }

  /** {@code b .+4}, as {@link CallForm#skippedBy} takes it. */
  String skip() {
    return order == ByteOrder.BIG_ENDIAN ? "48 00 00 04" : "04 00 00 48";
  }

  /** Instructions in the order of memory. */
  byte[] code(int... instructions) {
    ByteBuffer bytes = ByteBuffer.allocate(instructions.length * STEP).order(order);
    for (int instruction : instructions) {
      bytes.putInt(instruction);
    }
    return bytes.array();
  }

  /** The same, in hex. */
  String hex(int... instructions) {
    return HexFormat.of().formatHex(code(instructions));
  }

  /** The instruction at an address. */
  int instruction(Code code, long address) {
    int word = (int) code.at(address);
    return order == ByteOrder.BIG_ENDIAN ? Integer.reverseBytes(word) : word;
  }

  /** The way out uses r12 and lr only, which a return leaves to anyone. */
  LandingCode landing() {
    return LandingCode.oneBlock(32, (at, mailbox) -> wayOut((int) mailbox), this::jump);
  }

  /** {@code b target}, 32 MiB either way. */
  private byte[] jump(long at, long target) {
    long distance = target - at;
    return distance << 38 >> 38 == distance && target % 4 == 0
        ? code(0x4800_0000 | ((int) distance & 0x3ff_fffc))
        : new byte[0];
  }

  /** {@code lis r12, mailbox@ha; ld r12, mailbox@l(r12); mtlr r12; blr}; lwz for 32 bits. */
  private byte[] wayOut(int mailbox) {
    int lis = 0x3d80_0000 | ((mailbox + 0x8000) >>> 16);
    int low = mailbox & 0xffff;
    int load = wordBytes == 8 ? 0xe98c_0000 : 0x818c_0000;
    return code(lis, load | low, 0x7d88_03a6, BLR);
  }

  /** A word that is not code, a branch to itself; exceptions as the engine numbers them. */
  Isa.Stops stops() {
    return new Isa.Stops(
        List.of(code(BRANCH)),
        Map.of(
            1, "machine check",
            2, "data storage",
            3, "instruction storage",
            5, "alignment",
            6, "program: illegal instruction or trap",
            7, "floating point is off",
            73, "vector unit is off",
            94, "vsx unit is off"));
  }

  /** {@code sc}; the engine stops behind it. CR0.SO tells that the result is an error number. */
  SyscallAbi.Builder systemCalls(String platform) {
    return SyscallAbi.onInterrupt(8)
        .number(SyscallAbi.Numbers.POWERPC, UC_PPC_REG_0)
        .arguments(
            UC_PPC_REG_3, UC_PPC_REG_4, UC_PPC_REG_5, UC_PPC_REG_6, UC_PPC_REG_7, UC_PPC_REG_8)
        .result(UC_PPC_REG_3)
        .errorBit(UC_PPC_REG_CR0, 1)
        .pairsAligned()
        .platform(platform);
  }

  /** True where these instructions stand directly before a site. */
  boolean precedes(Code code, long site, int... instructions) {
    long at = site - (long) instructions.length * STEP;
    for (int instruction : instructions) {
      if (instruction(code, at) != instruction) {
        return false;
      }
      at += STEP;
    }
    return true;
  }
}
