// Generated from riscv.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** Numbers of {@code riscv.h}: those in use. */
public final class RiscvConst {
  // enum uc_riscv_reg
  public static final int UC_RISCV_REG_X1 = 2;
  public static final int UC_RISCV_REG_X2 = 3;
  public static final int UC_RISCV_REG_X3 = 4;
  public static final int UC_RISCV_REG_X4 = 5;
  public static final int UC_RISCV_REG_X8 = 9;
  public static final int UC_RISCV_REG_X10 = 11;
  public static final int UC_RISCV_REG_X11 = 12;
  public static final int UC_RISCV_REG_X12 = 13;
  public static final int UC_RISCV_REG_X13 = 14;
  public static final int UC_RISCV_REG_X14 = 15;
  public static final int UC_RISCV_REG_X15 = 16;
  public static final int UC_RISCV_REG_X16 = 17;
  public static final int UC_RISCV_REG_X17 = 18;
  public static final int UC_RISCV_REG_X31 = 32;
  public static final int UC_RISCV_REG_FCSR = 43;
  public static final int UC_RISCV_REG_MSTATUS = 116;
  public static final int UC_RISCV_REG_F0 = 158;
  public static final int UC_RISCV_REG_F10 = 168;
  public static final int UC_RISCV_REG_F11 = 169;
  public static final int UC_RISCV_REG_F31 = 189;
  public static final int UC_RISCV_REG_PC = 190;
  public static final int UC_RISCV_REG_RA = 2;
  public static final int UC_RISCV_REG_SP = 3;
  public static final int UC_RISCV_REG_GP = 4;
  public static final int UC_RISCV_REG_TP = 5;
  public static final int UC_RISCV_REG_S0 = 9;
  public static final int UC_RISCV_REG_FP = 9;
  public static final int UC_RISCV_REG_A0 = 11;
  public static final int UC_RISCV_REG_A1 = 12;
  public static final int UC_RISCV_REG_A2 = 13;
  public static final int UC_RISCV_REG_A3 = 14;
  public static final int UC_RISCV_REG_A4 = 15;
  public static final int UC_RISCV_REG_A5 = 16;
  public static final int UC_RISCV_REG_A6 = 17;
  public static final int UC_RISCV_REG_A7 = 18;
  public static final int UC_RISCV_REG_T6 = 32;
  public static final int UC_RISCV_REG_FT0 = 158;
  public static final int UC_RISCV_REG_FA0 = 168;
  public static final int UC_RISCV_REG_FA1 = 169;
  public static final int UC_RISCV_REG_FT11 = 189;

  private RiscvConst() {}
}
