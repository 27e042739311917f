package dev.retstack.machine.isa;

import static dev.retstack.machine.isa.system.StatLayout.eight;
import static dev.retstack.machine.isa.system.StatLayout.four;
import static dev.retstack.unicorn.X86Const.*;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.AbiCard.Moment;
import dev.retstack.machine.isa.call.AbiCard.SiteTable;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.LandingCode;
import dev.retstack.machine.isa.call.Operand;
import dev.retstack.machine.isa.call.Prologue;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.isa.call.SiteFacts.Where;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.isa.call.StackWalk;
import dev.retstack.machine.isa.call.StackWalk.Effect;
import dev.retstack.machine.isa.call.StackWalk.Form;
import dev.retstack.machine.isa.sigframe.X86Signals;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.isa.system.ElfAbi;
import dev.retstack.machine.isa.system.ElfAbi.ForeignAbi;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.isa.system.StatLayout;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * x86: x86_64 and i386. Source: System V Application Binary Interface, AMD64 Architecture Processor
 * Supplement, 3.2 "Function Calling Sequence" and A.2 "AMD64 Linux Kernel Conventions"; Intel386
 * Architecture Processor Supplement, 3 "Function Calling Sequence" and "Process Initialization".
 *
 * <p>Drawn for x86_64; i386 has %ebp and %esp, and 4 in place of 8:
 *
 * <pre>
 * -pg -mfentry: called first                   -pg: called behind the prologue
 *
 *   f: call __fentry__       selfpc              f: push %rbp
 *      push %rbp                                    mov  %rsp,%rbp
 *      mov  %rsp,%rbp                               push ...
 *      ...                                          call mcount              selfpc
 *      ret                                          ...
 *                                                   leave; ret
 * in __fentry__                                in mcount
 *   0(%rsp)  return address: selfpc + call       0(%rsp)  return address: selfpc + call
 *   8(%rsp)  frompc; retp = rsp + 8              0(%rbp)  caller's frame pointer
 *   %rbp     caller's frame pointer              8(%rbp)  frompc; retp = rbp + 8
 *
 * -fpatchable-function-entry=5: f begins with nops, behind endbr64 where there is one; there
 *   0(%rsp)  frompc; retp = rsp
 *   %rbp     caller's frame pointer
 *
 * -mrecord-mcount -mnop-mcount: a nop of five bytes in place of the call, entered likewise
 *
 * in return_to_handler, all: the ret has popped the slot, retp = rsp - 8; %rbp is the caller's again
 * </pre>
 *
 * On i386 an {@code ret $n}, which pops the address of a struct result or all arguments (stdcall,
 * fastcall, thiscall, -mrtd), leaves retp = esp - 4 - n. Arguments lie on the stack there, so the
 * slot of a call with many lies below that of a dead frame that had none: the caller's frame
 * pointer shows which frame called.
 *
 * <p>A call is {@code e8 rel32} without PIC. With PIC it is {@code ff 15} through the GOT, on i386
 * {@code ff 93} by the address of the GOT in %ebx; a static linker relaxes both to {@code 67 e8}.
 * Results: rax rdx, xmm0 xmm1, st(0) st(1); eax edx, st(0), xmm0, memory. Stores and a jump through
 * memory keep them, the flags and everything else.
 *
 * <p>What stands in front of a call:
 *
 * <pre>
 * a nested function of gcc, -mfentry         a function that realigns its stack, -pg
 *
 *   f: push %r10      static chain             f: lea  8(%rsp),%r10      arguments
 *      call __fentry__                            and  $-64,%rsp
 *      pop  %r10                                  push -8(%r10)          copies the return address
 *                                                 push %rbp
 *                                                 mov  %rsp,%rbp
 *                                                 ...
 *                                                 call mcount
 *                                                 ...
 *                                                 lea  -8(%r10),%rsp
 *                                                 ret                    by the original
 * </pre>
 *
 * i386 does it with %ecx and words of 4 bytes. The instructions in front of a call are read up to
 * the first that is none of these: no other length of an x86 instruction has to be known.
 */
final class X86 {
  /** Opcodes 0x50 to 0x57: push of a register. */
  private static final String PUSH = "push %reg";

  /** How far behind a site the frame pointer is set, scheduled code in between: measured 40. */
  private static final int FRAME_WITHIN = 64;

