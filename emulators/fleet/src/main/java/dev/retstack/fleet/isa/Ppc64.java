package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.PpcConst.*;

import java.nio.ByteOrder;
import java.util.List;

/**
 * ppc64, big-endian, ELFv1. Source: 64-bit PowerPC ELF Application Binary Interface Supplement 1.9,
 * 3.2 "Function Calling Sequence". Call sites and cards are those of {@link Power64}.
 *
 * <p>The address of a function is that of its descriptor in {@code .opd}: address of the code, TOC
 * for r2, static chain for r11. The loader gives names and the entry point the addresses of code; a
 * program starts with the TOC of its entry point in r2. A caller restores r2 behind a call that may
 * change it, so the way out need not.
 *
 * <p>Results: r3 (r4), f1-f4, memory at r3 for every struct. The way out uses r12 and lr only.
 */
final class Ppc64 {
  private static final Power64 POWER = Power64.of(ByteOrder.BIG_ENDIAN);

  static final Isa ISA =
      new Isa(
          "ppc64",
          21,
          8,
          ByteOrder.BIG_ENDIAN,
          Power64.engine(),
          CodeAddresses.PLAIN,
          Power64.registers(
              List.of(
                  new Registers.Named("r3", UC_PPC_REG_3, 8),
                  new Registers.Named("r4", UC_PPC_REG_4, 8),
                  new Registers.Named("f1", UC_PPC_REG_FPR1, 8),
                  new Registers.Named("f2", UC_PPC_REG_FPR2, 8),
                  new Registers.Named("f3", UC_PPC_REG_FPR3, 8),
                  new Registers.Named("f4", UC_PPC_REG_FPR4, 8))),
          (engine, symbols) -> {
            POWER.start(engine);
            symbols.apply(BringUp.ENTRY_TOC).ifPresent(toc -> engine.reg_write(UC_PPC_REG_2, toc));
          },
          POWER.power().systemCalls("ppc64").build(),
          POWER.power().landing(),
          POWER.power().stops(),
          POWER.cards());

  private Ppc64() {}
}
