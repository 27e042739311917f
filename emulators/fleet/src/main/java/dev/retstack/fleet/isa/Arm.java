package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.ArmConst.*;

import dev.retstack.fleet.isa.AbiCard.Moment;
import dev.retstack.fleet.isa.AbiCard.SiteTable;
import dev.retstack.fleet.isa.SiteFacts.Where;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * arm, little-endian: A32 and Thumb-2, which a program may mix. Source: Procedure Call Standard for
 * the Arm Architecture (AAPCS32), 6.1 "Machine Registers", 6.4 "Subroutine Calls" (bit 0 of an
 * address to jump to is the instruction set), 7.1.1 "VFP register usage"; the frame of -mapcs-frame
 * is that of the older APCS; {@code __gnu_mcount_nc}: gcc, config/arm/linux-eabi.h.
 *
 * <pre>
 *   mcount: -pg -mapcs-frame (A32)      mcount-nofp: -pg (A32); thumb-mcount
 *
 *   f: mov  ip, sp                      f: push {r4, lr}          nothing in a leaf
 *      push {fp, ip, lr, pc}               sub  sp, #n
 *      sub  fp, ip, #4                     push {lr}
 *      push {lr}                           bl   __gnu_mcount_nc   selfpc
 *      bl   __gnu_mcount_nc   selfpc       ...
 *      ...                                 add  sp, #n
 *      ldm  sp, {fp, sp, pc}               pop  {r4, pc}          a leaf: bx lr
 *
 *   in __gnu_mcount_nc, which owes a pop of lr
 *   lr         selfpc + 4               lr      selfpc + 4
 *   [sp]       frompc once more         [sp]    frompc; goes back to lr, a leaf returns by it
 *   [fp, #-4]  frompc; retp = fp - 4    [sp+k]  frompc where the prologue pushed lr; retp = sp of the call
 *   [fp, #-12] caller's frame pointer
 *
 *   patchable, thumb-patchable: at the nops lr holds frompc; sp stands for the slot; fp (Thumb: r7)
 *   is the caller's frame pointer
 *
 *   in return_to_handler: fp and r7 are the caller's again; sp is what it was at the call
 * </pre>
 *
 * Without an APCS frame the prologue tells k and the sp of the call: the first push of lr is what
 * the function returns by, in a leaf the one that the call needs. A call is {@code bl}, or {@code
 * blx} into the other set.
 *
 * <p>Results: r0-r3, d0-d7 (s0-s15). A load of pc keeps them, the flags and everything else.
 */
final class Arm {
  private static final String[] COUNTING = {"__gnu_mcount_nc"};

  /** {@code mov ip, lr; pop {lr}; bx ip}, in A32 and in Thumb. */
  private static final String RETURN = "0e c0 a0 e1  04 e0 9d e4  1c ff 2f e1";

  private static final String THUMB_RETURN = "f4 46  5d f8 04 eb  60 47";

  /** {@code push {lr}}, in front of each call. */
  private static final String PUSH_LR = "04 e0 2d e5";

  /** Where the prologue pushed lr; retp is the sp of the call. */
  private static final Slot SAVED =
      Slot.saved(Operand.register(UC_ARM_REG_SP)).retpByFrame(Operand.register(UC_ARM_REG_SP));

  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg -marm -mapcs-frame")
          .moment(Moment.AFTER_PROLOGUE)
          .arguments(UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3)
          .symbols(COUNTING)
          .callForms(ArmCode.CALLS)
          .callRelocations(0, 1, 27, 28) // R_ARM_PC24, PLT32, CALL
          .nop("04 e0 9d e4") // pop {lr}: the site has pushed it
          .lead("push {lr}", PUSH_LR, "00 00 a0 e1") // mov r0,r0: of every version, as nop is not
          .entryStub(RETURN)
          .secondEntryStub(THUMB_RETURN)
          .prologue(ArmCode.PROLOGUE.accepting(f -> f.keepsFrame() || f.where() != Where.SAVED))
          .returnAddress(Operand.register(UC_ARM_REG_LR))
          .slot(Operand.sum(UC_ARM_REG_FP, -4))
          .parent(Operand.word(UC_ARM_REG_SP, 0))
          .fpMustAgree(Operand.word(UC_ARM_REG_FP, -12), Operand.register(UC_ARM_REG_FP))
          .slotFromFp(-4)
          .remark(
              "gcc 12 knows no counting function but __gnu_mcount_nc: the older mcount is not read")
          .build();

  private static final AbiCard MCOUNT_NOFP =
      AbiCard.named("mcount-nofp")
          .flags("-pg -marm")
          .moment(Moment.AFTER_PROLOGUE)
          .arguments(UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3)
          .symbols(COUNTING)
          .callForms(ArmCode.CALLS)
          .callRelocations(0, 1, 27, 28) // R_ARM_PC24, PLT32, CALL
          .nop("04 e0 9d e4") // pop {lr}: the site has pushed it
          .lead("push {lr}", PUSH_LR, "00 00 a0 e1") // mov r0,r0: of every version, as nop is not
          .entryStub(RETURN)
          .secondEntryStub(THUMB_RETURN)
          .prologue(ArmCode.PROLOGUE.accepting(f -> !f.keepsFrame() && f.where() == Where.SAVED))
          .returnAddress(Operand.register(UC_ARM_REG_LR))
          .slots(SAVED)
          .parent(Operand.word(UC_ARM_REG_SP, 0))
          .retpAtExit(Operand.register(UC_ARM_REG_SP))
          .build();

  private static final AbiCard THUMB_MCOUNT =
      AbiCard.named("thumb-mcount")
          .flags("-pg -mthumb")
          .moment(Moment.AFTER_PROLOGUE)
          .arguments(UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3)
          .symbols(COUNTING)
          .callForms(ThumbCode.CALLS)
          .callRelocations(0, 10) // R_ARM_THM_CALL
          .nop("5d f8 04 eb") // pop.w {lr}: the site has pushed it
          .lead("push {lr}", "00 b5", "00 bf af f3 00 80") // push {lr}; nop, nop.w
          .entryStub(RETURN)
          .secondEntryStub(THUMB_RETURN)
          .prologue(ThumbCode.PROLOGUE.accepting(f -> f.where() == Where.SAVED))
          .returnAddress(Operand.register(UC_ARM_REG_LR))
          .slots(SAVED)
          .parent(Operand.word(UC_ARM_REG_SP, 0))
          .retpAtExit(Operand.register(UC_ARM_REG_SP))
          .remark("r7 has no fixed place in the frame")
          .build();

  private static final AbiCard PATCHABLE =
      AbiCard.named("patchable")
          .flags("-marm -fpatchable-function-entry=2")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3)
          .sites(SiteTable.PATCHABLE, "00 f0 20 e3", "00 00 a0 e1")
          .slots(Slot.register(UC_ARM_REG_LR, Operand.register(UC_ARM_REG_SP)))
          .fpMustAgree(Operand.register(UC_ARM_REG_FP), Operand.register(UC_ARM_REG_FP))
          .retpAtExit(Operand.register(UC_ARM_REG_SP))
          .build();

  private static final AbiCard THUMB_PATCHABLE =
      AbiCard.named("thumb-patchable")
          .flags("-mthumb -fpatchable-function-entry=3")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3)
          .sites(SiteTable.PATCHABLE, "00 bf", "af f3 00 80", "c0 46") // nop, nop.w, mov r8,r8
          .slots(Slot.register(UC_ARM_REG_LR, Operand.register(UC_ARM_REG_SP)))
          .fpMustAgree(Operand.register(UC_ARM_REG_R7), Operand.register(UC_ARM_REG_R7))
          .retpAtExit(Operand.register(UC_ARM_REG_SP))
          .build();

  static final Isa ISA =
      new Isa(
          "arm",
          40,
          4,
          ByteOrder.LITTLE_ENDIAN,
          new Isa.Engine(
              UcConst.UC_ARCH_ARM,
              UcConst.UC_MODE_ARM,
              OptionalInt.empty(),
              new Isa.Leaves(UC_ARM_REG_CPSR, 0x0600_fc00)), // CPSR.IT
          CodeAddresses.mode(UC_ARM_REG_CPSR, 0x20), // CPSR.T
          new Registers(
              UC_ARM_REG_PC,
              UC_ARM_REG_SP,
              UC_ARM_REG_LR,
              UC_ARM_REG_FP,
              UC_ARM_REG_C13_C0_3, // TPIDRURO
              UC_ARM_REG_R0,
              List.of(
                  new Registers.Named("r0", UC_ARM_REG_R0, 4),
                  new Registers.Named("r1", UC_ARM_REG_R1, 4),
                  new Registers.Named("r2", UC_ARM_REG_R2, 4),
                  new Registers.Named("r3", UC_ARM_REG_R3, 4),
                  new Registers.Named("d0", UC_ARM_REG_D0, 8),
                  new Registers.Named("d1", UC_ARM_REG_D1, 8),
                  new Registers.Named("d2", UC_ARM_REG_D2, 8),
                  new Registers.Named("d3", UC_ARM_REG_D3, 8),
                  new Registers.Named("d4", UC_ARM_REG_D4, 8),
                  new Registers.Named("d5", UC_ARM_REG_D5, 8),
                  new Registers.Named("d6", UC_ARM_REG_D6, 8),
                  new Registers.Named("d7", UC_ARM_REG_D7, 8))),
          (engine, symbols) -> {
            // floating point on: CPACR.cp10 and cp11, FPEXC.EN
            engine.reg_write(UC_ARM_REG_C1_C0_2, engine.reg_read(UC_ARM_REG_C1_C0_2) | 0x00f0_0000);
            engine.reg_write(UC_ARM_REG_FPEXC, 0x4000_0000);
          },
          SyscallAbi.onInterrupt(2) // svc
              .number(SyscallAbi.Numbers.ARM, UC_ARM_REG_R7)
              .arguments(
                  UC_ARM_REG_R0,
                  UC_ARM_REG_R1,
                  UC_ARM_REG_R2,
                  UC_ARM_REG_R3,
                  UC_ARM_REG_R4,
                  UC_ARM_REG_R5)
              .pairsAligned()
              .result(UC_ARM_REG_R0)
              .platform("armv7l")
              .readImpliesExecute()
              .build(),
          new LandingCode(
              4,
              (at, tail, mailbox) -> Encoding.littleEndian(loadPc(at, mailbox)),
              (at, mailbox) -> new byte[0],
              LandingCode.Trampoline.NONE, // a branch does not change the instruction set
              8), // ldr pc reaches 4 KiB
          new Isa.Stops(
              List.of(Encoding.littleEndian(0xeaff_fffe), new byte[] {(byte) 0xfe, (byte) 0xe7}),
              Map.of(
                  1, "undefined instruction",
                  3, "prefetch abort",
                  4, "data abort",
                  7, "breakpoint")),
          List.of(MCOUNT, MCOUNT_NOFP, THUMB_MCOUNT, PATCHABLE, THUMB_PATCHABLE));

  private Arm() {}

  /** {@code ldr pc, [pc, #n]}: pc reads as the instruction's address + 8; n is below 4096. */
  private static int loadPc(long at, long mailbox) {
    return 0xe59f_f000 | (int) (mailbox - (at + 8));
  }
}
