package dev.retstack.unicorn;

/** A bare x86-64 engine for tests that need one ISA only: a code page and a data page. */
final class X86 {
  static final long CODE = 0x10000;
  static final long DATA = 0x20000;
  static final long PAGE = 0x1000;

  private X86() {}

  static Unicorn open() {
    Unicorn uc = Unicorn.open(UcConst.UC_ARCH_X86, UcConst.UC_MODE_64);
    uc.ctl_set_tcg_buffer_size(1 << 20);
    return uc;
  }

  /** Opens an engine with code at {@link #CODE} and zeroed data at {@link #DATA}. */
  static Unicorn load(String listing) {
    Unicorn uc = open();
    uc.mem_map(CODE, PAGE, UcConst.UC_PROT_ALL);
    uc.mem_map(DATA, PAGE, UcConst.UC_PROT_READ | UcConst.UC_PROT_WRITE);
    uc.mem_write(CODE, GuestProgram.assemble(listing));
    uc.reg_write(X86Const.UC_X86_REG_RDI, DATA);
    return uc;
  }

  /** Runs the first bytes of the code page. */
  static void run(Unicorn uc, int bytes) {
    uc.emu_start(CODE, CODE + bytes);
  }
}
