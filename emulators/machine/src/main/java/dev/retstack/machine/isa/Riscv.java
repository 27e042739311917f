package dev.retstack.machine.isa;

import static dev.retstack.unicorn.RiscvConst.*;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.AbiCard.Moment;
import dev.retstack.machine.isa.call.AbiCard.SiteTable;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.Encoding;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Prologue;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.isa.call.SiteFacts.Where;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.isa.call.StackWalk;
import dev.retstack.machine.isa.call.StackWalk.Form;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.isa.system.BringUp;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.isa.system.ElfAbi;
import dev.retstack.machine.isa.system.ElfAbi.ForeignAbi;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.isa.system.StatLayout;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * RISC-V: riscv64 and riscv32, little-endian. Source: RISC-V ELF psABI, "Integer Calling
 * Convention", "Frame Pointer Convention" (the return address a word below s0, the caller's frame
 * pointer two words below). Drawn for words of 8 bytes; riscv32 has sw, lw, -4(s0) and -8(s0).
 *
 * <pre>
 *   -pg -fno-omit-frame-pointer          -pg                              -fpatchable-function-entry=4
 *
 *   f: addi sp, sp, -n                   f: addi sp, sp, -n               f: nop x 4   selfpc
 *      sd   ra, n-8(sp)                     sd   ra, k(sp)                   addi sp, sp, -n
 *      sd   s0, n-16(sp)                    mv   a0, ra                      ...
 *      addi s0, sp, n                       call _mcount   selfpc            ret
 *      mv   a0, ra                          ...
 *      call _mcount   selfpc                ld   ra, k(sp)
 *      ...                                  addi sp, sp, n
 *      ld   ra, n-8(sp); ld s0, n-16(sp)    ret
 *      addi sp, sp, n
 *      ret
 *
 *   in _mcount                           in _mcount                       at the nops
 *   ra       selfpc + the call           ra       selfpc + the call       ra  frompc
 *   -8(s0)   frompc; retp = s0 - 8       k(sp)    frompc                  sp  retp
 *   -16(s0)  caller's frame pointer      a0       frompc once more        s0  caller's frame pointer
 *   a0       frompc once more; clang does not load it
 *
 * in return_to_handler: s0 is the caller's again, or what it keeps there; sp is what it was at the
 * call
 * </pre>
 *
 * A call is {@code auipc+jalr} (8 bytes) as compiled, which a linker relaxes to {@code jal} (4), on
 * riscv32 also to {@code c.jal} (2).
 *
 * <p>The prologue shows k, whether s0 becomes a frame pointer (gcc makes one for an alloca in any
 * case), and the sp of the call, which is retp where there is none and again at exit. A frame
 * pointer makes the slot retp; a variadic function keeps it below its register arguments, so sp at
 * exit does not predict it.
 *
 * <p>Results: a0 a1, fa0 fa1. The way out uses t0 and ra only, which a return leaves to anyone.
 * Encodings: The RISC-V Instruction Set Manual, Volume I, "RV32/64G Instruction Set Listings" and
 * "C" Standard Extension.
 */
final class Riscv {
  /** {@code auipc rs, hi; jalr ra, lo(rs)}: as compiled, and where a linker may not relax. */
  private static final CallForm FAR =
      CallForm.bits(
              "auipc+jalr", 8, 0x0000_00e7_0000_0017L, 0x0000_7fff_0000_007fL, Riscv::farTarget)
          .skippedBy(".. .. .. .. 6f 00 40 00");

  /** {@code jal ra, to}: what a linker relaxes it to. */
  private static final CallForm NEAR =
      CallForm.bits("jal", 4, 0x0000_00efL, 0x0000_0fffL, Riscv::nearTarget)
          .skippedBy("6f 00 40 00");

  /** {@code c.jal to}, RV32 only: the same bits are c.addiw on RV64. */
  private static final CallForm COMPRESSED =
      CallForm.bits("c.jal", 2, 0x2001, 0xe003, Riscv::compressedTarget).skippedBy("09 a0");

  /** R_RISCV_CALL, CALL_PLT; where a linker has relaxed them JAL, RVC_JUMP. */
  private static final int[] CALL_RELOCATIONS = {18, 19, 17, 45};

  /** e_flags: "RISC-V ELF psABI", File Header. */
  private static final int RVE = 0x8;

