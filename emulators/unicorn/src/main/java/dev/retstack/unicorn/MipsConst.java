// Generated from mips.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** Numbers of {@code mips.h}: those in use. */
public final class MipsConst {
  // enum uc_cpu_mips64
  public static final int UC_CPU_MIPS64_MIPS64R2_GENERIC = 5;

  // enum uc_mips_reg
  public static final int UC_MIPS_REG_PC = 1;
  public static final int UC_MIPS_REG_1 = 3;
  public static final int UC_MIPS_REG_2 = 4;
  public static final int UC_MIPS_REG_3 = 5;
  public static final int UC_MIPS_REG_4 = 6;
  public static final int UC_MIPS_REG_5 = 7;
  public static final int UC_MIPS_REG_6 = 8;
  public static final int UC_MIPS_REG_7 = 9;
  public static final int UC_MIPS_REG_8 = 10;
  public static final int UC_MIPS_REG_9 = 11;
  public static final int UC_MIPS_REG_12 = 14;
  public static final int UC_MIPS_REG_13 = 15;
  public static final int UC_MIPS_REG_25 = 27;
  public static final int UC_MIPS_REG_29 = 31;
  public static final int UC_MIPS_REG_30 = 32;
  public static final int UC_MIPS_REG_31 = 33;
  public static final int UC_MIPS_REG_F0 = 57;
  public static final int UC_MIPS_REG_F1 = 58;
  public static final int UC_MIPS_REG_F2 = 59;
  public static final int UC_MIPS_REG_F31 = 88;
  public static final int UC_MIPS_REG_CP0_USERLOCAL = 138;
  public static final int UC_MIPS_REG_CP0_STATUS = 139;
  public static final int UC_MIPS_REG_AT = 3;
  public static final int UC_MIPS_REG_V0 = 4;
  public static final int UC_MIPS_REG_V1 = 5;
  public static final int UC_MIPS_REG_A0 = 6;
  public static final int UC_MIPS_REG_A1 = 7;
  public static final int UC_MIPS_REG_A2 = 8;
  public static final int UC_MIPS_REG_A3 = 9;
  public static final int UC_MIPS_REG_T0 = 10;
  public static final int UC_MIPS_REG_T1 = 11;
  public static final int UC_MIPS_REG_T4 = 14;
  public static final int UC_MIPS_REG_T5 = 15;
  public static final int UC_MIPS_REG_T9 = 27;
  public static final int UC_MIPS_REG_SP = 31;
  public static final int UC_MIPS_REG_FP = 32;
  public static final int UC_MIPS_REG_S8 = 32;
  public static final int UC_MIPS_REG_RA = 33;

  private MipsConst() {}
}
