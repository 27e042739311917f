// Generated from sparc.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** Numbers of {@code sparc.h}: those in use. */
public final class SparcConst {
  // enum uc_sparc_reg
  public static final int UC_SPARC_REG_G1 = 54;
  public static final int UC_SPARC_REG_FP = 67;
  public static final int UC_SPARC_REG_I7 = 68;
  public static final int UC_SPARC_REG_O0 = 78;
  public static final int UC_SPARC_REG_O1 = 79;
  public static final int UC_SPARC_REG_O2 = 80;
  public static final int UC_SPARC_REG_O3 = 81;
  public static final int UC_SPARC_REG_O4 = 82;
  public static final int UC_SPARC_REG_O5 = 83;
  public static final int UC_SPARC_REG_SP = 84;
  public static final int UC_SPARC_REG_O7 = 85;
  public static final int UC_SPARC_REG_PC = 88;
  public static final int UC_SPARC_REG_O6 = 84;
  public static final int UC_SPARC_REG_I6 = 67;

  private SparcConst() {}
}