  private static final ElfAbi ELF =
      ElfAbi.plain(
          243,
          "riscv%d",
          ForeignAbi.byFlags(4, RVE, RVE, "rv32e", "compile with -mabi=ilp32"),
          ForeignAbi.byFlags(8, RVE, RVE, "rv64e", "compile with -mabi=lp64"));

  /** {@code mv rd, s0} where s0 points at the frame: those of a walk along frames. */
  private static final ReturnReads FRAME_READS =
      ReturnReads.byForms(
              Riscv::length,
              new ReturnReads.Form(0x8022, 0xf07f, 7, 31, 0b101, ReturnReads.Kind.ALL),
              new ReturnReads.Form(0x0004_0013L, 0xffff_f07fL, 7, 31, 0b101, ReturnReads.Kind.ALL))
          .where(Riscv::pointsAtFrame);

  /** Calls of riscv32. */
  static final CallForm[] CALLS_32 = {FAR, NEAR, COMPRESSED};

  static final Isa RISCV64 =
      isa("riscv64", 8, UcConst.UC_MODE_RISCV64, new CallForm[] {FAR, NEAR}, "generic");

  static final Isa RISCV32 = isa("riscv32", 4, UcConst.UC_MODE_RISCV32, CALLS_32, "generic_32");

  private Riscv() {}

  /** RISC-V psABI, "Procedure Linkage Table": {@code auipc t3, slot; l[d|w] t3, slot(t3)}. */
  private static OptionalLong importSlot(Code code, long address, long got) {
    int auipc = (int) code.at(address);
    int load = (int) code.at(address + 4);
    boolean loads = (load & 0xfffff) == 0xe_3e03 || (load & 0xfffff) == 0xe_2e03;
    return (auipc & 0xfff) == 0xe17 && loads
        ? OptionalLong.of(address + (auipc & 0xffff_f000) + (load >> 20))
        : OptionalLong.empty();
  }

  /**
   * @param name of the ISA, and what the kernel calls the platform
   * @param word bytes of a register: 8 or 4
   * @param mode of the engine
   * @param calls forms that call {@code _mcount}
   * @param table of numbers of system calls
   */
  private static Isa isa(String name, int word, int mode, CallForm[] calls, String table) {
    return new Isa(
        name,
        ELF,
        word,
        ByteOrder.LITTLE_ENDIAN,
        new Isa.Engine(UcConst.UC_ARCH_RISCV, mode, OptionalInt.empty()),
        CodeAddresses.PLAIN,
        registers(),
        bringUp(),
        SyscallAbi.onInterrupt(8) // ecall
            .number(table, UC_RISCV_REG_A7)
            .arguments(
                UC_RISCV_REG_A0,
                UC_RISCV_REG_A1,
                UC_RISCV_REG_A2,
                UC_RISCV_REG_A3,
                UC_RISCV_REG_A4,
                UC_RISCV_REG_A5)
            .result(UC_RISCV_REG_A0)
            .stat(StatLayout.GENERIC)
            .platform(name)
            .dynamic(
                DynamicAbi.of(
                    name + "-linux-gnu",
                    "libc6-" + name + "-cross",
                    "67 80 00 00",
                    Riscv::importSlot))
            .threads(SyscallAbi.CloneAbi.backwards(UC_RISCV_REG_TP))
            .signals(word == Long.BYTES ? signals() : SignalAbi.NONE)
            .build(),
        InterruptAbi.plain(0, 0, 16, UC_RISCV_REG_A0, UC_RISCV_REG_A1, UC_RISCV_REG_A2),
        landing(word),
        stops(),
        List.of(
            mcount(word, calls),
            mcountWithoutFrame(word, calls),
            clangMcount(word, calls),
            patchable(word)));
  }

