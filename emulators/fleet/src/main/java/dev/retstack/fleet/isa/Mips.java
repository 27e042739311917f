package dev.retstack.fleet.isa;

import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.OptionalInt;

/**
 * mips: 32 bits, o32, big-endian. Everything is {@link MipsCode}'s, which says what it is by the
 * psABI.
 */
final class Mips {
  static final Isa ISA =
      new Isa(
          "mips",
          MipsCode.MACHINE,
          4,
          ByteOrder.BIG_ENDIAN,
          new Isa.Engine(
              UcConst.UC_ARCH_MIPS,
              UcConst.UC_MODE_MIPS32 | UcConst.UC_MODE_BIG_ENDIAN,
              OptionalInt.empty(),
              Isa.Leaves.ALWAYS),
          CodeAddresses.PLAIN,
          MipsCode.O32_REGISTERS,
          BringUp.NOTHING,
          MipsCode.o32SystemCalls("mips"),
          MipsCode.landing(ByteOrder.BIG_ENDIAN, 4),
          MipsCode.stops(ByteOrder.BIG_ENDIAN),
          MipsCode.o32(ByteOrder.BIG_ENDIAN));

  private Mips() {}
}
