package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.X86Const.*;

import dev.retstack.fleet.isa.AbiCard.Moment;
import dev.retstack.fleet.isa.AbiCard.SiteTable;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.OptionalInt;

/**
 * i386. Source: System V Application Binary Interface, Intel386 Architecture Processor Supplement,
 * 3 "Function Calling Sequence" and "Process Initialization".
 *
 * <pre>
 * -pg -mfentry: called first                   -pg: called behind the prologue
 *
 *   f: call __fentry__       selfpc              f: push %ebp
 *      push %ebp                                    mov  %esp,%ebp
 *      mov  %esp,%ebp                               push ...
 *      ...                                          call mcount              selfpc
 *      ret                                          ...
 *                                                   leave; ret
 * in __fentry__                                in mcount
 *   0(%esp)  return address: selfpc + call       0(%esp)  return address: selfpc + call
 *   4(%esp)  frompc; retp = esp + 4              0(%ebp)  caller's frame pointer
 *   %ebp     caller's frame pointer              4(%ebp)  frompc; retp = ebp + 4
 *
 * -fpatchable-function-entry=5: f begins with nops; at the first
 *   0(%esp)  frompc; retp = esp
 *   %ebp     caller's frame pointer
 *
 * -mrecord-mcount -mnop-mcount: a nop of five bytes in place of the call, entered likewise
 *
 * in return_to_handler, all: the ret has popped the slot, retp = esp - 4; behind ret $4, which pops
 * the address of a struct result as well, retp = esp - 8; %ebp is the caller's again
 * </pre>
 *
 * A nested function of gcc pushes %ecx before it calls __fentry__: {@link X86}. Arguments lie on
 * the stack, so the slot of a call with many lies below that of a dead frame that had none: the
 * caller's frame pointer tells which frame called. A call is {@code e8 rel32}; with PIC {@code ff
 * 93}, by the address of the GOT in %ebx, or what a static linker makes of it, {@code 67 e8}.
 * Results: eax edx, st(0), xmm0, memory; a jump through memory keeps them, the flags and everything
 * else.
 */
final class I386 {
  private static final CallForm[] CALLS = {
    X86.RELAXED_CALL,
    CallForm.indirectFrom(
            "_GLOBAL_OFFSET_TABLE_",
            "call *GOT(%ebx)",
            "ff 93 .. .. .. ..",
            (at, code) -> (int) (code >> 16))
        .skippedBy(X86.LONG_SKIP),
    X86.CALL,
  };

  private static final Operand RETURNED = Operand.sum(UC_X86_REG_ESP, -4);
  private static final Operand RETURNED_POPPING_4 = Operand.sum(UC_X86_REG_ESP, -8);

  private static final AbiCard FENTRY =
      AbiCard.named("fentry")
          .flags("-pg -mfentry")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(Operand.sum(UC_X86_REG_ESP, 8), 6, 4)
          .symbols("__fentry__")
          .callForms(CALLS)
          // R_386_PC32, PLT32, GOT32, GOT32X; the shorter call behind the longer ones
          .callRelocations(2, 2, 4, 3, 43)
          .callRelocations(1, 2, 4)
          .nop("0f 1f 44 00 00", "66 0f 1f 44 00 00")
          .entryStub("c3")
          .prologue(X86.beforeFrame(4))
          .returnAddress(Operand.word(UC_X86_REG_ESP, 0))
          .slots(Slot.saved(Operand.sum(UC_X86_REG_ESP, 4)))
          .fpMustAgree(Operand.register(UC_X86_REG_EBP), Operand.register(UC_X86_REG_EBP))
          .retpAtExit(RETURNED, RETURNED_POPPING_4)
          .slotFromFpBySite(4)
          .remark(
              "right also where the stack is realigned; without frame pointers a frame that a"
                  + " longjmp left may pass for a caller")
          .build();

  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg")
          .moment(Moment.AFTER_PROLOGUE)
          .arguments(Operand.sum(UC_X86_REG_EBP, 8), 6, 4)
          .symbols("mcount", "_mcount")
          .callForms(CALLS)
          // R_386_PC32, PLT32, GOT32, GOT32X; the shorter call behind the longer ones
          .callRelocations(2, 2, 4, 3, 43)
          .callRelocations(1, 2, 4)
          .nop("0f 1f 44 00 00", "66 0f 1f 44 00 00")
          .entryStub("c3")
          .prologue(X86.behindFrame(4))
          .returnAddress(Operand.word(UC_X86_REG_ESP, 0))
          .slots(Slot.memory(Operand.sum(UC_X86_REG_EBP, 4)).whereSaved())
          .fpMustAgree(Operand.word(UC_X86_REG_EBP, 0), Operand.register(UC_X86_REG_EBP))
          .retpAtExit(RETURNED, RETURNED_POPPING_4)
          .slotFromFp(4)
          .remark(
              "gcc copies the slot where it realigns the stack: use -mfentry, or"
                  + " -maccumulate-outgoing-args where there is no alloca")
          .build();