  /**
   * {@code asm/sigcontext.h}, {@code asm/ucontext.h}:
   *
   * <pre>
   *   0   siginfo    128  ucontext, with mcontext at 176: pc, x1 to x31, f0 to f31, fcsr
   * </pre>
   */
  private static SignalAbi signals() {
    return new SignalAbi.Layout(1088, 0, 0, 0, 128)
        .trampoline(4, Encoding.littleEndian(0x08b0_0893, 0x0000_0073)) // li a7, 139; ecall
        .withoutRestorer()
        .stackAndMask(16, 40)
        .registers(176, 8, 8, UC_RISCV_REG_PC)
        .registers(184, 8, 8, IntStream.rangeClosed(UC_RISCV_REG_X1, UC_RISCV_REG_X31).toArray())
        .registers(432, 8, 8, IntStream.rangeClosed(UC_RISCV_REG_F0, UC_RISCV_REG_F31).toArray())
        .registers(688, 4, 4, UC_RISCV_REG_FCSR)
        .faults(
            Map.of(
                2, new SignalAbi.Fault(SignalAbi.SIGILL, 1),
                3, new SignalAbi.Fault(SignalAbi.SIGTRAP, SignalAbi.TRAP_BRKPT),
                4, new SignalAbi.Fault(SignalAbi.SIGBUS, SignalAbi.BUS_ADRALN),
                6, new SignalAbi.Fault(SignalAbi.SIGBUS, SignalAbi.BUS_ADRALN)))
        .breakpoints("73001000", "0290") // ebreak, c.ebreak
        .late("731000c0") // unimp
        .build();
  }

  private static ReturnReads reads(int word) {
    return FRAME_READS.and(new RiscvLink(word).reads());
  }

  /** {@code addi s0, sp, n} or {@code c.addi4spn s0, n}, where sp went down by as much. */
  private static boolean pointsAtFrame(Code code, long function, long end) {
    long down = 0;
    for (long at = function; at - end < 0; at += length(code.at(at))) {
      long there = code.at(at);
      if ((there & 0x000f_ffffL) == 0x0001_0113L) {
        down -= immediateI(there);
      } else if ((there & 0xef83) == 0x0101) {
        down -= immediateCi(there);
      } else if ((there & 0xef83) == 0x6101) {
        down -= immediate16sp(there);
      } else if ((there & 0x000f_ffffL) == 0x0001_0413L) {
        return immediateI(there) == down;
      } else if ((there & 0xe01f) == 0 && (there & 0x1fe0) != 0) {
        return immediate4spn(there) == down;
      }
    }
    return false;
  }

  private static AbiCard mcount(int word, CallForm[] calls) {
    return framed("mcount", "-pg -fno-omit-frame-pointer", word, calls)
        .prologue(
            calledByGcc(
                prologue(word)
                    .accepting(f -> f.keepsFrame() || f.where() != Where.SAVED)
                    .byFrame()))
        .parent(Operand.register(UC_RISCV_REG_A0))
        .build();
  }

  private static AbiCard clangMcount(int word, CallForm[] calls) {
    return framed("clang-mcount", "-pg, by clang", word, calls)
        .prologue(calledByClang(prologue(word).byFrame()))
        .build();
  }

  private static AbiCard.Builder framed(String name, String flags, int word, CallForm[] calls) {
    return counting(name, flags, word, calls)
        .slot(Operand.sum(UC_RISCV_REG_S0, -word))
        .fpMustAgree(Operand.word(UC_RISCV_REG_S0, -2L * word), Operand.register(UC_RISCV_REG_S0))
        .slotFromFp(-word);
  }

  private static AbiCard mcountWithoutFrame(int word, CallForm[] calls) {
    return counting("mcount-nofp", "-pg", word, calls)
        .prologue(
            calledByGcc(prologue(word).accepting(f -> !f.keepsFrame() && f.where() == Where.SAVED)))
        .parent(Operand.register(UC_RISCV_REG_A0))
        .slots(
            Slot.saved(Operand.register(UC_RISCV_REG_SP))
                .retpByFrame(Operand.register(UC_RISCV_REG_SP)))
        .retpAtExit(Operand.register(UC_RISCV_REG_SP))
        .build();
  }

  /** What all ways to call {@code _mcount} have in common. */
  private static AbiCard.Builder counting(String name, String flags, int word, CallForm[] calls) {
    return AbiCard.named(name)
        .flags(flags)
        .moment(Moment.AFTER_PROLOGUE)
        .symbols("_mcount", "mcount")
        .callForms(calls)
        .callRelocations(0, CALL_RELOCATIONS)
        .nop("13 00 00 00", "01 00")
        .entryStub("82 80") // no longer than the least that a program may have
        .reads(reads(word))
        .returnAddress(Operand.register(UC_RISCV_REG_RA));
  }

