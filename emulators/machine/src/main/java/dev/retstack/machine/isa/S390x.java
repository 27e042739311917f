package dev.retstack.machine.isa;

import static dev.retstack.machine.isa.system.StatLayout.eight;
import static dev.retstack.machine.isa.system.StatLayout.four;
import static dev.retstack.unicorn.S390xConst.*;

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
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.isa.call.StackWalk;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.isa.system.ElfAbi;
import dev.retstack.machine.isa.system.ElfAbi.ForeignAbi;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.isa.system.StatLayout;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * s390x, big-endian. Source: ELF Application Binary Interface Supplement for s390x, "Registers",
 * "The Stack Frame" (the caller leaves 160 bytes at r15, where the callee saves r6-r15: r14 at
 * 112(r15)) and "Parameter Passing"; z/Architecture Principles of Operation.
 *
 * <pre>
 * -pg: called first                              -pg -mfentry: called first
 *
 *   f: stg   %r14,8(%r15)     __mcount_loc         f: brasl %r0,__fentry__     selfpc
 *      brasl %r14,_mcount     selfpc                  stmg  %r6,%r15,48(%r15)
 *      lg    %r14,8(%r15)                             aghi  %r15,-n
 *      stmg  %r6,%r15,48(%r15)                        ...
 *      aghi  %r15,-n                                  lmg   %r6,%r15,n+48(%r15)
 *      ...                                            br    %r14
 *      lmg   %r6,%r15,n+48(%r15)
 *      br    %r14
 *
 * in _mcount                                     in __fentry__
 *   r14      return address: selfpc + 6            r0       return address: selfpc + 6
 *   8(r15)   frompc; retp = r15 + 8                r14      frompc; retp = r15 + 112, where the
 *                                                           prologue will save it
 *
 * -pg of clang: behind the prologue, as any other function
 *   f: stmg  %r11,%r15,88(%r15)
 *      aghi  %r15,-n
 *      lgr   %r11,%r15
 *      brasl %r14,mcount         selfpc; frompc at n+112(%r15): retp
 *
 * -pg -mnop-mcount                               -pg -mfentry -mnop-mcount
 *   f: jgnop f                selfpc               f: jgnop f                  selfpc
 *      jgnop .; jgnop .                               stmg  ...
 *      stmg  ...
 *
 * -fpatchable-function-entry: nopr (2) instead. In all three, at the first nop
 *   r14      frompc; retp = r15 + 112
 *
 * at entry, everywhere: r11 is the caller's frame pointer, callee-saved
 * in return_to_handler: r11 and r15 are the caller's again, retp as at entry
 * </pre>
 *
 * {@code br %r0} goes nowhere, so {@code __fentry__} returns by r1. Nested functions take r0, the
 * static chain, which {@code brasl %r0} would overwrite: gcc refuses them with -mfentry. Results:
 * r2, f0, memory at r2 for every struct. The way out uses r14 only, which a return leaves to
 * anyone.
 */
final class S390x {
  private static final String JGNOP = "c0 04 00 00 00 00";
  private static final int JGNOP_BYTES = 6;

  /** {@code j .+6} in four bytes: the engine takes a jump to the next instruction for none. */
  private static final String SKIP = "a7 f4 00 03 .. ..";

  /** Where a prologue saves r14. */
  private static final Operand SAVE_AREA = Operand.sum(UC_S390X_REG_R15, 112);

