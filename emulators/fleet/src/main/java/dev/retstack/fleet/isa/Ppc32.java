package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.PpcConst.*;

import dev.retstack.fleet.isa.AbiCard.Moment;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.List;
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
 * at entry, both: r31 is the caller's frame pointer, callee-saved
 * in return_to_handler, both: r31 and r1 are the caller's again, retp as at entry
 * </pre>
 *
 * {@code _mcount} must give lr back what it reads at 4(r1): the function saves it again, or returns
 * by it. A nested function keeps its static chain over the call ({@code stwu r1,-16(r1); stw
 * r11,12(r1)} come first): its slot lies 16 bytes lower. Results: r3 r4, f1, memory at r3 for every
 * struct.
 */
final class Ppc32 {
  private static final Power POWER = new Power(ByteOrder.BIG_ENDIAN, 4);

  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(Power.ARGUMENTS)
          .symbols("_mcount")
          .callForms(POWER.call())
          .callRelocations(0, 10, 18, 23) // R_PPC_REL24, PLTREL24, LOCAL24PC
          .nop(POWER.hex(Power.NOP))
          // mflr r0; mtctr r0; lwz r0,4(r1); mtlr r0; bctr
          .entryStub(POWER.hex(0x7c08_02a6, 0x7c09_03a6, 0x8001_0004, 0x7c08_03a6, 0x4e80_0420))
          .returnAddress(Operand.register(UC_PPC_REG_LR))
          .slot(Operand.sum(UC_PPC_REG_1, 4))
          .fpMustAgree(Operand.register(UC_PPC_REG_31), Operand.register(UC_PPC_REG_31))
          .retpAtExit(Operand.sum(UC_PPC_REG_1, 4), Operand.sum(UC_PPC_REG_1, 4 - 16))
          .remark("lr is read back from where it is hijacked")
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
          POWER.systemCalls("ppc"),
          POWER.landing(),
          POWER.stops(),
          List.of(MCOUNT, POWER.patchable(Operand.sum(UC_PPC_REG_1, 4))));

  private Ppc32() {}
}
