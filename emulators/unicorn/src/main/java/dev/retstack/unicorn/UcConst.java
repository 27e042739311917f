// Generated from unicorn.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** Numbers of {@code unicorn.h}: those in use. */
public final class UcConst {
  // enum uc_arch
  public static final int UC_ARCH_ARM = 1;
  public static final int UC_ARCH_ARM64 = 2;
  public static final int UC_ARCH_MIPS = 3;
  public static final int UC_ARCH_X86 = 4;
  public static final int UC_ARCH_PPC = 5;
  public static final int UC_ARCH_SPARC = 6;
  public static final int UC_ARCH_M68K = 7;
  public static final int UC_ARCH_RISCV = 8;
  public static final int UC_ARCH_S390X = 9;

  // enum uc_mode
  public static final int UC_MODE_LITTLE_ENDIAN = 0;
  public static final int UC_MODE_BIG_ENDIAN = 1073741824;
  public static final int UC_MODE_ARM = 0;
  public static final int UC_MODE_THUMB = 16;
  public static final int UC_MODE_MIPS32 = 4;
  public static final int UC_MODE_MIPS64 = 8;
  public static final int UC_MODE_32 = 4;
  public static final int UC_MODE_64 = 8;
  public static final int UC_MODE_PPC32 = 4;
  public static final int UC_MODE_PPC64 = 8;
  public static final int UC_MODE_SPARC32 = 4;
  public static final int UC_MODE_RISCV32 = 4;
  public static final int UC_MODE_RISCV64 = 8;

  // enum uc_err
  public static final int UC_ERR_OK = 0;
  public static final int UC_ERR_HOOK_EXIST = 19;
  public static final int UC_ERR_OVERFLOW = 22;

  // enum uc_prot
  public static final int UC_PROT_READ = 1;
  public static final int UC_PROT_WRITE = 2;
  public static final int UC_PROT_EXEC = 4;
  public static final int UC_PROT_ALL = 7;

  // enum uc_mem_type
  public static final int UC_MEM_READ = 16;
  public static final int UC_MEM_WRITE = 17;
  public static final int UC_MEM_FETCH = 18;
  public static final int UC_MEM_READ_UNMAPPED = 19;
  public static final int UC_MEM_WRITE_UNMAPPED = 20;
  public static final int UC_MEM_WRITE_PROT = 22;
  public static final int UC_MEM_READ_PROT = 23;

  // enum uc_hook_type
  public static final int UC_HOOK_INTR = 1;
  public static final int UC_HOOK_INSN = 2;
  public static final int UC_HOOK_CODE = 4;
  public static final int UC_HOOK_BLOCK = 8;
  public static final int UC_HOOK_MEM_READ = 1024;
  public static final int UC_HOOK_MEM_WRITE = 2048;
  public static final int UC_HOOK_MEM_READ_AFTER = 8192;
  public static final int UC_HOOK_INSN_INVALID = 16384;
  public static final int UC_HOOK_TLB_FILL = 131072;

  // macros
  public static final int UC_HOOK_MEM_INVALID = 1008;
  public static final int UC_HOOK_MEM_VALID = 7168;

  // enum uc_query_type
  public static final int UC_QUERY_MODE = 1;
  public static final int UC_QUERY_PAGE_SIZE = 2;
  public static final int UC_QUERY_ARCH = 3;

  // macros
  public static final int UC_CTL_IO_WRITE = 1;
  public static final int UC_CTL_IO_READ = 2;
  public static final int UC_CTL_IO_READ_WRITE = 3;

  // enum uc_tlb_type
  public static final int UC_TLB_CPU = 0;
  public static final int UC_TLB_VIRTUAL = 1;

  // enum uc_control_type
  public static final int UC_CTL_UC_PAGE_SIZE = 1;
  public static final int UC_CTL_UC_USE_EXITS = 4;
  public static final int UC_CTL_UC_EXITS = 6;
  public static final int UC_CTL_CPU_MODEL = 7;
  public static final int UC_CTL_TB_REQUEST_CACHE = 8;
  public static final int UC_CTL_TB_REMOVE_CACHE = 9;
  public static final int UC_CTL_TB_FLUSH = 10;
  public static final int UC_CTL_TLB_FLUSH = 11;
  public static final int UC_CTL_TLB_TYPE = 12;
  public static final int UC_CTL_TCG_BUFFER_SIZE = 13;

  private UcConst() {}
}