  /**
   * {@code lgr %rn,%r15} and {@code aghi %rn,-160}, which makes the address of a frame: those of a
   * walk along frames.
   */
  private static final ReturnReads READS =
      ReturnReads.byForms(
              S390x::length,
              new ReturnReads.Form(
                  0x0f00_04b9L,
                  0x0fff_ffffL,
                  28,
                  15,
                  1 << 15 | 1 << 14 | 1 << 11,
                  ReturnReads.Kind.ALL),
              new ReturnReads.Form(
                  0x60ff_0ba7L, 0xffff_0fffL, 12, 15, 1 << 15, ReturnReads.Kind.ALL))
          .and(S390x::walks)
          .and(S390xLink.reads());

  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(
              UC_S390X_REG_R2, UC_S390X_REG_R3, UC_S390X_REG_R4, UC_S390X_REG_R5, UC_S390X_REG_R6)
          .symbols("_mcount")
          .callForms(
              CallForm.big("brasl %r14", 6, 0xc0e5_0000_0000L, 0xffff_0000_0000L, S390x::far)
                  .skippedBy(SKIP))
          .callRelocations(2, 19, 20) // R_390_PC32DBL, PLT32DBL
          .nop(JGNOP)
          .entryStub("07 fe") // br %r14
          .prologue(
              (code, function, site, after) ->
                  savesLink(code, site) ? Optional.of(SiteFacts.NONE) : Optional.empty())
          .returnAddress(Operand.register(UC_S390X_REG_R14))
          .slot(Operand.sum(UC_S390X_REG_R15, 8))
          .fpMustAgree(Operand.register(UC_S390X_REG_R11), Operand.register(UC_S390X_REG_R11))
          .retpAtExit(Operand.sum(UC_S390X_REG_R15, 8))
          .remark("the site reads the return address back from the hijacked slot")
          .reads(READS)
          .build();

  private static final AbiCard FENTRY =
      AbiCard.named("fentry")
          .flags("-pg -mfentry")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(
              UC_S390X_REG_R2, UC_S390X_REG_R3, UC_S390X_REG_R4, UC_S390X_REG_R5, UC_S390X_REG_R6)
          .symbols("__fentry__")
          .callForms(
              CallForm.big("brasl %r0", 6, 0xc005_0000_0000L, 0xffff_0000_0000L, S390x::far)
                  .skippedBy(SKIP, JGNOP))
          .callRelocations(2, 19, 20) // R_390_PC32DBL, PLT32DBL
          .nop(JGNOP)
          .entryStub("b9 04 00 10 07 f1") // lgr %r1,%r0; br %r1
          .returnAddress(Operand.register(UC_S390X_REG_R0))
          .slots(Slot.register(UC_S390X_REG_R14, SAVE_AREA))
          .fpMustAgree(Operand.register(UC_S390X_REG_R11), Operand.register(UC_S390X_REG_R11))
          .retpAtExit(SAVE_AREA)
          .remark("gcc has no nested functions with it")
          .reads(READS)
          .build();

  private static final AbiCard CLANG_MCOUNT =
      AbiCard.named("clang-mcount")
          .flags("-pg, by clang")
          .moment(Moment.AFTER_PROLOGUE)
          .symbols("mcount")
          .callForms(
              CallForm.big("brasl %r14", 6, 0xc0e5_0000_0000L, 0xffff_0000_0000L, S390x::far)
                  .skippedBy(SKIP))
          .callRelocations(2, 19, 20) // R_390_PC32DBL, PLT32DBL
          .nop(JGNOP)
          .entryStub("07 fe") // br %r14
          .prologue(frame())
          .returnAddress(Operand.register(UC_S390X_REG_R14))
          .slots(Slot.saved(Operand.register(UC_S390X_REG_R15)))
          .retpAtExit(SAVE_AREA)
          .remark("the caller's frame pointer has no fixed place")
          .reads(READS)
          .build();

  private static final AbiCard MCOUNT_NOP =
      nops("mcount-nop", "-pg -mrecord-mcount -mnop-mcount")
          .sites(SiteTable.MCOUNT_LOC, JGNOP)
          .prologue(jgnops(3))
          .remark("three nops of six bytes: the site is seen, not patched")
          .build();

  private static final AbiCard FENTRY_NOP =
      nops("fentry-nop", "-pg -mfentry -mrecord-mcount -mnop-mcount")
          .sites(SiteTable.MCOUNT_LOC, JGNOP)
          .prologue(jgnops(1))
          .remark("one nop of six bytes: the site is seen, not patched")
          .build();

