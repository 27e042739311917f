package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RegisterNamesTest {
  @Test
  void aRegisterHasTheNameOfItsAbi() {
    assertThat(RegisterNames.of(UcConst.UC_ARCH_X86, X86Const.UC_X86_REG_RSP)).isEqualTo("rsp");
    assertThat(RegisterNames.of(UcConst.UC_ARCH_RISCV, RiscvConst.UC_RISCV_REG_X1)).isEqualTo("ra");
    assertThat(RegisterNames.of(UcConst.UC_ARCH_RISCV, RiscvConst.UC_RISCV_REG_X10))
        .isEqualTo("a0");
    assertThat(RegisterNames.of(UcConst.UC_ARCH_ARM, ArmConst.UC_ARM_REG_R13)).isEqualTo("sp");
    assertThat(RegisterNames.of(UcConst.UC_ARCH_PPC, PpcConst.UC_PPC_REG_1)).isEqualTo("r1");
    assertThat(RegisterNames.of(UcConst.UC_ARCH_S390X, S390xConst.UC_S390X_REG_R14))
        .isEqualTo("r14");
  }

  @Test
  void whatHasNoNameIsANumber() {
    assertThat(RegisterNames.of(UcConst.UC_ARCH_X86, 99_999)).isEqualTo("register 99999");
  }
}