  /**
   * Bytes from a function's beginning to its call behind the prologue, at most: beyond none is
   * read.
   */
  private static final long PROLOGUE_MOST = 1024;

  private static final int RET = 0xc3;

  /** {@code ret imm16}. */
  private static final int RET_POPPING = 0xc2;

  private static final int ENTER = 0xc8;

  /** {@code stc}. */
  private static final int STC = 0xf9;

  /**
   * What compilers and the kernel put at a site that may become a call, one byte to ten (Intel SDM
   * volume 2, NOP); the one of six bytes is as long as a call of position-independent code. Behind
   * them those that clang writes with a displacement.
   */
  private static final String[] NOPS = {
    "90",
    "66 90",
    "0f 1f 00",
    "0f 1f 40 00",
    "0f 1f 44 00 00",
    "66 0f 1f 44 00 00",
    "0f 1f 80 00 00 00 00",
    "0f 1f 84 00 00 00 00 00",
    "66 0f 1f 84 00 00 00 00 00",
    "66 2e 0f 1f 84 00 00 00 00 00",
    "0f 1f 40 08",
    "0f 1f 44 00 08",
    "66 0f 1f 44 00 08",
    "0f 1f 80 00 02 00 00",
    "0f 1f 84 00 00 02 00 00",
    "66 0f 1f 84 00 00 02 00 00",
    "2e 66 0f 1f 84 00 00 02 00 00"
  };

  /** Names of the exceptions of both, by their vectors (Intel SDM volume 3, 6.3.1). */
  private static final Isa.Stops STOPS =
      new Isa.Stops(
          List.of(new byte[] {(byte) 0xeb, (byte) 0xfe}),
          Map.of(
              0, "divide error",
              1, "debug",
              3, "breakpoint",
              4, "overflow",
              6, "invalid opcode",
              12, "stack fault",
              13, "general protection",
              14, "page fault",
              16, "floating point",
              17, "alignment check"));

  /** {@code addr32 jmp} behind itself: the prefix makes it as long as the calls of six bytes. */
  private static final String LONG_SKIP = "67 e9 00 00 00 00";

  private static final String LONG_NOP = "66 0f 1f 44 00 00";

  /** {@code addr32 call}: what a static link makes of a call through the GOT. */
  private static final CallForm RELAXED_CALL =
      CallForm.direct("addr32 call", "67 e8 .. .. .. ..", (at, code) -> at + 6 + (int) (code >> 16))
          .skippedBy(LONG_SKIP, LONG_NOP);

  /** {@code call rel32}. */
  private static final CallForm CALL =
      CallForm.direct("call", "e8 .. .. .. ..", (at, code) -> at + 5 + (int) (code >> 8))
          .skippedBy("e9 00 00 00 00", "0f 1f 44 00 00");

  private static final Effect NO_EFFECT = (code, frame) -> {};

  /** What takes the place of a call of five or six bytes. */
  private static final String[] CALL_NOPS = {"0f 1f 44 00 00", LONG_NOP};

  private static final String LONGJMP =
      "without frame pointers a frame that a longjmp without a symbol left may pass for a caller";

  private static final StatLayout STAT_64 =
      new StatLayout(144, eight(8), four(24), eight(16), eight(48), eight(56), eight(64));

  /** {@code struct stat64}. */
  private static final StatLayout STAT_32 =
      new StatLayout(96, eight(88), four(16), four(20), eight(44), four(52), eight(56));

  /** Where Linux writes the descriptors of segments: near the top, out of everybody's way. */
  private static final long DESCRIPTORS = 0xffff_0000L;

  private static final int DESCRIPTORS_BYTES = 4096;

  /** Linux's selector of flat data for the privilege that the engine runs at. */
  private static final int KERNEL_DATA = 13 * 8;

  static final Isa X86_64 = new X86(true).wide();
  static final Isa I386 = new X86(false).narrow();

  private final boolean wide;
  private final int word;
  private final int sp;
  private final int bp;

  /** Where the slot was, once the return has popped it. */
  private final Operand[] returned;

  private X86(boolean wide) {
    this.wide = wide;
    word = wide ? 8 : 4;
    sp = wide ? UC_X86_REG_RSP : UC_X86_REG_ESP;
    bp = wide ? UC_X86_REG_RBP : UC_X86_REG_EBP;
    Operand popped = Operand.sum(sp, -word);
    returned = wide ? new Operand[] {popped} : new Operand[] {popped, Operand.sum(sp, -2L * word)};
  }