  private static final AbiCard PATCHABLE =
      nops("patchable", "-fpatchable-function-entry=3")
          .sites(SiteTable.PATCHABLE, "07 00", "47 00 00 00", JGNOP) // nopr, nop, jgnop
          .remark("the nops stay: the site is seen, not patched")
          .build();

  /** {@code struct stat}. */
  private static final StatLayout STAT =
      new StatLayout(144, eight(8), four(24), eight(16), eight(48), eight(104), eight(112));

  static final Isa ISA =
      new Isa(
          "s390x",
          ElfAbi.plain(22, "s390x", ForeignAbi.byClass(4, "s390, 31-bit", "compile with -m64")),
          8,
          ByteOrder.BIG_ENDIAN,
          new Isa.Engine(UcConst.UC_ARCH_S390X, UcConst.UC_MODE_BIG_ENDIAN, OptionalInt.empty()),
          CodeAddresses.PLAIN,
          new Registers(
              UC_S390X_REG_PC,
              UC_S390X_REG_R15,
              UC_S390X_REG_R14,
              UC_S390X_REG_R11,
              Registers.NONE,
              UC_S390X_REG_R2,
              List.of(
                  new Registers.Named("r2", UC_S390X_REG_R2, 8),
                  new Registers.Named("f0", UC_S390X_REG_F0, 8))),
          (engine, symbols) -> {
            // PSW bits 31 and 32: addresses of 64 bits, the engine starts with 24
            engine.reg_write(
                UC_S390X_REG_PSWM, engine.reg_read(UC_S390X_REG_PSWM) | 0x1_8000_0000L);
            // CR0 bits 45 and 46: all floating-point registers, and vectors
            engine.reg_write(UC_S390X_REG_CR0, engine.reg_read(UC_S390X_REG_CR0) | 0x6_0000);
          },
          SyscallAbi.onInterrupt(2) // svc
              .resumeAfter(2)
              .number("s390x", UC_S390X_REG_R1)
              .immediateNumberAt(1)
              .arguments(
                  UC_S390X_REG_R2,
                  UC_S390X_REG_R3,
                  UC_S390X_REG_R4,
                  UC_S390X_REG_R5,
                  UC_S390X_REG_R6,
                  UC_S390X_REG_R7)
              .result(UC_S390X_REG_R2)
              .stat(STAT)
              .threads(SyscallAbi.CloneAbi.stackFirst(UC_S390X_REG_A0, UC_S390X_REG_A1))
              .signals(signals())
              .linkIsExitHandler()
              .platform("s390x")
              .dynamic(
                  DynamicAbi.of("s390x-linux-gnu", "libc6-s390x-cross", "07 fe", S390x::importSlot))
              .build(),
          // register save area
          InterruptAbi.plain(0, 160, 8, UC_S390X_REG_R2, UC_S390X_REG_R3, UC_S390X_REG_R4),
          LandingCode.oneBlock(32, S390x::wayOut, S390x::jump),
          new Isa.Stops(
              List.of(Encoding.hex("a7 f4 00 00"), Encoding.hex("c0 f4 00 00 00 00")), // j, jg
              Map.of(3, "program interruption")),
          List.of(MCOUNT, FENTRY, CLANG_MCOUNT, MCOUNT_NOP, FENTRY_NOP, PATCHABLE));

  private S390x() {}

