// Generated from s390x.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** Numbers of {@code s390x.h}: those in use. */
public final class S390xConst {
  // enum uc_s390x_reg
  public static final int UC_S390X_REG_R0 = 1;
  public static final int UC_S390X_REG_R1 = 2;
  public static final int UC_S390X_REG_R2 = 3;
  public static final int UC_S390X_REG_R3 = 4;
  public static final int UC_S390X_REG_R4 = 5;
  public static final int UC_S390X_REG_R5 = 6;
  public static final int UC_S390X_REG_R6 = 7;
  public static final int UC_S390X_REG_R7 = 8;
  public static final int UC_S390X_REG_R11 = 12;
  public static final int UC_S390X_REG_R14 = 15;
  public static final int UC_S390X_REG_R15 = 16;
  public static final int UC_S390X_REG_F0 = 17;
  public static final int UC_S390X_REG_F16 = 33;
  public static final int UC_S390X_REG_A0 = 49;
  public static final int UC_S390X_REG_A1 = 50;
  public static final int UC_S390X_REG_PC = 65;
  public static final int UC_S390X_REG_PSWM = 66;
  public static final int UC_S390X_REG_F0_HI = 67;
  public static final int UC_S390X_REG_F16_HI = 83;
  public static final int UC_S390X_REG_FPC = 99;
  public static final int UC_S390X_REG_CR0 = 100;

  private S390xConst() {}
}
