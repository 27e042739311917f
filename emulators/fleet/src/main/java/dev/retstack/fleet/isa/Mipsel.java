package dev.retstack.fleet.isa;

import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.OptionalInt;

/**
 * mipsel: 32 bits, o32, little-endian. Everything is {@link MipsCode}'s, which says what it is by
 * the psABI.
 */
final class Mipsel {
  static final Isa ISA =
      new Isa(
          "mipsel",
          MipsCode.MACHINE,
          4,
          ByteOrder.LITTLE_ENDIAN,
          new Isa.Engine(
              UcConst.UC_ARCH_MIPS,
              UcConst.UC_MODE_MIPS32 | UcConst.UC_MODE_LITTLE_ENDIAN,
              OptionalInt.empty(),
              Isa.Leaves.ALWAYS),
          CodeAddresses.PLAIN,
          MipsCode.O32_REGISTERS,
          BringUp.NOTHING,
          MipsCode.o32SystemCalls("mips"),
          MipsCode.landing(ByteOrder.LITTLE_ENDIAN, 4),
          MipsCode.stops(ByteOrder.LITTLE_ENDIAN),
          MipsCode.o32(ByteOrder.LITTLE_ENDIAN));

  private Mipsel() {}
}