  private static AbiCard patchable(int word) {
    return AbiCard.named("patchable")
        .flags("-fpatchable-function-entry=4")
        .moment(Moment.BEFORE_PROLOGUE)
        .arguments(
            UC_RISCV_REG_A0,
            UC_RISCV_REG_A1,
            UC_RISCV_REG_A2,
            UC_RISCV_REG_A3,
            UC_RISCV_REG_A4,
            UC_RISCV_REG_A5,
            UC_RISCV_REG_A6,
            UC_RISCV_REG_A7)
        .sites(SiteTable.PATCHABLE, "01 00", "13 00 00 00")
        .slots(Slot.register(UC_RISCV_REG_RA, Operand.register(UC_RISCV_REG_SP)))
        .fpMustAgree(Operand.register(UC_RISCV_REG_S0), Operand.register(UC_RISCV_REG_S0))
        .retpAtExit(Operand.register(UC_RISCV_REG_SP))
        .reads(reads(word))
        .build();
  }

  /**
   * The prologue of a function that calls {@code _mcount}: how far sp goes down, where ra is
   * stored, and whether s0 is made to point {@code word} above that.
   *
   * <pre>
   *   addi sp, sp, -n        c.addi sp, -n      c.addi16sp -n
   *   sd   ra, k(sp)         c.sdsp ra, k       sw and c.swsp on riscv32
   *   addi s0, sp, m         c.addi4spn s0, m
   *   lui  t0, hi; addi t0, t0, lo; add sp, sp, t0    frames beyond 2 KiB
   *   jal  t0, __riscv_save_n           -msave-restore: this routine is read as part of it
   * </pre>
   *
   * A nested function pushes t2, its static chain, and pops it again: sp goes both ways.
   */
  static StackWalk prologue(int word) {
    boolean wide = word == 8;
    return StackWalk.of(
            Riscv::length,
            form("addi sp,sp", 4, 0x0001_0113, 0x000f_ffff, (c, f) -> f.grow(-immediateI(c))),
            form("c.addi sp", 2, 0x0101, 0xef83, (c, f) -> f.grow(-immediateCi(c))),
            form("c.addi16sp", 2, 0x6101, 0xef83, (c, f) -> f.grow(-immediate16sp(c))),
            form("lui t0", 4, 0x0000_02b7, 0x0000_0fff, (c, f) -> f.load((int) c & 0xffff_f000)),
            form("c.lui t0", 2, 0x6281, 0xef83, (c, f) -> f.load(immediateCi(c) << 12)),
            form("li t0", 4, 0x0000_0293, 0x000f_ffff, (c, f) -> f.load(immediateI(c))),
            form("c.li t0", 2, 0x4281, 0xef83, (c, f) -> f.load(immediateCi(c))),
            form("addi t0,t0", 4, 0x0002_8293, 0x000f_ffff, (c, f) -> f.addToLoaded(immediateI(c))),
            form("c.addi t0", 2, 0x0281, 0xef83, (c, f) -> f.addToLoaded(immediateCi(c))),
            form("add sp,sp,t0", 4, 0x0051_0133, 0xffff_ffffL, (c, f) -> f.grow(-f.loaded())),
            form("c.add sp,t0", 2, 0x9116, 0xffff, (c, f) -> f.grow(-f.loaded())),
            form(
                wide ? "sd ra,k(sp)" : "sw ra,k(sp)",
                4,
                wide ? 0x0011_3023 : 0x0011_2023,
                0x01ff_f07f,
                (c, f) -> f.save(immediateS(c))),
            wide
                ? form("c.sdsp ra", 2, 0xe006, 0xe07f, (c, f) -> f.save(immediateSdsp(c)))
                : form("c.swsp ra", 2, 0xc006, 0xe07f, (c, f) -> f.save(immediateSwsp(c))),
            form("addi s0,sp", 4, 0x0001_0413, 0x000f_ffff, (c, f) -> f.point(immediateI(c), word)),
            // __riscv_save_n, of -msave-restore: j, li, slli and jr are of its code
            form("jal t0", 4, 0x02ef, 0x0fff, (c, f) -> f.call(nearTarget(f.at(), c), 4)),
            form(
                "call t0",
                8,
                0x02e7_0000_0017L,
                0x7fff_0000_007fL,
                (c, f) -> f.call(farTarget(f.at(), c), 8)),
            form("j", 4, 0x006f, 0x0fff, (c, f) -> f.jump(nearTarget(f.at(), c), 4)),
            form("c.j", 2, 0xa001, 0xe003, (c, f) -> f.jump(compressedTarget(f.at(), c), 2)),
            form("li t1", 4, 0x0000_0313, 0x000f_ffff, (c, f) -> f.load(immediateI(c))),
            form("c.li t1", 2, 0x4301, 0xef83, (c, f) -> f.load(immediateCi(c))),
            form(
                "slli t1",
                4,
                0x0003_1313,
                0xfc0f_ffffL,
                (c, f) -> f.load(f.loaded() << (c >>> 20 & 63))),
            form("c.slli t1", 2, 0x0302, 0xef83, (c, f) -> f.load(f.loaded() << (c >>> 2 & 31))),
            form("add sp,sp,t1", 4, 0x0061_0133, 0xffff_ffffL, (c, f) -> f.grow(-f.loaded())),
            form("c.add sp,t1", 2, 0x911a, 0xffff, (c, f) -> f.grow(-f.loaded())),
            form("sub sp,sp,t1", 4, 0x4061_0133, 0xffff_ffffL, (c, f) -> f.grow(f.loaded())),
            form("jr t0", 4, 0x0002_8067, 0xffff_ffffL, (c, f) -> f.comeBack(4)),
            form("c.jr t0", 2, 0x8282, 0xffff, (c, f) -> f.comeBack(2)),
            form("c.addi4spn s0", 2, 0x0000, 0xe01f, (c, f) -> f.point(immediate4spn(c), word)))
        .upTo(Riscv::isUnread);
  }

