// Generated from m68k.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** Numbers of {@code m68k.h}: those in use. */
public final class M68kConst {
  // enum uc_cpu_m68k
  public static final int UC_CPU_M68K_M68030 = 3;
  public static final int UC_CPU_M68K_M68040 = 4;

  // enum uc_m68k_reg
  public static final int UC_M68K_REG_A0 = 1;
  public static final int UC_M68K_REG_A6 = 7;
  public static final int UC_M68K_REG_A7 = 8;
  public static final int UC_M68K_REG_D0 = 9;
  public static final int UC_M68K_REG_D1 = 10;
  public static final int UC_M68K_REG_D2 = 11;
  public static final int UC_M68K_REG_D3 = 12;
  public static final int UC_M68K_REG_D4 = 13;
  public static final int UC_M68K_REG_D5 = 14;
  public static final int UC_M68K_REG_D7 = 16;
  public static final int UC_M68K_REG_SR = 17;
  public static final int UC_M68K_REG_PC = 18;

  private M68kConst() {}
}
