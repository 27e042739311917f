package dev.retstack.unicorn;

import java.util.HexFormat;

/**
 * One small program in the machine code of three ISAs. A thousand rounds, each with a branch that
 * goes both ways and a call that returns through the ISA's own means:
 *
 * <pre>{@code
 * r = 0;
 * for (i = 1000; i != 0; i--) { if (i & 1) r += i; else r ^= i; r = 2 * r + 3; }
 * goto stop;
 * }</pre>
 */
enum GuestProgram {
  X86_64(
      UcConst.UC_ARCH_X86,
      UcConst.UC_MODE_64,
      X86Const.UC_X86_REG_RIP,
      X86Const.UC_X86_REG_RSP,
      X86Const.UC_X86_REG_RAX,
      0x25,
      """
      b9 e8 03 00 00    00        mov  $1000,%ecx
      31 c0             05        xor  %eax,%eax
      f6 c1 01          07 round: test $1,%cl
      74 05             0a        je   even
      48 01 c8          0c        add  %rcx,%rax
      eb 03             0f        jmp  call
      48 31 c8          11 even:  xor  %rcx,%rax
      e8 06 00 00 00    14 call:  call step
      ff c9             19        dec  %ecx
      75 ea             1b        jne  round
      eb 06             1d        jmp  stop
      48 8d 44 00 03    1f step:  lea  3(%rax,%rax),%rax
      c3                24        ret
      90                25 stop:  nop
      """),

  AARCH64(
      UcConst.UC_ARCH_ARM64,
      UcConst.UC_MODE_ARM,
      Arm64Const.UC_ARM64_REG_PC,
      Arm64Const.UC_ARM64_REG_SP,
      Arm64Const.UC_ARM64_REG_X0,
      0x34,
      """
      01 7d 80 52       00        mov  w1,#1000
      00 00 80 d2       04        mov  x0,#0
      61 00 00 36       08 round: tbz  w1,#0,even
      00 00 01 8b       0c        add  x0,x0,x1
      02 00 00 14       10        b    call
      00 00 01 ca       14 even:  eor  x0,x0,x1
      04 00 00 94       18 call:  bl   step
      21 04 00 71       1c        subs w1,w1,#1
      41 ff ff 54       20        b.ne round
      04 00 00 14       24        b    stop
      00 00 00 8b       28 step:  add  x0,x0,x0
      00 0c 00 91       2c        add  x0,x0,#3
      c0 03 5f d6       30        ret
      1f 20 03 d5       34 stop:  nop
      """),

  RISCV64(
      UcConst.UC_ARCH_RISCV,
      UcConst.UC_MODE_RISCV64,
      RiscvConst.UC_RISCV_REG_PC,
      RiscvConst.UC_RISCV_REG_SP,
      RiscvConst.UC_RISCV_REG_A0,
      0x38,
      """
      93 05 80 3e       00        li   a1,1000
      13 05 00 00       04        li   a0,0
      93 f2 15 00       08 round: andi t0,a1,1
      63 86 02 00       0c        beqz t0,even
      33 05 b5 00       10        add  a0,a0,a1
      6f 00 80 00       14        j    call
      33 45 b5 00       18 even:  xor  a0,a0,a1
      ef 00 00 01       1c call:  jal  step
      93 85 f5 ff       20        addi a1,a1,-1
      e3 92 05 fe       24        bnez a1,round
      6f 00 00 01       28        j    stop
      33 05 a5 00       2c step:  add  a0,a0,a0
      13 05 35 00       30        addi a0,a0,3
      67 80 00 00       34        ret
      13 00 00 00       38 stop:  nop
      """);

  /** Where the code lies; not at the start of its page, so that no stop address is at one. */
  static final long CODE = 0x10100;

  private static final long CODE_PAGE = 0x10000;
  private static final long STACK_PAGE = 0x20000;
  private static final int PAGE = 0x1000;
  private static final int LISTING_BYTES = 18;

  final int arch;
  final int mode;
  final int pc;
  final int result;
  final long stop;
  final int sp;
  private final String listing;

  GuestProgram(int arch, int mode, int pc, int sp, int result, int stop, String listing) {
    this.arch = arch;
    this.mode = mode;
    this.pc = pc;
    this.sp = sp;
    this.result = result;
    this.stop = CODE + stop;
    this.listing = listing;
  }

  /** Takes the bytes, which are the first column of a listing. */
  static byte[] assemble(String listing) {
    StringBuilder hex = new StringBuilder();
    listing
        .lines()
        .forEach(
            line ->
                hex.append(
                    line.substring(0, Math.min(LISTING_BYTES, line.length())).replace(" ", "")));
    return HexFormat.of().parseHex(hex);
  }

  /** Returns what the program computes, by Java. */
  static long expected() {
    long r = 0;
    for (long i = 1000; i != 0; i--) {
      r = 2 * ((i & 1) != 0 ? r + i : r ^ i) + 3;
    }
    return r;
  }

  /** Opens an engine with the program and a stack in it. */
  Unicorn load() {
    Unicorn uc = Unicorn.open(arch, mode);
    uc.ctl_set_tcg_buffer_size(1 << 20);
    uc.mem_map(CODE_PAGE, PAGE, UcConst.UC_PROT_READ | UcConst.UC_PROT_EXEC);
    uc.mem_map(STACK_PAGE, PAGE, UcConst.UC_PROT_READ | UcConst.UC_PROT_WRITE);
    uc.mem_write(CODE, assemble(listing));
    uc.reg_write(sp, STACK_PAGE + PAGE / 2);
    return uc;
  }
}