  /**
   * {@code asm/sigcontext.h}, {@code asm/ucontext.h}:
   *
   * <pre>
   *   0    register save area    160  svc    168  siginfo
   *   296  ucontext, with mcontext at 40, and vectors at 512
   * </pre>
   */
  private static SignalAbi signals() {
    return new SignalAbi.Layout(1320, 0, 0, 168, 296)
        .trampoline(2, Encoding.hex("0a ad")) // svc 173
        .word(0, 8, 2) // UC_VXRS
        .stackAndMask(16, 384)
        .flags(UC_S390X_REG_PSWM, 40, 8, 0x3f00_0000_0000L, 0) // condition code, program mask
        .registers(48, 8, 8, UC_S390X_REG_PC)
        .registers(56, 8, 8, from(UC_S390X_REG_R0, 16))
        .registers(184, 4, 4, from(UC_S390X_REG_A0, 16))
        .registers(248, 4, 4, UC_S390X_REG_FPC)
        .registers(256, 8, 8, from(UC_S390X_REG_F0, 16))
        .registers(512, 8, 8, from(UC_S390X_REG_F0_HI, 16))
        .registers(640, 8, 16, from(UC_S390X_REG_F16, 16))
        .registers(648, 8, 16, from(UC_S390X_REG_F16_HI, 16))
        .faults(Map.of(3, new SignalAbi.Fault(SignalAbi.SIGILL, 1)))
        // dr, dsgr, dsgfr, dlgr, dlr, d, dsg, dsgf, dlg, dl; a breakpoint is SIGILL if untraced
        .coded(
            "1d|b90d|b91d|b987|b997|5d|e3.{8}(0d|1d|87|97)", SignalAbi.SIGFPE, SignalAbi.FPE_INTDIV)
        .behind()
        .faultBytes(4096)
        .build();
  }

  private static int[] from(int first, int count) {
    return IntStream.range(first, first + count).toArray();
  }

  /** s390x psABI, "Procedure Linkage Table": {@code larl %r1, slot; lg %r1, 0(%r1)}. */
  private static OptionalLong importSlot(Code code, long address, long got) {
    long larl = Long.reverseBytes(code.at(address));
    long load = Long.reverseBytes(code.at(address + 6)) >>> 16;
    return larl >>> 48 == 0xc010 && load == 0xe310_1000_0004L
        ? OptionalLong.of(address + 2L * (int) (larl >> 16))
        : OptionalLong.empty();
  }

  /** What all functions share that begin with nops. */
  private static AbiCard.Builder nops(String name, String flags) {
    return AbiCard.named(name)
        .flags(flags)
        .moment(Moment.BEFORE_PROLOGUE)
        .arguments(
            UC_S390X_REG_R2, UC_S390X_REG_R3, UC_S390X_REG_R4, UC_S390X_REG_R5, UC_S390X_REG_R6)
        .slots(Slot.register(UC_S390X_REG_R14, SAVE_AREA))
        .fpMustAgree(Operand.register(UC_S390X_REG_R11), Operand.register(UC_S390X_REG_R11))
        .retpAtExit(SAVE_AREA)
        .reads(READS);
  }

  /**
   * Reads where r14 is saved ({@code stmg %rx,%r15,d(%r15)}) and how far r15 goes down ({@code
   * aghi}, {@code agfi}).
   */
  private static Prologue frame() {
    return StackWalk.of(
            S390x::length,
            new StackWalk.Form(
                "stmg %rx,%r15,d(%r15)",
                6,
                0x2400_00f0_0febL,
                0xffff_00f0_0fffL,
                (code, f) -> f.save(saved((int) (code >>> 12) & 0xf, code))),
            new StackWalk.Form(
                "aghi %r15,i", 4, 0xfba7L, 0xffffL, (code, f) -> f.grow(-(short) big(code, 4))),
            new StackWalk.Form(
                "agfi %r15,i", 6, 0xf8c2L, 0xffffL, (code, f) -> f.grow(-(int) big(code, 6))))
        .upTo(S390x::isUnread)
        .accepting(
            facts ->
                facts.where() == SiteFacts.Where.SAVED || facts.where() == SiteFacts.Where.UNREAD);
  }

