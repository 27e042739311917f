package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.RiscvConst.*;

import dev.retstack.fleet.isa.AbiCard.Moment;
import dev.retstack.fleet.isa.AbiCard.SiteTable;
import dev.retstack.fleet.isa.SiteFacts.Where;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.List;
import java.util.OptionalInt;

/**
 * riscv64, little-endian. Source: RISC-V ELF psABI, "Integer Calling Convention", "Frame Pointer
 * Convention" (the return address at s0 - 8, the caller's frame pointer at s0 - 16).
 *
 * <pre>
 *   -pg -fno-omit-frame-pointer          -pg                              -fpatchable-function-entry=4
 *
 *   f: addi sp, sp, -n                   f: addi sp, sp, -n               f: nop x 4   selfpc
 *      sd   ra, n-8(sp)                     sd   ra, k(sp)                   addi sp, sp, -n
 *      sd   s0, n-16(sp)                    mv   a0, ra                      ...
 *      addi s0, sp, n                       call _mcount   selfpc            ret
 *      mv   a0, ra                          ...
 *      call _mcount   selfpc                ld   ra, k(sp)
 *      ...                                  addi sp, sp, n
 *      ld   ra, n-8(sp); ld s0, n-16(sp)    ret
 *      addi sp, sp, n
 *      ret
 *
 *   in _mcount                           in _mcount                       at the nops
 *   ra       selfpc + the call           ra       selfpc + the call       ra  frompc
 *   -8(s0)   frompc; retp = s0 - 8       k(sp)    frompc                  sp  retp
 *   -16(s0)  caller's frame pointer      a0       frompc once more        s0  caller's frame pointer
 *   a0       frompc once more
 *
 * in return_to_handler: s0 is the caller's again, or what it keeps there; sp is what it was at the
 * call
 * </pre>
 *
 * A call is {@code auipc+jalr} (8 bytes) as compiled, which a linker relaxes to {@code jal} (4).
 *
 * <p>The prologue tells k, whether s0 becomes a frame pointer (gcc makes one for an alloca in any
 * case), and the sp of the call, which is retp where there is none and again at exit. A frame
 * pointer makes the slot retp; a variadic function keeps it below its register arguments, so sp at
 * exit does not foretell it.
 *
 * <p>Results: a0 a1, fa0 fa1. The way out uses t0 and ra only, which a return leaves to anyone.
 */
final class Riscv64 {
  private static final int WORD = 8;

  private static final StackWalk PROLOGUE = Riscv.prologue(WORD);

  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg -fno-omit-frame-pointer")
          .moment(Moment.AFTER_PROLOGUE)
          .symbols("_mcount", "mcount")
          .callForms(Riscv.calls64())
          .callRelocations(0, Riscv.CALL_RELOCATIONS)
          .nop("13 00 00 00", "01 00")
          .entryStub("67 80 00 00")
          .prologue(PROLOGUE.accepting(f -> f.keepsFrame() || f.where() != Where.SAVED))
          .returnAddress(Operand.register(UC_RISCV_REG_RA))
          .slot(Operand.sum(UC_RISCV_REG_S0, -WORD))
          .parent(Operand.register(UC_RISCV_REG_A0))
          .fpMustAgree(Operand.word(UC_RISCV_REG_S0, -2 * WORD), Operand.register(UC_RISCV_REG_S0))
          .slotFromFp(-WORD)
          .build();

  private static final AbiCard MCOUNT_NOFP =
      AbiCard.named("mcount-nofp")
          .flags("-pg")
          .moment(Moment.AFTER_PROLOGUE)
          .symbols("_mcount", "mcount")
          .callForms(Riscv.calls64())
          .callRelocations(0, Riscv.CALL_RELOCATIONS)
          .nop("13 00 00 00", "01 00")
          .entryStub("67 80 00 00")
          .prologue(PROLOGUE.accepting(f -> !f.keepsFrame() && f.where() == Where.SAVED))
          .returnAddress(Operand.register(UC_RISCV_REG_RA))
          .slots(
              Slot.saved(Operand.register(UC_RISCV_REG_SP))
                  .retpByFrame(Operand.register(UC_RISCV_REG_SP)))
          .parent(Operand.register(UC_RISCV_REG_A0))
          .retpAtExit(Operand.register(UC_RISCV_REG_SP))
          .remark("not with -msave-restore, which saves ra out of line")
          .build();

  private static final AbiCard PATCHABLE =
      AbiCard.named("patchable")
          .flags("-fpatchable-function-entry=4")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(
              UC_RISCV_REG_A0,
              UC_RISCV_REG_A1,
              UC_RISCV_REG_A2,
              UC_RISCV_REG_A3,
              UC_RISCV_REG_A4,
              UC_RISCV_REG_A5,
              UC_RISCV_REG_A6,
              UC_RISCV_REG_A7)
          .sites(SiteTable.PATCHABLE, "01 00", "13 00 00 00")
          .slots(Slot.register(UC_RISCV_REG_RA, Operand.register(UC_RISCV_REG_SP)))
          .fpMustAgree(Operand.register(UC_RISCV_REG_S0), Operand.register(UC_RISCV_REG_S0))
          .retpAtExit(Operand.register(UC_RISCV_REG_SP))
          .build();

  static final Isa ISA =
      new Isa(
          "riscv64",
          243,
          WORD,
          ByteOrder.LITTLE_ENDIAN,
          new Isa.Engine(UcConst.UC_ARCH_RISCV, UcConst.UC_MODE_RISCV64, OptionalInt.empty()),
          CodeAddresses.PLAIN,
          Riscv.registers(),
          Riscv.bringUp(),
          SyscallAbi.onInterrupt(8) // ecall
              .number(SyscallAbi.Numbers.GENERIC, UC_RISCV_REG_A7)
              .arguments(
                  UC_RISCV_REG_A0,
                  UC_RISCV_REG_A1,
                  UC_RISCV_REG_A2,
                  UC_RISCV_REG_A3,
                  UC_RISCV_REG_A4,
                  UC_RISCV_REG_A5)
              .result(UC_RISCV_REG_A0)
              .platform("riscv64")
              .build(),
          Riscv.landing(WORD),
          Riscv.stops(),
          List.of(MCOUNT, MCOUNT_NOFP, PATCHABLE));

  private Riscv64() {}
}
