// Generated from x86.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** Numbers of {@code x86.h}: those in use. */
public final class X86Const {
  // enum uc_x86_reg
  public static final int UC_X86_REG_AL = 2;
  public static final int UC_X86_REG_CS = 11;
  public static final int UC_X86_REG_DS = 17;
  public static final int UC_X86_REG_EAX = 19;
  public static final int UC_X86_REG_EBP = 20;
  public static final int UC_X86_REG_EBX = 21;
  public static final int UC_X86_REG_ECX = 22;
  public static final int UC_X86_REG_EDI = 23;
  public static final int UC_X86_REG_EDX = 24;
  public static final int UC_X86_REG_EFLAGS = 25;
  public static final int UC_X86_REG_EIP = 26;
  public static final int UC_X86_REG_ES = 28;
  public static final int UC_X86_REG_ESI = 29;
  public static final int UC_X86_REG_ESP = 30;
  public static final int UC_X86_REG_FPSW = 31;
  public static final int UC_X86_REG_FS = 32;
  public static final int UC_X86_REG_GS = 33;
  public static final int UC_X86_REG_RAX = 35;
  public static final int UC_X86_REG_RBP = 36;
  public static final int UC_X86_REG_RBX = 37;
  public static final int UC_X86_REG_RCX = 38;
  public static final int UC_X86_REG_RDI = 39;
  public static final int UC_X86_REG_RDX = 40;
  public static final int UC_X86_REG_RIP = 41;
  public static final int UC_X86_REG_RSI = 43;
  public static final int UC_X86_REG_RSP = 44;
  public static final int UC_X86_REG_SS = 49;
  public static final int UC_X86_REG_FP0 = 82;
  public static final int UC_X86_REG_R8 = 106;
  public static final int UC_X86_REG_R9 = 107;
  public static final int UC_X86_REG_R10 = 108;
  public static final int UC_X86_REG_R11 = 109;
  public static final int UC_X86_REG_R12 = 110;
  public static final int UC_X86_REG_R13 = 111;
  public static final int UC_X86_REG_R14 = 112;
  public static final int UC_X86_REG_R15 = 113;
  public static final int UC_X86_REG_ST0 = 114;
  public static final int UC_X86_REG_ST1 = 115;
  public static final int UC_X86_REG_XMM0 = 122;
  public static final int UC_X86_REG_XMM1 = 123;
  public static final int UC_X86_REG_XMM3 = 125;
  public static final int UC_X86_REG_YMM5 = 159;
  public static final int UC_X86_REG_GDTR = 243;
  public static final int UC_X86_REG_FPCW = 246;
  public static final int UC_X86_REG_FPTAG = 247;
  public static final int UC_X86_REG_MXCSR = 249;
  public static final int UC_X86_REG_FS_BASE = 250;
  public static final int UC_X86_REG_RFLAGS = 253;

  // enum uc_x86_insn
  public static final int UC_X86_INS_IN = 218;
  public static final int UC_X86_INS_OUT = 500;
  public static final int UC_X86_INS_SYSCALL = 699;
  public static final int UC_X86_INS_SYSENTER = 700;

  private X86Const() {}
}