  private Isa wide() {
    return new Isa(
        "x86_64",
        ElfAbi.plain(62, "x86_64", ForeignAbi.byClass(4, "x32", "compile with -m64 or -m32")),
        word,
        ByteOrder.LITTLE_ENDIAN,
        new Isa.Engine(UcConst.UC_ARCH_X86, UcConst.UC_MODE_64, OptionalInt.empty()),
        CodeAddresses.PLAIN,
        new Registers(
            UC_X86_REG_RIP,
            sp,
            Registers.NONE,
            bp,
            UC_X86_REG_FS_BASE,
            UC_X86_REG_RAX,
            List.of(
                new Registers.Named("rax", UC_X86_REG_RAX, 8),
                new Registers.Named("rdx", UC_X86_REG_RDX, 8),
                new Registers.Named("xmm0", UC_X86_REG_XMM0, 16),
                new Registers.Named("xmm1", UC_X86_REG_XMM1, 16),
                new Registers.Named("st0", UC_X86_REG_ST0, 10),
                new Registers.Named("st1", UC_X86_REG_ST1, 10))),
        (engine, symbols) -> setUpFloatingPoint(engine),
        SyscallAbi.onInstruction(UC_X86_INS_SYSCALL)
            .number("x86_64", UC_X86_REG_RAX)
            .arguments(
                UC_X86_REG_RDI,
                UC_X86_REG_RSI,
                UC_X86_REG_RDX,
                UC_X86_REG_R10,
                UC_X86_REG_R8,
                UC_X86_REG_R9)
            .result(UC_X86_REG_RAX)
            .stat(STAT_64)
            .platform("x86_64")
            .packedEvents()
            .dynamic(DynamicAbi.of("x86_64-linux-gnu", "libc6-amd64-cross", "c3", X86::importSlot))
            .archControl()
            .threads(SyscallAbi.CloneAbi.plain(UC_X86_REG_FS_BASE))
            .signals(X86Signals.WIDE)
            .build(),
        // AMD64 psABI, 3.2.2: red zone
        InterruptAbi.plain(128, 0, 16, UC_X86_REG_RDI, UC_X86_REG_RSI, UC_X86_REG_RDX),
        LandingCode.oneBlock(32, this::wayOut, X86::jump),
        STOPS,
        List.of(
            fentry("right also if the stack is realigned"),
            mcount(
                "gcc copies the slot if it realigns the stack of an alloca: use -mfentry"
                    + " there"),
            fentryNop(),
            mcountNop(),
            patchable("the nops stay: the site is seen, not patched")));
  }

  private Isa narrow() {
    return new Isa(
        "i386",
        ElfAbi.plain(3, "i386"),
        word,
        ByteOrder.LITTLE_ENDIAN,
        new Isa.Engine(UcConst.UC_ARCH_X86, UcConst.UC_MODE_32, OptionalInt.empty()),
        CodeAddresses.PLAIN,
        new Registers(
            UC_X86_REG_EIP,
            sp,
            Registers.NONE,
            bp,
            Registers.NONE,
            UC_X86_REG_EAX,
            List.of(
                new Registers.Named("eax", UC_X86_REG_EAX, 4),
                new Registers.Named("edx", UC_X86_REG_EDX, 4),
                new Registers.Named("st0", UC_X86_REG_ST0, 10),
                new Registers.Named("xmm0", UC_X86_REG_XMM0, 16))),
        (engine, symbols) -> {
          setUpFloatingPoint(engine);
          loadSegments(engine);
        },
        SyscallAbi.onInterrupt(0x80) // int $0x80
            .number("i386", UC_X86_REG_EAX)
            .arguments(
                UC_X86_REG_EBX,
                UC_X86_REG_ECX,
                UC_X86_REG_EDX,
                UC_X86_REG_ESI,
                UC_X86_REG_EDI,
                UC_X86_REG_EBP)
            .result(UC_X86_REG_EAX)
            .stat(STAT_32)
            .platform("i686")
            .packedEvents()
            .dynamic(
                DynamicAbi.of("i686-linux-gnu", "libc6-i386", "c3", X86::importSlotNarrow)
                    .withTableBase(X86::tableInEbx))
            .olderThanStackHeader()
            .descriptorTable(DESCRIPTORS)
            .threads(SyscallAbi.CloneAbi.backwardsBySegment(UC_X86_REG_GS))
            .signals(X86Signals.NARROW)
            .build(),
        InterruptAbi.plain(0, 12, 16), // three words of arguments
        LandingCode.oneBlock(32, this::wayOut, X86::jump),
        STOPS,
        List.of(
            fentry("right also if the stack is realigned; " + LONGJMP),
            mcount(
                "gcc copies the slot if it realigns the stack: use -mfentry, or"
                    + " -maccumulate-outgoing-args if there is no alloca"),
            fentryNop(),
            mcountNop(),
            patchable("the nops stay: the site is seen, not patched; " + LONGJMP)));
  }