  private static final AbiCard PATCHABLE =
      entered("patchable")
          .flags("-fpatchable-function-entry=5")
          .sites(SiteTable.PATCHABLE, X86.NOPS)
          .prologue(X86.beforeFrame(4))
          .slotFromFpBySite(4)
          .remark(
              "the nops stay: the site is seen, not patched; without frame pointers a frame that a"
                  + " longjmp left may pass for a caller")
          .build();

  /** Where Linux writes the descriptors of segments: near the top, out of everybody's way. */
  private static final long DESCRIPTORS = 0xffff_0000L;

  private static final int DESCRIPTORS_BYTES = 4096;

  /** Linux's selector of flat data for the privilege that the engine runs at. */
  private static final int KERNEL_DATA = 13 * 8;

  private static final AbiCard FENTRY_NOP =
      entered("fentry-nop")
          .flags("-pg -mfentry -mrecord-mcount -mnop-mcount")
          .sites(SiteTable.MCOUNT_LOC, X86.NOPS)
          .prologue(X86.firstNop(4, 0x51, 1))
          .slotFromFpBySite(4)
          .remark("one nop of five bytes: the site is seen, not patched")
          .build();

  private static final AbiCard MCOUNT_NOP =
      entered("mcount-nop")
          .flags("-pg -mrecord-mcount -mnop-mcount")
          .sites(SiteTable.MCOUNT_LOC, X86.NOPS)
          .prologue(X86.nopBehindFrame(4))
          .slotFromFp(4)
          .atSite(
              AbiCard.named("mcount-nop")
                  .flags("-pg -mrecord-mcount -mnop-mcount")
                  .moment(Moment.AFTER_PROLOGUE)
                  .arguments(Operand.sum(UC_X86_REG_EBP, 8), 6, 4)
                  .sites(SiteTable.MCOUNT_LOC, X86.NOPS)
                  .slots(Slot.memory(Operand.sum(UC_X86_REG_EBP, 4)).whereSaved())
                  .fpMustAgree(Operand.word(UC_X86_REG_EBP, 0), Operand.register(UC_X86_REG_EBP))
                  .retpAtExit(RETURNED, RETURNED_POPPING_4)
                  .slotFromFp(4)
                  .build())
          .remark("one nop behind the prologue: the function is entered at its beginning")
          .build();

  static final Isa ISA =
      new Isa(
          "i386",
          3,
          4,
          ByteOrder.LITTLE_ENDIAN,
          new Isa.Engine(UcConst.UC_ARCH_X86, UcConst.UC_MODE_32, OptionalInt.empty()),
          CodeAddresses.PLAIN,
          new Registers(
              UC_X86_REG_EIP,
              UC_X86_REG_ESP,
              Registers.NONE,
              UC_X86_REG_EBP,
              Registers.NONE,
              UC_X86_REG_EAX,
              List.of(
                  new Registers.Named("eax", UC_X86_REG_EAX, 4),
                  new Registers.Named("edx", UC_X86_REG_EDX, 4),
                  new Registers.Named("st0", UC_X86_REG_ST0, 10),
                  new Registers.Named("xmm0", UC_X86_REG_XMM0, 16))),
          (engine, symbols) -> {
            // psABI, "Process Initialization": extended precision, round to nearest, all exceptions
            // masked; the engine starts with zeroes, which is single precision
            engine.reg_write(UC_X86_REG_FPCW, 0x37f);
            engine.reg_write(UC_X86_REG_MXCSR, 0x1f80);
            loadSegments(engine);
          },
          SyscallAbi.onInterrupt(0x80) // int $0x80
              .number(SyscallAbi.Numbers.I386, UC_X86_REG_EAX)
              .arguments(
                  UC_X86_REG_EBX,
                  UC_X86_REG_ECX,
                  UC_X86_REG_EDX,
                  UC_X86_REG_ESI,
                  UC_X86_REG_EDI,
                  UC_X86_REG_EBP)
              .result(UC_X86_REG_EAX)
              .platform("i686")
              .readImpliesExecute()
              .descriptorTable(DESCRIPTORS)
              .build(),
          LandingCode.oneBlock(32, I386::wayOut, X86::jump),
          X86.STOPS,
          List.of(FENTRY, MCOUNT, FENTRY_NOP, MCOUNT_NOP, PATCHABLE));

  private I386() {}

  /** What all functions share that are entered at their first instruction. */
  private static AbiCardBuilder entered(String name) {
    return AbiCard.named(name)
        .moment(Moment.BEFORE_PROLOGUE)
        .arguments(Operand.sum(UC_X86_REG_ESP, 4), 6, 4)
        .slot(Operand.sum(UC_X86_REG_ESP, 0))
        .fpMustAgree(Operand.register(UC_X86_REG_EBP), Operand.register(UC_X86_REG_EBP))
        .retpAtExit(RETURNED, RETURNED_POPPING_4);
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

  /** {@code jmp *mailbox}. */
  private static byte[] wayOut(long at, long mailbox) {
    return ByteBuffer.allocate(6)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(new byte[] {(byte) 0xff, 0x25})
        .putInt((int) mailbox)
        .array();
  }
}
