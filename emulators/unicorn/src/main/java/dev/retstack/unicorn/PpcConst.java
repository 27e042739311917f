// Generated from ppc.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** Numbers of {@code ppc.h}: those in use. */
public final class PpcConst {
  // enum uc_ppc_reg
  public static final int UC_PPC_REG_PC = 1;
  public static final int UC_PPC_REG_0 = 2;
  public static final int UC_PPC_REG_1 = 3;
  public static final int UC_PPC_REG_2 = 4;
  public static final int UC_PPC_REG_3 = 5;
  public static final int UC_PPC_REG_4 = 6;
  public static final int UC_PPC_REG_5 = 7;
  public static final int UC_PPC_REG_6 = 8;
  public static final int UC_PPC_REG_7 = 9;
  public static final int UC_PPC_REG_8 = 10;
  public static final int UC_PPC_REG_9 = 11;
  public static final int UC_PPC_REG_10 = 12;
  public static final int UC_PPC_REG_11 = 13;
  public static final int UC_PPC_REG_12 = 14;
  public static final int UC_PPC_REG_13 = 15;
  public static final int UC_PPC_REG_31 = 33;
  public static final int UC_PPC_REG_CR0 = 34;
  public static final int UC_PPC_REG_FPR0 = 42;
  public static final int UC_PPC_REG_FPR1 = 43;
  public static final int UC_PPC_REG_FPR31 = 73;
  public static final int UC_PPC_REG_LR = 74;
  public static final int UC_PPC_REG_XER = 75;
  public static final int UC_PPC_REG_CTR = 76;
  public static final int UC_PPC_REG_MSR = 77;
  public static final int UC_PPC_REG_FPSCR = 78;
  public static final int UC_PPC_REG_CR = 79;

  private PpcConst() {}
}