  private AbiCard fentry(String remark) {
    return arguments(counting("fentry", "-pg -mfentry", "__fentry__"), sp, 2)
        .moment(Moment.BEFORE_PROLOGUE)
        .prologue(beforeFrame(word))
        .slots(Slot.saved(Operand.sum(sp, word)))
        .fpMustAgree(Operand.register(bp), Operand.register(bp))
        .slotFromFpBySite(word)
        .remark(remark)
        .build();
  }

  private AbiCard mcount(String remark) {
    return behindPrologue(counting("mcount", "-pg", "mcount", "_mcount"))
        .prologue(behindFrame(word))
        .remark(remark)
        .build();
  }

  /** What functions share that call a counting function. */
  private AbiCard.Builder counting(String name, String flags, String... symbols) {
    CallForm throughGot =
        wide
            ? CallForm.indirect(
                    "call *GOT(%rip)",
                    "ff 15 .. .. .. ..", (at, code) -> at + 6 + (int) (code >> 16))
                .skippedBy(LONG_SKIP, LONG_NOP)
            : CallForm.fromTable(
                    "call *GOT(%ebx)", "ff 93 .. .. .. ..", (at, code) -> (int) (code >> 16))
                .skippedBy(LONG_SKIP);
    // R_X86_64_PC32, PLT32, GOTPCREL, GOTPCRELX; R_386_PC32, PLT32, GOT32, GOT32X; the shorter call
    // behind the longer ones
    int[] relocations = wide ? new int[] {2, 4, 9, 41} : new int[] {2, 4, 3, 43};
    return AbiCard.named(name)
        .flags(flags)
        .symbols(symbols)
        .callForms(RELAXED_CALL, throughGot, CALL)
        .callRelocations(2, relocations)
        .callRelocations(1, 2, 4)
        .nop(CALL_NOPS)
        .entryStub("c3")
        .returnAddress(Operand.word(sp, 0))
        .reads(new X86Returns(word))
        .retpAtExit(returned)
        .poppingReturn(popping());
  }

  private AbiCard patchable(String remark) {
    return entered("patchable", "-fpatchable-function-entry=5", SiteTable.PATCHABLE)
        .prologue(beforeFrame(word))
        .slotFromFpBySite(word)
        .remark(remark)
        .build();
  }

  private AbiCard fentryNop() {
    return entered("fentry-nop", "-pg -mfentry -mrecord-mcount -mnop-mcount", SiteTable.MCOUNT_LOC)
        .prologue(wide ? firstNop(word, 0x5241, 2) : firstNop(word, 0x51, 1))
        .slotFromFpBySite(word)
        .remark("one nop of five bytes: the site is seen, not patched")
        .build();
  }

  private AbiCard mcountNop() {
    String name = "mcount-nop";
    String flags = "-pg -mrecord-mcount -mnop-mcount";
    return entered(name, flags, SiteTable.MCOUNT_LOC)
        .prologue(nopBehindFrame(word))
        .slotFromFp(word)
        .atSite(
            behindPrologue(
                    AbiCard.named(name).flags(flags).retpAtExit(returned).poppingReturn(popping()))
                .sites(SiteTable.MCOUNT_LOC, NOPS)
                .build())
        .remark("one nop behind the prologue: the function is entered at its beginning")
        .build();
  }

  /** What functions share that are entered at their first instruction. */
  private AbiCard.Builder entered(String name, String flags, SiteTable table) {
    return arguments(AbiCard.named(name), sp, 1)
        .flags(flags)
        .moment(Moment.BEFORE_PROLOGUE)
        .sites(table, NOPS)
        .slot(Operand.sum(sp, 0))
        .reads(new X86Returns(word))
        .fpMustAgree(Operand.register(bp), Operand.register(bp))
        .retpAtExit(returned)
        .poppingReturn(popping());
  }

