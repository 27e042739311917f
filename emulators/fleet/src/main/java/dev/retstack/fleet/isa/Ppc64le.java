package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.PpcConst.*;

import java.nio.ByteOrder;
import java.util.List;

/**
 * ppc64, little-endian, ELFv2. Source: 64-Bit ELF V2 ABI Specification, Power Architecture, 2.2
 * "Function Call Linkage Protocols" and 2.3.2 "The Global Entry Point". Call sites and cards are
 * those of {@link Power64}, behind the set-up of the TOC where a function needs it:
 *
 * <pre>
 *   f: addis r2,r12,.TOC.-f@ha     global entry: called by pointer, its address in r12
 *      addi  r2,r2,.TOC.-f@l       (absolute programs: lis, addi)
 *   .localentry f                  local entry, f + 8: called by bl, r2 is right already
 *      mflr  r0
 *      bl    _mcount               selfpc, -mprofile-kernel
 * </pre>
 *
 * gcc 12 puts the nops of -fpatchable-function-entry in front of the set-up, where a call of the
 * local entry does not pass them: the local entry is taken for the entry. gcc 13 puts them behind
 * it.
 *
 * <p>Results: r3 r4, f1-f8 (homogeneous aggregates, too), memory at r3. The way out uses r12 and lr
 * only. A program starts with its entry point in r12.
 */
final class Ppc64le {
  private static final Power64 POWER = Power64.of(ByteOrder.LITTLE_ENDIAN);

  static final Isa ISA =
      new Isa(
          "ppc64le",
          21,
          8,
          ByteOrder.LITTLE_ENDIAN,
          Power64.engine(),
          CodeAddresses.PLAIN,
          Power64.registers(
              List.of(
                  new Registers.Named("r3", UC_PPC_REG_3, 8),
                  new Registers.Named("r4", UC_PPC_REG_4, 8),
                  new Registers.Named("f1", UC_PPC_REG_FPR1, 8),
                  new Registers.Named("f2", UC_PPC_REG_FPR2, 8),
                  new Registers.Named("f3", UC_PPC_REG_FPR3, 8),
                  new Registers.Named("f4", UC_PPC_REG_FPR4, 8),
                  new Registers.Named("f5", UC_PPC_REG_FPR5, 8),
                  new Registers.Named("f6", UC_PPC_REG_FPR6, 8),
                  new Registers.Named("f7", UC_PPC_REG_FPR7, 8),
                  new Registers.Named("f8", UC_PPC_REG_FPR8, 8))),
          (engine, symbols) -> {
            POWER.start(engine);
            symbols.apply(BringUp.ENTRY).ifPresent(entry -> engine.reg_write(UC_PPC_REG_12, entry));
          },
          POWER.power().systemCalls("ppc64le").build(),
          POWER.power().landing(),
          POWER.power().stops(),
          POWER.cards());

  private Ppc64le() {}
}
