package dev.retstack.machine.isa;

import static dev.retstack.machine.isa.system.StatLayout.eight;
import static dev.retstack.machine.isa.system.StatLayout.four;
import static dev.retstack.unicorn.ArmConst.*;

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
import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.isa.system.ElfAbi;
import dev.retstack.machine.isa.system.ElfAbi.ForeignAbi;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.isa.system.StatLayout;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.unicorn.UcConst;
import it.unimi.dsi.fastutil.bytes.ByteList;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * arm, little-endian: A32 and Thumb-2, which a program may mix. Source: Procedure Call Standard for
 * the Arm Architecture (AAPCS32), 6.1 "Machine Registers", 6.4 "Subroutine Calls" (bit 0 of an
 * address to jump to is the instruction set), 7.1.1 "VFP register usage"; the frame of -mapcs-frame
 * is that of the older APCS; {@code __gnu_mcount_nc}: gcc, config/arm/linux-eabi.h; encodings: Arm
 * Architecture Reference Manual ARMv7-A, A8.8.
 *
 * <pre>
 *   mcount: -pg -mapcs-frame (A32)      mcount-nofp: -pg (A32); thumb-mcount
 *
 *   f: mov  ip, sp                      f: push {r4, lr}          nothing in a leaf
 *      push {fp, ip, lr, pc}               sub  sp, #n
 *      sub  fp, ip, #4                     push {lr}
 *      push {lr}                           bl   __gnu_mcount_nc   selfpc
 *      bl   __gnu_mcount_nc   selfpc       ...
 *      ...                                 add  sp, #n
 *      ldm  sp, {fp, sp, pc}               pop  {r4, pc}          a leaf: bx lr
 *
 *   in __gnu_mcount_nc, which owes a pop of lr
 *   lr         selfpc + 4               lr      selfpc + 4
 *   [sp]       frompc once more         [sp]    frompc; goes back to lr, a leaf returns by it
 *   [fp, #-4]  frompc; retp = fp - 4    [sp+k]  frompc where the prologue pushed lr; retp = sp of the call
 *   [fp, #-12] caller's frame pointer
 *
 *   patchable, thumb-patchable: at the nops lr holds frompc; sp stands for the slot; fp (Thumb: r7)
 *   is the caller's frame pointer
 *
 *   in return_to_handler: fp and r7 are the caller's again; sp is what it was at the call
 * </pre>
 *
 * Without an APCS frame the prologue shows k and the sp of the call: the first push of lr is what
 * the function returns by, in a leaf the one that the call needs. A call is {@code bl}, or {@code
 * blx} into the other set.
 *
 * <p>Results: r0-r3, d0-d7 (s0-s15). A load of pc keeps them, the flags and everything else.
 */
final class Arm {
  /** Bytes from the beginning of a function in which it makes its frame. */
  private static final int FRAME_WITHIN = 64;

  private static final String[] COUNTING = {"__gnu_mcount_nc"};

  /** {@code mov ip, lr; pop {lr}; bx ip}, in A32 and in Thumb. */
  private static final String RETURN = "0e c0 a0 e1  04 e0 9d e4  1c ff 2f e1";

  private static final String THUMB_RETURN = "f4 46  5d f8 04 eb  60 47";

  /** {@code push {lr}}, in front of each call. */
  private static final String PUSH_LR = "04 e0 2d e5";

  /** Where the prologue pushed lr; retp is the sp of the call. */
  private static final Slot SAVED =
      Slot.saved(Operand.register(UC_ARM_REG_SP)).retpByFrame(Operand.register(UC_ARM_REG_SP));

  /** {@code mov rn, fp}. */
  private static final ReturnReads.Form MOV_FP =
      read(0x01a0_000b, 0x0fff_0fff, 12, 1 << 13 | 1 << 11, ReturnReads.Kind.ALL);

  /** Reads of a walk along frames of -mapcs-frame. */
  private static final ReturnReads FRAME_READS =
      ReturnReads.byForms(_ -> 4, MOV_FP).where(A32::makesApcsFrame);

  /** Reads along frames of clang: {@code ldr rn, [fp, #4]} and {@code [fp]}. */
  private static final ReturnReads CLANG_FRAME_READS =
      ReturnReads.byForms(
              _ -> 4,
              MOV_FP,
              read(0x059b_0004, 0x0fff_0fff, 12, 0, ReturnReads.Kind.OWN),
              read(0x059b_0000, 0x0fff_0fff, 12, 0, ReturnReads.Kind.ALL),
              read(0x0500_b000, 0x0f70_f000, 16, 1 << 13, ReturnReads.Kind.ALL))
          .where(A32::makesFrame);

  /** As {@link #CLANG_FRAME_READS}, with r7. */
  private static final ReturnReads THUMB_FRAME_READS =
      ReturnReads.byForms(
              Thumb::length,
              read(0x6878, 0xfff8, 0, 0, ReturnReads.Kind.OWN),
              read(0x0004_f8d7, 0x0fff_ffff, 0, 0, ReturnReads.Kind.OWN),
              read(0x6838, 0xfff8, 0, 0, ReturnReads.Kind.ALL),
              read(0x0000_f8d7, 0x0fff_ffff, 0, 0, ReturnReads.Kind.ALL),
              read(0x4638, 0xfff8, 0, 0, ReturnReads.Kind.ALL),
              read(0x46b8, 0xfff8, 0, 1 << 5, ReturnReads.Kind.ALL),
              read(0x6007, 0xf807, 0, 0, ReturnReads.Kind.ALL))
          .where(Thumb::makesFrame);

  private static ReturnReads.Form read(
      int pattern, int mask, int set, int but, ReturnReads.Kind kind) {
    long written = mask == 0xfff8 ? 7 : 15;
    return new ReturnReads.Form(
        Integer.toUnsignedLong(pattern), Integer.toUnsignedLong(mask), set, written, but, kind);
  }

  private static final ReturnReads ARM_READS =
      ArmLink.reads().and(FRAME_READS.and(CLANG_FRAME_READS).fromStart());

  private static final ReturnReads ALL_THUMB_READS =
      ThumbLink.reads().and(THUMB_FRAME_READS.fromStart());

  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg -marm -mapcs-frame")
          .moment(Moment.AFTER_PROLOGUE)
          .arguments(UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3)
          .symbols(COUNTING)
          .callForms(A32.CALLS)
          .veneer(Arm::through)
          .callRelocations(0, 1, 27, 28) // R_ARM_PC24, PLT32, CALL
          .nop("04 e0 9d e4") // pop {lr}: the site has pushed it
          .lead("push {lr}", PUSH_LR, "00 00 a0 e1") // mov r0,r0: of every version, as nop is not
          .entryStub(RETURN)
          .secondEntryStub(THUMB_RETURN)
          .prologue(A32.FRAME)
          .returnAddress(Operand.register(UC_ARM_REG_LR))
          .slot(Operand.sum(UC_ARM_REG_FP, -4))
          .parent(Operand.word(UC_ARM_REG_SP, 0))
          .fpMustAgree(Operand.word(UC_ARM_REG_FP, -12), Operand.register(UC_ARM_REG_FP))
          .slotFromFp(-4)
          .remark(
              "gcc 12 knows no counting function but __gnu_mcount_nc: the older mcount is not read")
          .reads(ARM_READS)
          .build();

  private static final AbiCard MCOUNT_NOFP =
      AbiCard.named("mcount-nofp")
          .flags("-pg -marm")
          .moment(Moment.AFTER_PROLOGUE)
          .arguments(UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3)
          .symbols(COUNTING)
          .callForms(A32.CALLS)
          .veneer(Arm::through)
          .callRelocations(0, 1, 27, 28) // R_ARM_PC24, PLT32, CALL
          .nop("04 e0 9d e4") // pop {lr}: the site has pushed it
          .lead("push {lr}", PUSH_LR, "00 00 a0 e1") // mov r0,r0: of every version, as nop is not
          .entryStub(RETURN)
          .secondEntryStub(THUMB_RETURN)
          .prologue(A32.PROLOGUE.accepting(f -> !f.keepsFrame() && f.where() == Where.SAVED))
          .returnAddress(Operand.register(UC_ARM_REG_LR))
          .slots(SAVED)
          .parent(Operand.word(UC_ARM_REG_SP, 0))
          .retpAtExit(Operand.register(UC_ARM_REG_SP))
          .reads(ARM_READS)
          .build();

  private static final AbiCard THUMB_MCOUNT =
      AbiCard.named("thumb-mcount")
          .flags("-pg -mthumb")
          .moment(Moment.AFTER_PROLOGUE)
          .arguments(UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3)
          .symbols(COUNTING)
          .callForms(Thumb.CALLS)
          .veneer(Arm::through)
          .callRelocations(0, 10) // R_ARM_THM_CALL
          .nop("5d f8 04 eb") // pop.w {lr}: the site has pushed it
          .lead("push {lr}", "00 b5", "00 bf af f3 00 80") // push {lr}; nop, nop.w
          .entryStub(RETURN)
          .secondEntryStub(THUMB_RETURN)
          .prologue(Thumb.PROLOGUE)
          .returnAddress(Operand.register(UC_ARM_REG_LR))
          .slots(SAVED)
          .parent(Operand.word(UC_ARM_REG_SP, 0))
          .retpAtExit(Operand.register(UC_ARM_REG_SP))
          .remark("r7 has no fixed place in the frame")
          .reads(ALL_THUMB_READS)
          .build();

  private static final AbiCard PATCHABLE =
      AbiCard.named("patchable")
          .flags("-marm -fpatchable-function-entry=2")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3)
          .sites(SiteTable.PATCHABLE, "00 f0 20 e3", "00 00 a0 e1")
          .slots(Slot.register(UC_ARM_REG_LR, Operand.register(UC_ARM_REG_SP)))
          .fpMustAgree(Operand.register(UC_ARM_REG_FP), Operand.register(UC_ARM_REG_FP))
          .retpAtExit(Operand.register(UC_ARM_REG_SP))
          .reads(ARM_READS)
          .build();

  private static final AbiCard THUMB_PATCHABLE =
      AbiCard.named("thumb-patchable")
          .flags("-mthumb -fpatchable-function-entry=3")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_R3)
          .sites(SiteTable.PATCHABLE, "00 bf", "af f3 00 80", "c0 46") // nop, nop.w, mov r8,r8
          .slots(Slot.register(UC_ARM_REG_LR, Operand.register(UC_ARM_REG_SP)))
          .fpMustAgree(Operand.register(UC_ARM_REG_R7), Operand.register(UC_ARM_REG_R7))
          .retpAtExit(Operand.register(UC_ARM_REG_SP))
          .reads(ALL_THUMB_READS)
          .build();

  private static final String EABI5 = "compile with an arm-none-eabi or arm-linux-gnueabi gcc";

  /** The version of the EABI in {@code e_flags}: "ELF for the Arm Architecture", 5.2. */
  private static final int EABI = 0xFF00_0000;

  private static final ElfAbi ELF =
      ElfAbi.plain(
          40,
          "arm",
          ForeignAbi.byFlags(4, EABI, 0, "the old arm ABI (OABI)", EABI5),
          ForeignAbi.byFlags(4, EABI, 0x0100_0000, "arm EABI version 1", EABI5),
          ForeignAbi.byFlags(4, EABI, 0x0200_0000, "arm EABI version 2", EABI5),
          ForeignAbi.byFlags(4, EABI, 0x0300_0000, "arm EABI version 3", EABI5),
          ForeignAbi.byFlags(4, EABI, 0x0400_0000, "arm EABI version 4", EABI5));

  /**
   * What programs for processors without exclusive loads call. Threads take turns between blocks
   * only, so one block is atomic. Source: the kernel's Documentation/arch/arm/kernel_user_helpers.
   */
  private static SyscallAbi.HelperPage helpers() {
    byte[] page =
        ByteBuffer.allocate(0x1000)
            .put( // compare and exchange 64 bits: r0 = *r2 == *r0 ? (*r2 = *r1, 0) : not 0
                0xf60,
                Encoding.littleEndian(
                    0xe92d_00f0, // push {r4-r7}
                    0xe890_0030, // ldm r0, {r4, r5}
                    0xe892_00c0, // ldm r2, {r6, r7}
                    0xe026_0004, // eor r0, r6, r4
                    0xe027_3005, // eor r3, r7, r5
                    0xe190_3003, // orrs r3, r0, r3
                    0x0891_0030, // ldmeq r1, {r4, r5}
                    0x0882_0030, // stmeq r2, {r4, r5}
                    0xe8bd_00f0, // pop {r4-r7}
                    0xe273_0000, // rsbs r0, r3, #0: carry where they were equal
                    0xe12f_ff1e)) // bx lr
            .put( // memory barrier
                0xfa0, Encoding.littleEndian(0xf57f_f05b, 0xe12f_ff1e)) // dmb ish; bx lr
            .put( // compare and exchange: r0 = *r2 == r0 ? (*r2 = r1, 0) : not 0
                0xfc0,
                Encoding.littleEndian(
                    0xe592_3000, // ldr r3, [r2]
                    0xe053_3000, // subs r3, r3, r0
                    0x0582_1000, // streq r1, [r2]
                    0xe273_0000, // rsbs r0, r3, #0
                    0xe12f_ff1e)) // bx lr
            .put( // thread pointer: mrc p15, 0, r0, c13, c0, 3; bx lr
                0xfe0, Encoding.littleEndian(0xee1d_0f70, 0xe12f_ff1e))
            .put( // how many helpers there are, from the end in steps of 32 bytes
                0xffc, Encoding.littleEndian(5))
            .array();
    return new SyscallAbi.HelperPage(0xffff_0000L, ByteList.of(page));
  }

  /** {@code struct stat64}. */
  private static final StatLayout STAT =
      new StatLayout(104, eight(96), four(16), four(20), eight(48), four(56), eight(64));

  static final Isa ISA =
      new Isa(
          "arm",
          ELF,
          4,
          ByteOrder.LITTLE_ENDIAN,
          new Isa.Engine(
              UcConst.UC_ARCH_ARM,
              UcConst.UC_MODE_ARM,
              OptionalInt.empty(),
              new Isa.Leaves(UC_ARM_REG_CPSR, 0x0600_fc00)), // CPSR.IT
          CodeAddresses.mode(UC_ARM_REG_CPSR, 0x20), // CPSR.T
          new Registers(
              UC_ARM_REG_PC,
              UC_ARM_REG_SP,
              UC_ARM_REG_LR,
              UC_ARM_REG_FP,
              UC_ARM_REG_C13_C0_3, // TPIDRURO
              UC_ARM_REG_R0,
              List.of(
                  new Registers.Named("r0", UC_ARM_REG_R0, 4),
                  new Registers.Named("r1", UC_ARM_REG_R1, 4),
                  new Registers.Named("r2", UC_ARM_REG_R2, 4),
                  new Registers.Named("r3", UC_ARM_REG_R3, 4),
                  new Registers.Named("d0", UC_ARM_REG_D0, 8),
                  new Registers.Named("d1", UC_ARM_REG_D1, 8),
                  new Registers.Named("d2", UC_ARM_REG_D2, 8),
                  new Registers.Named("d3", UC_ARM_REG_D3, 8),
                  new Registers.Named("d4", UC_ARM_REG_D4, 8),
                  new Registers.Named("d5", UC_ARM_REG_D5, 8),
                  new Registers.Named("d6", UC_ARM_REG_D6, 8),
                  new Registers.Named("d7", UC_ARM_REG_D7, 8))),
          (engine, symbols) -> {
            // floating point on: CPACR.cp10 and cp11, FPEXC.EN
            engine.reg_write(UC_ARM_REG_C1_C0_2, engine.reg_read(UC_ARM_REG_C1_C0_2) | 0x00f0_0000);
            engine.reg_write(UC_ARM_REG_FPEXC, 0x4000_0000);
          },
          SyscallAbi.onInterrupt(2) // svc
              .number("arm", UC_ARM_REG_R7)
              .dialect(Dialect.EXCHANGED_FLAGS)
              .arguments(
                  UC_ARM_REG_R0,
                  UC_ARM_REG_R1,
                  UC_ARM_REG_R2,
                  UC_ARM_REG_R3,
                  UC_ARM_REG_R4,
                  UC_ARM_REG_R5)
              .pairsAligned()
              .result(UC_ARM_REG_R0)
              .stat(STAT)
              .platform("armv7l")
              .dynamic(
                  DynamicAbi.of(
                          "arm-linux-gnueabihf",
                          "libc6-armhf-cross",
                          "1e ff 2f e1",
                          Arm::importSlot)
                      .withSysroots(
                          new DynamicAbi.Sysroot(
                              "arm-linux-gnueabihf", "libc6-armhf-cross", "ld-linux-armhf.so.3"),
                          new DynamicAbi.Sysroot(
                              "arm-linux-gnueabi", "libc6-armel-cross", "ld-linux.so.3"))
                      .withSecondLeafReturn(new byte[] {0x70, 0x47})) // bx lr
              .threads(SyscallAbi.CloneAbi.backwards(UC_ARM_REG_C13_C0_3))
              .signals(signals())
              .helpers(helpers())
              .olderThanStackHeader()
              .build(),
          InterruptAbi.plain(0, 0, 8, UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2),
          new LandingCode(
              4,
              (at, tail, mailbox) -> Encoding.littleEndian(loadPc(at, mailbox)),
              (at, mailbox) -> new byte[0],
              LandingCode.Trampoline.NONE, // a branch does not change the instruction set
              8), // ldr pc reaches 4 KiB
          new Isa.Stops(
              List.of(Encoding.littleEndian(0xeaff_fffe), new byte[] {(byte) 0xfe, (byte) 0xe7}),
              Map.of(
                  1, "undefined instruction",
                  3, "prefetch abort",
                  4, "data abort",
                  7, "breakpoint")),
          List.of(MCOUNT, MCOUNT_NOFP, THUMB_MCOUNT, PATCHABLE, THUMB_PATCHABLE));

  private Arm() {}

  /**
   * {@code asm/sigcontext.h}, {@code asm/ucontext.h}:
   *
   * <pre>
   *   0    siginfo    128  ucontext, with mcontext at 20 and a record of VFP registers at 232
   * </pre>
   *
   * Handlers without SA_SIGINFO have the registers at 20, as if the context began the frame.
   */
  private static SignalAbi signals() {
    return new SignalAbi.Layout(888, 0, 0, 0, 128)
        .trampoline(4, Encoding.littleEndian(0xe3a0_70ad, 0xef00_0000)) // mov r7, 173; svc
        .stackAndMask(8, 104)
        .registers(32, 4, 4, IntStream.rangeClosed(UC_ARM_REG_R0, UC_ARM_REG_R12).toArray())
        .registers(84, 4, 4, UC_ARM_REG_SP, UC_ARM_REG_LR, UC_ARM_REG_PC)
        // N, Z, C, V, Q, GE, the state of IT, Thumb; a handler begins without flags and IT
        .flags(UC_ARM_REG_CPSR, 96, 4, 0xfe0f_fc20L, 0xff00_fe00L)
        .faultAt(100)
        .older(0, 104, 0)
        .word(232, 4, 0x5646_5001) // VFP_MAGIC
        .word(236, 4, 288)
        .registers(240, 8, 8, IntStream.rangeClosed(UC_ARM_REG_D0, UC_ARM_REG_D31).toArray())
        .registers(496, 4, 4, UC_ARM_REG_FPSCR)
        .faults(
            Map.of(
                1, new SignalAbi.Fault(SignalAbi.SIGILL, 1),
                3, new SignalAbi.Fault(SignalAbi.SIGSEGV, SignalAbi.SEGV_MAPERR),
                4, new SignalAbi.Fault(SignalAbi.SIGSEGV, SignalAbi.SEGV_MAPERR),
                7, new SignalAbi.Fault(SignalAbi.SIGTRAP, SignalAbi.TRAP_BRKPT)))
        .breakpoints("f001f0e7", "01de", "f0f700a0") // the kernel's, of A32, T16 and T32
        .build();
  }

  /**
   * AAELF32, "Procedure Linkage Table", as linkers write it: {@code [bx pc; nop;] add ip, pc, #n;
   * add ip, ip, #n; ldr pc, [ip, #n]!}. mold has {@code ldr ip, [pc, #4]; add ip, ip, pc; ldr pc,
   * [ip]} and a word.
   */
  private static OptionalLong importSlot(Code code, long address, long got) {
    long at = isFromThumb((int) code.at(address)) ? address + 4 : address;
    int add = (int) code.at(at);
    if (add == 0xe59f_c004 && code.at(at + 4) == 0xe59c_f000_e08c_c00fL) {
      return OptionalLong.of((at + 12 + (int) code.at(at + 12)) & 0xffff_ffffL);
    }
    long start = at;
    long ip = at + 8;
    while (at - start < 12 && (add & 0xffff_f000) == (at == start ? 0xe28f_c000 : 0xe28c_c000)) {
      ip += Integer.rotateRight(add & 0xff, (add >>> 8 & 0xf) * 2);
      at += 4;
      add = (int) code.at(at);
    }
    return at > start && (add & 0xffff_f000) == 0xe5bc_f000 // ldr pc, [ip, #n]!
        ? OptionalLong.of((ip + (add & 0xfff)) & 0xffff_ffffL)
        : OptionalLong.empty();
  }

  /** {@code bx pc}, and what never runs: {@code nop} or {@code b .-2}. */
  private static boolean isFromThumb(int code) {
    return code == 0x46c0_4778 || code == 0xe7fd_4778;
  }

  /**
   * AAELF32, "Veneers": {@code bx pc; nop; b to} from Thumb without {@code blx}, {@code ldr pc,
   * [pc, #-4]; .word to} where a call does not reach.
   */
  private static long through(long at, long code) {
    int branch = (int) (code >>> 32);
    if (isFromThumb((int) code) && branch >>> 24 == 0xea) {
      return at + 4 + 8 + A32.distance(branch);
    }
    return (int) code == 0xe51f_f004 ? branch & 0xffff_fffeL : at;
  }

  /** {@code ldr pc, [pc, #n]}: pc reads as the instruction's address + 8; n is below 4096. */
  private static int loadPc(long at, long mailbox) {
    return 0xe59f_f000 | (int) (mailbox - (at + 8));
  }

  /** A32: calls, and the instructions of a prologue. All have the condition "always". */
  static final class A32 {
    private static final int SP = 13;
    private static final int LR = 14;

    /** {@code bl to}; {@code blx to}, where the counting function is Thumb. */
    static final CallForm[] CALLS = {
      CallForm.bits("bl", 4, 0xeb00_0000L, 0xff00_0000L, (at, code) -> at + 8 + distance(code)),
      CallForm.bits(
          "blx",
          4,
          0xfa00_0000L,
          0xfe00_0000L,
          (at, code) -> at + 8 + distance(code) + ((code >>> 23) & 2)),
    };

    /**
     * How far sp goes down, where lr is pushed first, and whether fp is that of an APCS frame: 4
     * above lr. {@code ip} is the sp of the call there, which {@code mov ip, sp} at the start saw
     * to.
     */
    static final StackWalk PROLOGUE =
        StackWalk.of(
                code -> 4,
                form("push {list}", 0xe92d_0000L, 0xffff_0000L, (c, f) -> push(c, f)),
                form(
                    "push {r}",
                    0xe52d_0004L,
                    0xffff_0fffL,
                    (c, f) -> push(1L << ((c >>> 12) & 15), f)),
                form("vpush", 0xed2d_0a00L, 0xffbf_0e00L, (c, f) -> f.grow((c & 0xff) * 4)),
                form("sub sp,sp,#n", 0xe24d_d000L, 0xffff_f000L, (c, f) -> f.grow(immediate(c))),
                form("add sp,sp,#n", 0xe28d_d000L, 0xffff_f000L, (c, f) -> f.grow(-immediate(c))),
                form(
                    "sub fp,ip,#n",
                    0xe24c_b000L,
                    0xffff_f000L,
                    (c, f) -> f.pointAtDepth(immediate(c), 4)),
                form(
                    "add fp,sp,#n", 0xe28d_b000L, 0xffff_f000L, (c, f) -> f.point(immediate(c), 4)))
            .upTo(A32::isUnread);

    /** Where fp is not made to point at a frame, nothing of it is known. */
    static final Prologue FRAME =
        PROLOGUE.accepting(f -> f.keepsFrame() || f.where() != Where.SAVED).byFrame();

    private A32() {}

    /** {@code push {.., fp, lr}; add fp, sp, #n}, where fp points at the caller's. */
    static boolean makesFrame(Code code, long function, long end) {
      for (long at = function; at - end < 0 && at - function < FRAME_WITHIN; at += 4) {
        long two = code.at(at);
        int below = 4 * Integer.bitCount((int) two & 0x7ff);
        boolean pushes = (two & 0xffff_4800L) == 0xe92d_4800L;
        boolean points = (int) (two >>> 32) == (0xe28d_b000 | below);
        boolean copies = below == 0 && (int) (two >>> 32) == 0xe1a0_b00d; // mov fp, sp
        if (pushes && (points || copies)) {
          return true;
        }
      }
      return false;
    }

    /** {@code sub fp, ip, #n}. */
    static boolean makesApcsFrame(Code code, long function, long end) {
      for (long at = function; at - end < 0 && at - function < FRAME_WITHIN; at += 4) {
        if ((code.at(at) & 0xffff_f000L) == 0xe24c_b000L) {
          return true;
        }
      }
      return false;
    }

    /** Branches, of which prologues have loops only, and what else writes sp. */
    private static boolean isUnread(long code) {
      boolean branches = (code & 0x0e00_0000L) == 0x0a00_0000L;
      boolean clears = (code & 0x0fe0_007fL) == 0x07c0_001fL; // bfc
      boolean computes = (code & 0x0c00_0000L) == 0 && (code & 0x0180_0000L) != 0x0100_0000L;
      boolean writesBack =
          (code & 0x0c00_0000L) == 0x0400_0000L && (code & 0x0120_0000L) != 0x0100_0000L;
      boolean pops = (code & 0x0e20_0000L) == 0x0820_0000L;
      return branches
          || ((computes || clears) && (code >>> 12 & 15) == SP)
          || ((writesBack || pops) && (code >>> 16 & 15) == SP);
    }

    private static Form form(String text, long pattern, long mask, StackWalk.Effect effect) {
      return new Form(text, 4, pattern, mask, effect);
    }

    /** Registers are pushed with the lowest number at the lowest address. */
    static void push(long code, StackWalk.Frame frame) {
      int list = (int) code & 0xffff;
      frame.grow(4L * Integer.bitCount(list));
      if ((list >>> LR & 1) != 0) {
        frame.save(4L * Integer.bitCount(list & ((1 << LR) - 1)));
      }
    }

    /** Signed 24-bit number of words. */
    static long distance(long code) {
      int words = (int) code << 8 >> 8;
      return 4L * words;
    }

    /** Eight bits, rotated right by twice the number above them. */
    private static long immediate(long code) {
      return Integer.rotateRight((int) code & 0xff, ((int) code >>> 8 & 15) * 2) & 0xffff_ffffL;
    }
  }

  /**
   * Thumb-2: calls, and the instructions of a prologue, T1 to T4. An instruction of 32 bits is two
   * halfwords, the first one low in the numbers here.
   */
  static final class Thumb {
    /** {@code bl to}; {@code blx to}, where the counting function is A32. */
    static final CallForm[] CALLS = {
      CallForm.bits("bl", 4, 0xd000_f000L, 0xd000_f800L, (at, code) -> at + 4 + distance(code)),
      CallForm.bits(
          "blx", 4, 0xc000_f000L, 0xd001_f800L, (at, code) -> (at + 4 & -4) + distance(code)),
    };

    /** How far sp goes down, and where lr is pushed first. */
    static final StackWalk PROLOGUE =
        StackWalk.of(
                Thumb::length,
                form("push {list}", 2, 0xb400, 0xfe00, (c, f) -> A32.push(narrowList(c), f)),
                form(
                    "push.w {list}",
                    4,
                    0x0000_e92dL,
                    0x0000_ffffL,
                    (c, f) -> A32.push(c >>> 16, f)),
                form(
                    "push.w {r}",
                    4,
                    0x0d04_f84dL,
                    0x0fff_ffffL,
                    (c, f) -> A32.push(1L << ((c >>> 28) & 15), f)),
                form(
                    "vpush",
                    4,
                    0x0a00_ed2dL,
                    0x0e00_ffbfL,
                    (c, f) -> f.grow((c >>> 16 & 0xff) * 4)),
                form("sub sp,#n", 2, 0xb080, 0xff80, (c, f) -> f.grow((c & 0x7f) * 4)),
                form("add sp,#n", 2, 0xb000, 0xff80, (c, f) -> f.grow((c & 0x7f) * -4)),
                form(
                    "sub.w sp,sp,#n", 4, 0x0d00_f1adL, 0x8f00_fbffL, (c, f) -> f.grow(constant(c))),
                form(
                    "add.w sp,sp,#n",
                    4,
                    0x0d00_f10dL,
                    0x8f00_fbffL,
                    (c, f) -> f.grow(-constant(c))),
                form("subw sp,sp,#n", 4, 0x0d00_f2adL, 0x8f00_fbffL, (c, f) -> f.grow(plain(c))),
                form("addw sp,sp,#n", 4, 0x0d00_f20dL, 0x8f00_fbffL, (c, f) -> f.grow(-plain(c))))
            .upTo(Thumb::isUnread);

    private Thumb() {}

    /** {@code push {.., r7, lr}; add r7, sp, #n}, where r7 points at the caller's. */
    static boolean makesFrame(Code code, long function, long end) {
      for (long at = function; at - end < 0 && at - function < FRAME_WITHIN; at += 2) {
        int word = (int) code.at(at);
        int below = Integer.bitCount(word & 0x7f);
        boolean pushes = (word & 0xff80) == 0xb580;
        boolean copies = below == 0 && word >>> 16 == 0x466f; // mov r7, sp
        if (pushes && (copies || word >>> 16 == (0xaf00 | below))) {
          return true;
        }
      }
      return false;
    }

    /** Bytes of an instruction. */
    static int length(long code) {
      return (code & 0xf800) >= 0xe800 ? 4 : 2;
    }

    /**
     * Branches, of which prologues have loops only, and what else writes sp; a register that is
     * moved to lr, because what is pushed for the counting function is not the return address then.
     */
    private static boolean isUnread(long code) {
      int first = (int) code & 0xffff;
      if (first >>> 11 < 0b11101) {
        boolean branches = (first & 0xf000) == 0xd000 || (first & 0xf500) == 0xb100;
        boolean high = (first & 0xfc00) == 0x4400 && (first & 0x0300) != 0x0100;
        int to = (first & 7) | (first >>> 4 & 8);
        return branches || first >>> 11 == 0b11100 || (high && (to == 13 || to == 14));
      }
      int second = (int) (code >>> 16) & 0xffff;
      boolean branches = first >>> 11 == 0b11110 && (second & 0xd000) == 0x8000;
      boolean computes =
          (first & 0xfe00) == 0xea00 || (first >>> 11 == 0b11110 && (second & 0x8000) == 0);
      return branches || (computes && (second >>> 8 & 15) == 13);
    }

    private static Form form(
        String text, int size, long pattern, long mask, StackWalk.Effect effect) {
      return new Form(text, size, pattern, mask, effect);
    }

    /** r0 to r7 in bits 0 to 7, lr in bit 8. */
    private static long narrowList(long code) {
      return (code & 0xff) | (code & 0x100) << 6;
    }

    /** S:I1:I2:imm10:imm11:0, where I1 and I2 are J1 and J2, inverted where S is clear. */
    static long distance(long code) {
      long sign = code >>> 10 & 1;
      long i1 = ~(code >>> 29 ^ sign) & 1;
      long i2 = ~(code >>> 27 ^ sign) & 1;
      long bits =
          sign << 24 | i1 << 23 | i2 << 22 | (code & 0x3ff) << 12 | (code >>> 16 & 0x7ff) << 1;
      return bits << 39 >> 39;
    }

    /** The 12 bits i:imm3:imm8. */
    private static long plain(long code) {
      return (code >>> 10 & 1) << 11 | (code >>> 28 & 7) << 8 | (code >>> 16 & 0xff);
    }

    /** What these bits stand for as a "modified immediate constant" (A6.3.2). */
    private static long constant(long code) {
      int bits = (int) plain(code);
      int low = bits & 0xff;
      return switch (bits >>> 8) {
        case 0 -> low;
        case 1 -> low | low << 16;
        case 2 -> (low << 8 | low << 24) & 0xffff_ffffL;
        case 3 -> (low | low << 8 | low << 16 | low << 24) & 0xffff_ffffL;
        default -> Integer.rotateRight((low & 0x7f) | 0x80, bits >>> 7) & 0xffff_ffffL;
      };
    }
  }
}