  /** Jumps, branches, and what else writes sp. */
  private static boolean isUnread(long code) {
    int opcode = (int) code & 0x7f;
    int rd = (int) code >>> 7 & 31;
    if ((code & 3) == 3) {
      boolean writes = opcode != 0x63 && opcode != 0x23 && opcode != 0x27;
      return opcode == 0x63 || opcode == 0x67 || opcode == 0x6f || (writes && rd == 2);
    }
    int kind = (int) (((code & 3) << 3) | ((code >>> 13) & 7));
    boolean jumps = kind == 0b01_101 || kind == 0b01_110 || kind == 0b01_111;
    boolean toRegister = kind == 0b10_100 && (code >>> 2 & 31) == 0; // c.jr, c.jalr
    boolean moves = kind == 0b10_100 && (code >>> 2 & 31) != 0 && rd == 2; // c.mv, c.add
    return jumps || toRegister || moves;
  }

  /** Sites that pass the return address in a0. */
  private static Prologue calledByGcc(Prologue prologue) {
    return prologue.passingParent(Riscv::length, Riscv::loadsA0, true);
  }

  /** Sites that pass nothing. */
  private static Prologue calledByClang(Prologue prologue) {
    return prologue.passingParent(Riscv::length, Riscv::loadsA0, false);
  }

  /** Bytes of an instruction. */
  static int length(long code) {
    return (code & 3) == 3 ? 4 : 2;
  }

  /**
   * {@code mv a0,rs}, {@code ld a0,k(rs)}, lw on riscv32, and their compressed forms. What lies at
   * or above s0 is an argument, which clang loads at -O0 ahead of the call; ra lies below it.
   */
  private static boolean loadsA0(long code) {
    boolean isArgument = (code & 0x800f_8000L) == 0x0004_0000; // k(s0), k not negative
    return (code & 0xfff0_7fffL) == 0x0513 // addi a0,rs,0
        || ((code & 0x6fffL) == 0x2503 && !isArgument) // ld, lw
        || ((code & 0xff83) == 0x8502 && (code & 0x7c) != 0) // c.mv
        || (code & 0xcf83) == 0x4502 // c.ldsp, c.lwsp
        || ((code & 0xc01f) == 0x4008 && (code & 0x0380) != 0); // c.ld, c.lw; not from s0
  }

  private static Form form(
      String text, int size, long pattern, long mask, StackWalk.Effect effect) {
    return new Form(text, size, pattern, mask, effect);
  }

  /** {@code j target}, 1 MiB either way. */
  private static byte[] jump(long at, long target) {
    long distance = target - at;
    int d = (int) distance;
    int immediate = (d & 0x10_0000) << 11 | (d & 0x7fe) << 20 | (d & 0x800) << 9 | (d & 0xf_f000);
    return distance << 43 >> 43 == distance && target % 2 == 0
        ? Encoding.littleEndian(immediate | 0x6f)
        : new byte[0];
  }

