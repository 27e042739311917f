package dev.retstack.fleet.isa;

import dev.retstack.unicorn.UcConst;

/** riscv64: registers of 8 bytes. What it does at a call is {@link RiscvIsa}'s. */
final class Riscv64 {
  static final Isa ISA =
      RiscvIsa.of(
          "riscv64", 8, UcConst.UC_MODE_RISCV64, Riscv.calls64(), SyscallAbi.Numbers.GENERIC);

  private Riscv64() {}
}
