// Generated from arm.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** Numbers of {@code arm.h}: those in use. */
public final class ArmConst {
  // enum uc_cpu_arm
  public static final int UC_CPU_ARM_CORTEX_A15 = 17;

  // enum uc_arm_reg
  public static final int UC_ARM_REG_CPSR = 3;
  public static final int UC_ARM_REG_FPEXC = 4;
  public static final int UC_ARM_REG_FPSCR = 6;
  public static final int UC_ARM_REG_LR = 10;
  public static final int UC_ARM_REG_PC = 11;
  public static final int UC_ARM_REG_SP = 12;
  public static final int UC_ARM_REG_D0 = 14;
  public static final int UC_ARM_REG_D1 = 15;
  public static final int UC_ARM_REG_D2 = 16;
  public static final int UC_ARM_REG_D3 = 17;
  public static final int UC_ARM_REG_D4 = 18;
  public static final int UC_ARM_REG_D5 = 19;
  public static final int UC_ARM_REG_D6 = 20;
  public static final int UC_ARM_REG_D7 = 21;
  public static final int UC_ARM_REG_D31 = 45;
  public static final int UC_ARM_REG_R0 = 66;
  public static final int UC_ARM_REG_R1 = 67;
  public static final int UC_ARM_REG_R2 = 68;
  public static final int UC_ARM_REG_R3 = 69;
  public static final int UC_ARM_REG_R4 = 70;
  public static final int UC_ARM_REG_R5 = 71;
  public static final int UC_ARM_REG_R7 = 73;
  public static final int UC_ARM_REG_R11 = 77;
  public static final int UC_ARM_REG_R12 = 78;
  public static final int UC_ARM_REG_C1_C0_2 = 111;
  public static final int UC_ARM_REG_C13_C0_3 = 113;
  public static final int UC_ARM_REG_R13 = 12;
  public static final int UC_ARM_REG_R14 = 10;
  public static final int UC_ARM_REG_R15 = 11;
  public static final int UC_ARM_REG_FP = 77;
  public static final int UC_ARM_REG_IP = 78;

  private ArmConst() {}
}