  /** {@code auipc t0, hi; ld ra, lo(t0); ret}, lw on riscv32: t0 and ra are free. */
  private static LandingCode landing(int word) {
    int width = word == 8 ? 3 : 2;
    return LandingCode.oneBlock(
        32,
        (at, mailbox) -> {
          int distance = (int) (mailbox - at);
          int high = (distance + 0x800) & 0xffff_f000;
          int low = distance - high;
          return Encoding.littleEndian(
              high | (5 << 7) | 0x17, (low << 20) | (5 << 15) | (width << 12) | 0x83, 0x0000_8067);
        },
        Riscv::jump);
  }

  private static Registers registers() {
    return new Registers(
        UC_RISCV_REG_PC,
        UC_RISCV_REG_SP,
        UC_RISCV_REG_RA,
        UC_RISCV_REG_S0,
        Registers.NONE,
        UC_RISCV_REG_A0,
        List.of(
            new Registers.Named("a0", UC_RISCV_REG_A0, 8),
            new Registers.Named("a1", UC_RISCV_REG_A1, 8),
            new Registers.Named("fa0", UC_RISCV_REG_FA0, 8),
            new Registers.Named("fa1", UC_RISCV_REG_FA1, 8)));
  }

  /** Floating point on (MSTATUS.FS = dirty), and gp, which the linker counts on. */
  private static BringUp bringUp() {
    return (engine, symbols) -> {
      engine.reg_write(UC_RISCV_REG_MSTATUS, engine.reg_read(UC_RISCV_REG_MSTATUS) | 0x6000);
      symbols
          .apply("__global_pointer$")
          .ifPresent(address -> engine.reg_write(UC_RISCV_REG_GP, address));
    };
  }

  private static Isa.Stops stops() {
    return new Isa.Stops(
        List.of(Encoding.littleEndian(0x0000_006f), new byte[] {0x01, (byte) 0xa0}),
        Map.of(
            0, "misaligned fetch",
            1, "fetch fault",
            2, "illegal instruction",
            3, "breakpoint",
            4, "misaligned load",
            5, "load fault",
            6, "misaligned store",
            7, "store fault"));
  }

  /** pc + hi20 + lo12. */
  private static long farTarget(long at, long code) {
    return at + ((int) code & 0xffff_f000) + ((int) (code >> 32) >> 20);
  }

  /** The J-immediate, bits 20|10:1|11|19:12. */
  static long nearTarget(long at, long code) {
    int i = (int) code;
    return at
        + (((i >> 31) << 20)
            | (i & 0xf_f000)
            | (((i >>> 20) & 1) << 11)
            | (((i >>> 21) & 0x3ff) << 1));
  }

  /** The CJ-immediate, bits 11|4|9:8|10|6|7|3:1|5. */
  static long compressedTarget(long at, long code) {
    return at
        + signed(
            bits(code, 12, 1) << 11
                | bits(code, 11, 1) << 4
                | bits(code, 9, 2) << 8
                | bits(code, 8, 1) << 10
                | bits(code, 7, 1) << 6
                | bits(code, 6, 1) << 7
                | bits(code, 3, 3) << 1
                | bits(code, 2, 1) << 5,
            12);
  }

  private static long immediateI(long code) {
    return (int) code >> 20;
  }

  private static long immediateS(long code) {
    return ((int) code >> 25 << 5) | bits(code, 7, 5);
  }

  private static long immediateCi(long code) {
    return signed(bits(code, 12, 1) << 5 | bits(code, 2, 5), 6);
  }

  /** Bits 9|4|6|8:7|5. */
  private static long immediate16sp(long code) {
    return signed(
        bits(code, 12, 1) << 9
            | bits(code, 6, 1) << 4
            | bits(code, 5, 1) << 6
            | bits(code, 3, 2) << 7
            | bits(code, 2, 1) << 5,
        10);
  }

  /** Bits 5:4|9:6|2|3. */
  private static long immediate4spn(long code) {
    return bits(code, 11, 2) << 4
        | bits(code, 7, 4) << 6
        | bits(code, 6, 1) << 2
        | bits(code, 5, 1) << 3;
  }

  /** Bits 5:3|8:6. */
  private static long immediateSdsp(long code) {
    return bits(code, 10, 3) << 3 | bits(code, 7, 3) << 6;
  }

  /** Bits 5:2|7:6. */
  private static long immediateSwsp(long code) {
    return bits(code, 9, 4) << 2 | bits(code, 7, 2) << 6;
  }

  private static long bits(long code, int low, int count) {
    return (code >>> low) & ((1L << count) - 1);
  }

  private static long signed(long value, int bits) {
    return value << (Long.SIZE - bits) >> (Long.SIZE - bits);
  }
}