  /** On i386 a callee may pop its arguments. */
  private OptionalInt popping() {
    return wide ? OptionalInt.empty() : OptionalInt.of(RET_POPPING);
  }

  /** What functions share that have made their frame. */
  private AbiCard.Builder behindPrologue(AbiCard.Builder card) {
    return arguments(card, bp, 2)
        .moment(Moment.AFTER_PROLOGUE)
        .slots(Slot.memory(Operand.sum(bp, word)).whereSaved())
        .reads(new X86Returns(word))
        .fpMustAgree(Operand.word(bp, 0), Operand.register(bp))
        .slotFromFp(word);
  }

  /** Six arguments: in registers, or with 32 bits in words above a register. */
  private AbiCard.Builder arguments(AbiCard.Builder card, int base, int words) {
    return wide
        ? card.arguments(
            UC_X86_REG_RDI,
            UC_X86_REG_RSI,
            UC_X86_REG_RDX,
            UC_X86_REG_RCX,
            UC_X86_REG_R8,
            UC_X86_REG_R9)
        : card.arguments(Operand.sum(base, (long) words * word), 6, word);
  }

  /**
   * psABI, x86_64 3.4.1 and i386 "Process Initialization": extended precision, round to nearest,
   * all exceptions masked; the engine starts with zeroes, which is single precision.
   */
  private static void setUpFloatingPoint(Unicorn engine) {
    engine.reg_write(UC_X86_REG_FPCW, 0x37f);
    engine.reg_write(UC_X86_REG_MXCSR, 0x1f80);
  }

  /**
   * Points the processor at the table of descriptors and loads the stack's: the engine starts with
   * a flat 32-bit stack that no descriptor stands for, and forgets that it has 32 bits as soon as
   * the program loads %gs. The look-up of a descriptor by the host goes by physical addresses.
   */
  private static void loadSegments(Unicorn engine) {
    // struct uc_x86_mmr: selector in 2 bytes, base at 8, limit at 16
    byte[] table =
        ByteBuffer.allocate(24)
            .order(ByteOrder.nativeOrder())
            .putLong(8, DESCRIPTORS)
            .putInt(16, DESCRIPTORS_BYTES - 1)
            .array();
    engine.reg_write(UC_X86_REG_GDTR, MemorySegment.ofArray(table));
    engine.ctl_tlb_mode(UcConst.UC_TLB_CPU);
    engine.reg_write(UC_X86_REG_SS, KERNEL_DATA);
    engine.ctl_tlb_mode(UcConst.UC_TLB_VIRTUAL);
  }

  /**
   * AMD64 psABI, 5.2 "Procedure Linkage Table": {@code [endbr64;] [bnd] jmp *slot(%rip)}. mold has
   * {@code mov $number,%r11d} in front of the jump.
   */
  private static OptionalLong importSlot(Code code, long address, long got) {
    long at = (int) code.at(address) == 0xfa1e_0ff3 ? address + 4 : address;
    at += (code.at(at) & 0xffff) == 0xbb41 ? 6 : 0;
    at += (code.at(at) & 0xff) == 0xf2 ? 1 : 0;
    long bytes = code.at(at);
    return (bytes & 0xffff) == 0x25ff
        ? OptionalLong.of(at + 6 + (int) (bytes >> 16))
        : OptionalLong.empty();
  }

  /**
   * i386 psABI: {@code [endbr32;] jmp *slot}, or {@code jmp *offset(%ebx)}. mold has {@code mov
   * $offset,%ecx} in front of the jump.
   */
  private static OptionalLong importSlotNarrow(Code code, long address, long got) {
    long at = (int) code.at(address) == 0xfb1e_0ff3 ? address + 4 : address;
    at += (code.at(at) & 0xff) == 0xb9 ? 5 : 0;
    long bytes = code.at(at);
    long operand = (int) (bytes >> 16);
    return switch ((int) bytes & 0xffff) {
      case 0x25ff -> OptionalLong.of(operand & 0xffff_ffffL);
      case 0xa3ff -> OptionalLong.of((got + operand) & 0xffff_ffffL);
      default -> OptionalLong.empty();
    };
  }

