package dev.retstack.fleet.isa;

import dev.retstack.unicorn.UcConst;

/** riscv32: registers of 4 bytes. What it does at a call is {@link RiscvIsa}'s. */
final class Riscv32 {
  static final Isa ISA =
      RiscvIsa.of(
          "riscv32", 4, UcConst.UC_MODE_RISCV32, Riscv.calls32(), SyscallAbi.Numbers.GENERIC_32);

  private Riscv32() {}
}
