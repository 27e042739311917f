package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.MipsConst.*;

import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.OptionalInt;

/**
 * mips64: 64 bits, n64, big-endian. Everything but the start of the core is {@link MipsCode}'s,
 * which says what it is by the psABI. Unicorn's default model knows no 64-bit addresses.
 */
final class Mips64 {
  /** Status.FR: 32 registers of 64 bits for floating point, as n64 asks. */
  private static final long STATUS_FR = 0x0400_0000;

  static final Isa ISA =
      new Isa(
          "mips64",
          MipsCode.MACHINE,
          8,
          ByteOrder.BIG_ENDIAN,
          new Isa.Engine(
              UcConst.UC_ARCH_MIPS,
              UcConst.UC_MODE_MIPS64 | UcConst.UC_MODE_BIG_ENDIAN,
              OptionalInt.of(UC_CPU_MIPS64_MIPS64R2_GENERIC),
              Isa.Leaves.ALWAYS),
          CodeAddresses.PLAIN,
          MipsCode.N64_REGISTERS,
          (engine, symbols) ->
              engine.reg_write(
                  UC_MIPS_REG_CP0_STATUS, engine.reg_read(UC_MIPS_REG_CP0_STATUS) | STATUS_FR),
          MipsCode.n64SystemCalls(),
          MipsCode.landing(ByteOrder.BIG_ENDIAN, 8),
          MipsCode.stops(ByteOrder.BIG_ENDIAN),
          MipsCode.n64(ByteOrder.BIG_ENDIAN));

  private Mips64() {}
}