  /**
   * i386 psABI, "Position-Independent Function Prologue": {@code call thunk; add $distance,%ebx},
   * or {@code call 1f; 1: pop %ebx; add $distance,%ebx}. Linkers place the table differently.
   */
  private static OptionalLong tableInEbx(ByteBuffer code, long address) {
    for (int at = 6; at < code.capacity() - 6; at++) {
      if (code.getShort(at) == (short) 0xc381) { // add $imm32,%ebx
        int call = code.get(at - 1) == 0x5b ? at - 6 : at - 5;
        int behind = call + 5;
        if ((code.get(call) & 0xff) == 0xe8 && getsOwnAddress(code, behind, call)) {
          return OptionalLong.of((address + behind + code.getInt(at + 2)) & 0xffff_ffffL);
        }
      }
    }
    return OptionalLong.empty();
  }

  /** True where a call leaves the address behind it in %ebx. */
  private static boolean getsOwnAddress(ByteBuffer code, int behind, int call) {
    int distance = code.getInt(call + 1);
    int thunk = behind + distance;
    boolean inside = thunk >= 0 && thunk <= code.capacity() - Integer.BYTES;
    return distance == 0 || (inside && code.getInt(thunk) == 0xc324_1c8b); // mov (%esp),%ebx; ret
  }

