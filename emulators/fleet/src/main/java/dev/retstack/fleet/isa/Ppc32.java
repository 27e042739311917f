package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.PpcConst.*;

import dev.retstack.fleet.isa.AbiCard.Moment;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * 32-bit PowerPC, big-endian. Source: System V Application Binary Interface, PowerPC Processor
 * Supplement, 3 "Function Calling Sequence" (the back chain at 0(r1), and the word at 4(r1) where
 * the callee saves lr).
 *
 * <pre>
 * -pg: called first                             -fpatchable-function-entry=2
 *
 *   f: mflr r0                                    f: nop; nop                selfpc
 *      stw  r0,4(r1)                                 stwu r1,-n(r1)
 *      bl   _mcount             selfpc               ...
 *      stwu r1,-n(r1)                                mtlr r0
 *      stw  r31,n-4(r1)                              blr
 *      ...
 *      mtlr r0
 *      blr
 *
 * in _mcount                                    at the first nop
 *   lr      return address: selfpc + 4            lr      frompc; retp = r1 + 4, where the prologue
 *   4(r1)   frompc; retp = r1 + 4                         will save it
 *
 * -pg of clang: behind the prologue, as any other function; 4(back chain) holds frompc
 *
 * at entry, both of gcc: r31 is the caller's frame pointer, callee-saved
 * in return_to_handler, both: r31 and r1 are the caller's again, retp as at entry
 * </pre>
 *
 * {@code _mcount} must give lr back what it reads at 4(r1): the function saves it again, or returns
 * by it. A nested function keeps its static chain over the call ({@code stwu r1,-16(r1); stw
 * r11,12(r1)} come first): the word that is hijacked lies 16 bytes lower, and a callee's slot may
 * come to lie there, so retp is where the prologue will save lr in any case. Results: r3 r4, f1,
 * memory at r3 for every struct.
 */
final class Ppc32 {
  private static final Power POWER = new Power(ByteOrder.BIG_ENDIAN, 4);

  /** Where every function saves lr. */
  private static final Operand SAVE_WORD = Operand.sum(UC_PPC_REG_1, 4);

  private static final AbiCard MCOUNT =
      counting("mcount")
          .flags("-pg")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(Power.ARGUMENTS)
          .prologue(
              (code, function, site, after) ->
                  isFirst(code, site)
                      ? POWER.prologue().scan(code, function, site, after)
                      : Optional.empty())
          .slots(Slot.memory(SAVE_WORD).retpByFrame(SAVE_WORD))
          .fpMustAgree(Operand.register(UC_PPC_REG_31), Operand.register(UC_PPC_REG_31))
          .remark("lr is read back from where it is hijacked")
          .build();

  private static final AbiCard CLANG_MCOUNT =
      counting("clang-mcount")
          .flags("-pg, by clang")
          .moment(Moment.AFTER_PROLOGUE)
          .prologue(
              (code, function, site, after) ->
                  isFirst(code, site) ? Optional.empty() : Optional.of(SiteFacts.NONE))
          .slot(Operand.wordPlus(UC_PPC_REG_1, 0, 4))
          .remark("the caller's frame pointer has no fixed place")
          .build();

  static final Isa ISA =
      new Isa(
          "ppc32",
          20,
          4,
          ByteOrder.BIG_ENDIAN,
          new Isa.Engine(
              UcConst.UC_ARCH_PPC,
              UcConst.UC_MODE_PPC32 | UcConst.UC_MODE_BIG_ENDIAN,
              OptionalInt.empty()),
          CodeAddresses.PLAIN,
          new Registers(
              UC_PPC_REG_PC,
              UC_PPC_REG_1,
              UC_PPC_REG_LR,
              UC_PPC_REG_31,
              Registers.NONE, // r2, which programs set themselves
              UC_PPC_REG_3,
              List.of(
                  new Registers.Named("r3", UC_PPC_REG_3, 4),
                  new Registers.Named("r4", UC_PPC_REG_4, 4),
                  new Registers.Named("f1", UC_PPC_REG_FPR1, 8))),
          (engine, symbols) ->
              engine.reg_write(
                  UC_PPC_REG_MSR, engine.reg_read(UC_PPC_REG_MSR) | Power.MSR_FLOATING_POINT),
          POWER.systemCalls("ppc").readImpliesExecute().build(),
          POWER.landing(),
          POWER.stops(),
          List.of(MCOUNT, CLANG_MCOUNT, POWER.patchable(SAVE_WORD)));

  private Ppc32() {}

  /** gcc calls {@code _mcount} directly behind {@code mflr r0; stw r0,4(r1)}. */
  private static boolean isFirst(Code code, long site) {
    return POWER.precedes(code, site, Power.MFLR_R0, 0x9001_0004);
  }

  private static AbiCardBuilder counting(String name) {
    return AbiCard.named(name)
        .symbols("_mcount")
        .callForms(POWER.call())
        .callRelocations(0, 10, 18, 23) // R_PPC_REL24, PLTREL24, LOCAL24PC
        .nop(POWER.hex(Power.NOP))
        // mflr r0; mtctr r0; lwz r0,4(r1); mtlr r0; bctr
        .entryStub(POWER.hex(0x7c08_02a6, 0x7c09_03a6, 0x8001_0004, 0x7c08_03a6, 0x4e80_0420))
        .returnAddress(Operand.register(UC_PPC_REG_LR))
        .retpAtExit(SAVE_WORD);
  }
}
