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
 * The cards of riscv64 and riscv32, little-endian. Source: RISC-V ELF psABI, "Integer Calling
 * Convention", "Frame Pointer Convention" (the return address a word below s0, the caller's frame
 * pointer two words below). Drawn for words of 8 bytes; riscv32 has sw, lw, -4(s0) and -8(s0).
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
 *   a0       frompc once more; clang does not load it
 *
 * in return_to_handler: s0 is the caller's again, or what it keeps there; sp is what it was at the
 * call
 * </pre>
 *
 * A call is {@code auipc+jalr} (8 bytes) as compiled, which a linker relaxes to {@code jal} (4), on
 * riscv32 also to {@code c.jal} (2).
 *
 * <p>The prologue tells k, whether s0 becomes a frame pointer (gcc makes one for an alloca in any
 * case), and the sp of the call, which is retp where there is none and again at exit. A frame
 * pointer makes the slot retp; a variadic function keeps it below its register arguments, so sp at
 * exit does not foretell it.
 *
 * <p>Results: a0 a1, fa0 fa1. The way out uses t0 and ra only, which a return leaves to anyone.
 */
final class RiscvIsa {
  private static final int MACHINE = 243;

  private RiscvIsa() {}

  /**
   * @param name of the ISA, and what the kernel calls the platform
   * @param word bytes of a register: 8 or 4
   * @param mode of the engine
   * @param calls forms that call {@code _mcount}
   * @param numbers of system calls
   */
  static Isa of(String name, int word, int mode, CallForm[] calls, SyscallAbi.Numbers numbers) {
    return new Isa(
        name,
        MACHINE,
        word,
        ByteOrder.LITTLE_ENDIAN,
        new Isa.Engine(UcConst.UC_ARCH_RISCV, mode, OptionalInt.empty()),
        CodeAddresses.PLAIN,
        Riscv.registers(),
        Riscv.bringUp(),
        SyscallAbi.onInterrupt(8) // ecall
            .number(numbers, UC_RISCV_REG_A7)
            .arguments(
                UC_RISCV_REG_A0,
                UC_RISCV_REG_A1,
                UC_RISCV_REG_A2,
                UC_RISCV_REG_A3,
                UC_RISCV_REG_A4,
                UC_RISCV_REG_A5)
            .result(UC_RISCV_REG_A0)
            .platform(name)
            .build(),
        Riscv.landing(word),
        Riscv.stops(),
        List.of(
            mcount(word, calls),
            mcountWithoutFrame(word, calls),
            clangMcount(word, calls),
            patchable()));
  }

  private static AbiCard mcount(int word, CallForm[] calls) {
    return framed("mcount", "-pg -fno-omit-frame-pointer", word, calls)
        .prologue(
            Riscv.calledByGcc(
                Riscv.prologue(word).accepting(f -> f.keepsFrame() || f.where() != Where.SAVED)))
        .parent(Operand.register(UC_RISCV_REG_A0))
        .build();
  }

  private static AbiCard clangMcount(int word, CallForm[] calls) {
    return framed("clang-mcount", "-pg, by clang", word, calls)
        .prologue(Riscv.calledByClang(Riscv.prologue(word).accepting(SiteFacts::keepsFrame)))
        .build();
  }

  private static AbiCardBuilder framed(String name, String flags, int word, CallForm[] calls) {
    return counting(name, flags, calls)
        .slot(Operand.sum(UC_RISCV_REG_S0, -word))
        .fpMustAgree(Operand.word(UC_RISCV_REG_S0, -2L * word), Operand.register(UC_RISCV_REG_S0))
        .slotFromFp(-word);
  }

  private static AbiCard mcountWithoutFrame(int word, CallForm[] calls) {
    return counting("mcount-nofp", "-pg", calls)
        .prologue(
            Riscv.calledByGcc(
                Riscv.prologue(word).accepting(f -> !f.keepsFrame() && f.where() == Where.SAVED)))
        .parent(Operand.register(UC_RISCV_REG_A0))
        .slots(
            Slot.saved(Operand.register(UC_RISCV_REG_SP))
                .retpByFrame(Operand.register(UC_RISCV_REG_SP)))
        .retpAtExit(Operand.register(UC_RISCV_REG_SP))
        .remark("not with -msave-restore, which saves ra out of line")
        .build();
  }

  /** What all ways to call {@code _mcount} have in common. */
  private static AbiCardBuilder counting(String name, String flags, CallForm[] calls) {
    return AbiCard.named(name)
        .flags(flags)
        .moment(Moment.AFTER_PROLOGUE)
        .symbols("_mcount", "mcount")
        .callForms(calls)
        .callRelocations(0, Riscv.CALL_RELOCATIONS)
        .nop("13 00 00 00", "01 00")
        .entryStub("67 80 00 00")
        .returnAddress(Operand.register(UC_RISCV_REG_RA));
  }

  private static AbiCard patchable() {
    return AbiCard.named("patchable")
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
  }
}