  /** {@code jmp *mailbox(%rip)}; i386 names the mailbox by its address. */
  private byte[] wayOut(long at, long mailbox) {
    int bytes = 6;
    return ByteBuffer.allocate(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(new byte[] {(byte) 0xff, 0x25})
        .putInt((int) (wide ? mailbox - at - bytes : mailbox))
        .array();
  }

  /** {@code jmp rel32}. */
  private static byte[] jump(long at, long target) {
    int bytes = 5;
    long distance = target - at - bytes;
    return distance == (int) distance
        ? ByteBuffer.allocate(bytes)
            .order(ByteOrder.LITTLE_ENDIAN)
            .put((byte) 0xe9)
            .putInt((int) distance)
            .array()
        : new byte[0];
  }

  /**
   * Reads what stands in front of a call, and whether the function sets the frame pointer behind
   * it.
   */
  static Prologue beforeFrame(int wordBytes) {
    StackWalk walk = walk(wordBytes);
    long set = wordBytes == 8 ? 0xe5_8948L : 0xe589L; // mov %rsp,%rbp
    long mask = wordBytes == 8 ? 0xff_ffffL : 0xffffL;
    return (code, function, site, after) ->
        walk.scan(code, function, site, after)
            .map(facts -> facts.withKeepsFrame(sets(code, after, set, mask)));
  }

  /**
   * Reads what stands in front of a call that is made behind the prologue. Where the function has
   * not set the frame pointer that is another's, and so is the return address above it: then it is
   * left alone. Where no symbol marks the function's beginning, or that is far, it is believed.
   */
  static Prologue behindFrame(int wordBytes) {
    StackWalk walk = walk(wordBytes);
    return (code, function, site, after) ->
        walk.scan(code, function, site, after)
            .map(
                facts ->
                    splitsStack(code, function, wordBytes)
                        ? facts.withWhere(Where.UNREAD)
                        : site - function <= 0
                                || site - function > PROLOGUE_MOST
                                || setsFrame(code, function, site, wordBytes)
                            ? facts.withWhere(Where.SAVED)
                            : SiteFacts.IN_REGISTER);
  }

  /**
   * {@code cmp %fs:0x70,%rsp}, first or behind {@code lea}: -fsplit-stack. The function may run on
   * another piece of stack, where it returns into {@code __morestack}; and at -O2 gcc puts the call
   * where only such a one comes by. Where the function calls one that knows no pieces, gold writes
   * {@code stc} and nops over the comparison: then each call asks for a piece.
   */
  private static boolean splitsStack(Code code, long function, int wordBytes) {
    boolean wide = wordBytes == 8;
    long at = function;
    at += (code.at(at) & 0xffff_ffffL) == (wide ? 0xfa1e_0ff3L : 0xfb1e_0ff3L) ? Integer.BYTES : 0;
    int lea = (int) (code.at(at) >>> (wide ? Byte.SIZE : 0)) & 0xff;
    int how = (int) (code.at(at) >>> (wide ? 2 * Byte.SIZE : Byte.SIZE)) & 0xc7;
    if (lea == 0x8d && (how & 0x87) == 0x84) {
      at += wide ? 8 : 7;
    } else if (lea == 0x8d && (how & 0x87) == 0x04) {
      at += wide ? 5 : 4;
    }
    long there = code.at(at);
    if ((there & 0xff) == STC) {
      return true;
    }
    return wide ? (there & 0xff_fbffL) == 0x3b_4864L : (there & 0xffffL) == 0x3b65L;
  }

  /** {@code mov %rsp,%rbp} in both forms, or {@code enter}. */
  private static boolean setsFrame(Code code, long from, long to, int wordBytes) {
    long mask = wordBytes == 8 ? 0xff_ffffL : 0xffffL;
    for (long at = from; at < to; at++) {
      long bytes = code.at(at) & mask;
      if (bytes == (wordBytes == 8 ? 0xe5_8948L : 0xe589L)
          || bytes == (wordBytes == 8 ? 0xec_8b48L : 0xec8bL)) {
        return true;
      }
    }
    return (code.at(from) & 0xff) == ENTER;
  }

  /**
   * Takes the nops that a function begins with, by gcc -mfentry: behind endbr, and behind the push
   * of a nested function's static chain.
   *
   * @param chain the push, the first byte lowest, in as many bytes
   */
  static Prologue firstNop(int wordBytes, long chain, int chainBytes) {
    Prologue frame = beforeFrame(wordBytes);
    long endbr = wordBytes == 8 ? 0xfa1e_0ff3L : 0xfb1e_0ff3L;
    return (code, function, site, after) -> {
      long at = function;
      at += (code.at(at) & 0xffff_ffffL) == endbr ? Integer.BYTES : 0;
      boolean nested = at != site && (code.at(at) & ((1L << (8 * chainBytes)) - 1)) == chain;
      return at + (nested ? chainBytes : 0) == site
          ? frame.scan(code, function, site, after)
          : Optional.empty();
    };
  }

  /** Takes the nops of gcc -pg, behind the prologue, whatever it does with the return address. */
  static Prologue nopBehindFrame(int wordBytes) {
    Prologue frame = behindFrame(wordBytes);
    return (code, function, site, after) ->
        frame.scan(code, function, site, after).map(facts -> facts.withCopied(false));
  }

  private static boolean sets(Code code, long from, long pattern, long mask) {
    for (long at = from; at < from + FRAME_WITHIN; at++) {
      long bytes = code.at(at);
      if ((bytes & mask) == pattern) {
        return true;
      }
      if ((bytes & 0xff) == RET) {
        return false;
      }
    }
    return false;
  }

  private static StackWalk walk(int wordBytes) {
    Effect push = (code, frame) -> frame.grow(wordBytes);
    Effect realign = (code, frame) -> frame.lose();
    Effect copy = (code, frame) -> frame.pushAgain();
    Form[] forms =
        wordBytes == 8
            ? new Form[] {
              Form.bytes("endbr64", "f3 0f 1e fa", NO_EFFECT),
              new Form("lea disp8(%rsp),%reg", 5, 0x24_448d48L, 0xff_c7fffbL, NO_EFFECT),
              Form.bytes("and $imm8,%rsp", "48 83 e4 ..", realign),
              Form.bytes("and $imm32,%rsp", "48 81 e4 .. .. .. ..", realign),
              new Form("push -8(%reg)", 3, 0xf870ffL, 0xfff8ffL, copy),
              new Form("push -8(%r8-15)", 4, 0xf870ff41L, 0xfff8ffffL, copy),
              new Form(PUSH, 1, 0x50, 0xf8, push),
              new Form("push %r8-15", 2, 0x5041, 0xf8ff, push),
            }
            : new Form[] {
              Form.bytes("endbr32", "f3 0f 1e fb", NO_EFFECT),
              new Form("lea disp8(%esp),%reg", 4, 0x24448dL, 0xffc7ffL, NO_EFFECT),
              Form.bytes("and $imm8,%esp", "83 e4 ..", realign),
              Form.bytes("and $imm32,%esp", "81 e4 .. .. .. ..", realign),
              new Form("push -4(%reg)", 3, 0xfc70ffL, 0xfff8ffL, copy),
              new Form(PUSH, 1, 0x50, 0xf8, push),
            };
    return StackWalk.ofPushing(forms);
  }
}
