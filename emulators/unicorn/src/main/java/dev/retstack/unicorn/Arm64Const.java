// Generated from arm64.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** Numbers of {@code arm64.h}: those in use. */
public final class Arm64Const {
  // enum uc_arm64_reg
  public static final int UC_ARM64_REG_X29 = 1;
  public static final int UC_ARM64_REG_X30 = 2;
  public static final int UC_ARM64_REG_NZCV = 3;
  public static final int UC_ARM64_REG_SP = 4;
  public static final int UC_ARM64_REG_X0 = 199;
  public static final int UC_ARM64_REG_X1 = 200;
  public static final int UC_ARM64_REG_X2 = 201;
  public static final int UC_ARM64_REG_X3 = 202;
  public static final int UC_ARM64_REG_X4 = 203;
  public static final int UC_ARM64_REG_X5 = 204;
  public static final int UC_ARM64_REG_X6 = 205;
  public static final int UC_ARM64_REG_X7 = 206;
  public static final int UC_ARM64_REG_X8 = 207;
  public static final int UC_ARM64_REG_X28 = 227;
  public static final int UC_ARM64_REG_V0 = 228;
  public static final int UC_ARM64_REG_V1 = 229;
  public static final int UC_ARM64_REG_V2 = 230;
  public static final int UC_ARM64_REG_V3 = 231;
  public static final int UC_ARM64_REG_V7 = 235;
  public static final int UC_ARM64_REG_PC = 260;
  public static final int UC_ARM64_REG_TPIDR_EL0 = 262;
  public static final int UC_ARM64_REG_FPCR = 291;
  public static final int UC_ARM64_REG_FPSR = 292;
  public static final int UC_ARM64_REG_FP = 1;
  public static final int UC_ARM64_REG_LR = 2;

  private Arm64Const() {}
}