  /** {@code stg %r14,8(%r15)}, directly before the call: clang's call has another form. */
  private static boolean savesLink(Code code, long site) {
    return (code.at(site - 6) & 0xffff_ffff_ffffL) == 0x2400_08f0_e0e3L;
  }

  /** Branches, of which prologues have loops only, and what else writes r15. */
  private static boolean isUnread(long code) {
    int opcode = (int) code & 0xff;
    int first = (int) code >>> 8 & 0xff;
    boolean relative = opcode == 0xa7 && (first & 15) > 3 && (first & 15) < 8;
    boolean branches = relative || (opcode == 0xc0 && (first & 15) == 4) || opcode == 0xec;
    boolean two = opcode == 0xb9 && ((int) code >>> 24 & 0xf0) == 0xf0; // lgr, sgr, agr, ...
    boolean loads = (opcode == 0x41 || opcode == 0xe3) && first >>> 4 == 15; // la, lay, lg
    return branches || two || loads;
  }

  /** Along the chain of frames: whose word that is depends on whether the function has a frame. */
  private static ReturnReads.Kind walks(Code code, long function, long from, long end) {
    ReturnReads chain = ReturnReads.byChain(S390x::length, S390x::transfer, 15, 11, 112, 14);
    return chain.of(code, function, from, end) == ReturnReads.Kind.NONE
        ? ReturnReads.Kind.NONE
        : ReturnReads.Kind.ALL;
  }

  /** {@code lgr} and {@code lg}. */
  private static ReturnReads.Transfer transfer(long code) {
    int registers = (int) code >>> 24 & 0xff;
    if ((code & 0xffffL) == 0x04b9L) {
      return new ReturnReads.Transfer(registers >>> 4, registers & 15, false, 0);
    }
    int to = (int) code >>> 12 & 15;
    int base = (int) code >>> 20 & 15;
    boolean isLoad = (code & 0xffff_0000_0fffL) == 0x0400_0000_00e3L;
    return isLoad
        ? new ReturnReads.Transfer(to, base, true, (code >>> 24 & 0xff) | (code >>> 8 & 0xf00))
        : null;
  }

  /** Where {@code stmg} puts r14, when it begins with another register. */
  private static long saved(int first, long code) {
    return (big(code, 4) & 0xfff) + (14 - first) * 8L;
  }

  /** The first {@code bytes} bytes of code as a number. */
  private static long big(long code, int bytes) {
    return CallForm.swap(code, bytes);
  }

  /** Bytes of an instruction, by its first two bits. */
  static int length(long code) {
    int kind = (int) (code >>> 6) & 3;
    return kind == 0 ? 2 : kind == 3 ? 6 : 4;
  }

  /** Takes the sites of exactly {@code count} {@code jgnop}. */
  private static Prologue jgnops(int count) {
    return (code, function, site, after) -> {
      int found = 0;
      while (found <= count && isJgnop(code.at(site + (long) found * JGNOP_BYTES))) {
        found++;
      }
      return found == count ? Optional.of(SiteFacts.NONE) : Optional.empty();
    };
  }

  private static boolean isJgnop(long code) {
    return (code & 0xffff_ffff_ffffL) == 0x04c0L;
  }

  /** Target of brasl: a distance of 32 bits, counted in halfwords. */
  private static long far(long at, long code) {
    return at + 2L * (int) code;
  }

  /** {@code jg target}, in halfwords. */
  private static byte[] jump(long at, long target) {
    long halfwords = (target - at) / 2;
    return halfwords == (int) halfwords && target % 2 == 0
        ? ByteBuffer.allocate(6).putShort((short) 0xc0f4).putInt((int) halfwords).array()
        : new byte[0];
  }

  /** {@code lgrl %r14,mailbox; br %r14}. */
  private static byte[] wayOut(long at, long mailbox) {
    return ByteBuffer.allocate(8)
        .putShort((short) 0xc4e8)
        .putInt((int) (mailbox - at) / 2)
        .putShort((short) 0x07fe)
        .array();
  }
}
