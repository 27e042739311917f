package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.X86Const.*;

import dev.retstack.fleet.isa.AbiCard.Moment;
import dev.retstack.fleet.isa.AbiCard.SiteTable;
import dev.retstack.unicorn.UcConst;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.OptionalInt;

/**
 * x86_64. Source: System V Application Binary Interface, AMD64 Architecture Processor Supplement,
 * 3.2 "Function Calling Sequence" and A.2 "AMD64 Linux Kernel Conventions".
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
 * A nested function of gcc pushes %r10 before it calls __fentry__: {@link X86}. A call is {@code e8
 * rel32} without PIC; {@code ff 15} through the GOT with PIC, which a static linker relaxes to
 * {@code 67 e8}. Results: rax rdx, xmm0 xmm1, st(0) st(1); stores and a jump through memory keep
 * them, the flags and everything else.
 */
final class X86_64 {
  private static final CallForm[] CALLS = {
    X86.RELAXED_CALL,
    CallForm.indirect(
            "call *GOT(%rip)", "ff 15 .. .. .. ..", (at, code) -> at + 6 + (int) (code >> 16))
        .skippedBy(X86.LONG_SKIP, X86.LONG_NOP),
    X86.CALL,
  };

  private static final AbiCard FENTRY =
      AbiCard.named("fentry")
          .flags("-pg -mfentry")
          .moment(Moment.BEFORE_PROLOGUE)
          .arguments(
              UC_X86_REG_RDI,
              UC_X86_REG_RSI,
              UC_X86_REG_RDX,
              UC_X86_REG_RCX,
              UC_X86_REG_R8,
              UC_X86_REG_R9)
          .symbols("__fentry__")
          .callForms(CALLS)
          // R_X86_64_PC32, PLT32, GOTPCREL, GOTPCRELX; the shorter call behind the longer ones
          .callRelocations(2, 2, 4, 9, 41)
          .callRelocations(1, 2, 4)
          .nop("0f 1f 44 00 00", "66 0f 1f 44 00 00")
          .entryStub("c3")
          .prologue(X86.beforeFrame(8))
          .returnAddress(Operand.word(UC_X86_REG_RSP, 0))
          .slots(Slot.saved(Operand.sum(UC_X86_REG_RSP, 8)))
          .fpMustAgree(Operand.register(UC_X86_REG_RBP), Operand.register(UC_X86_REG_RBP))
          .retpAtExit(Operand.sum(UC_X86_REG_RSP, -8))
          .slotFromFpBySite(8)
          .remark("right also where the stack is realigned")
          .build();

  private static final AbiCard MCOUNT =
      AbiCard.named("mcount")
          .flags("-pg")
          .moment(Moment.AFTER_PROLOGUE)
          .arguments(
              UC_X86_REG_RDI,
              UC_X86_REG_RSI,
              UC_X86_REG_RDX,
              UC_X86_REG_RCX,
              UC_X86_REG_R8,
              UC_X86_REG_R9)
          .symbols("mcount", "_mcount")
          .callForms(CALLS)
          // R_X86_64_PC32, PLT32, GOTPCREL, GOTPCRELX; the shorter call behind the longer ones
          .callRelocations(2, 2, 4, 9, 41)
          .callRelocations(1, 2, 4)
          .nop("0f 1f 44 00 00", "66 0f 1f 44 00 00")
          .entryStub("c3")
          .prologue(X86.behindFrame(8))
          .returnAddress(Operand.word(UC_X86_REG_RSP, 0))
          .slots(Slot.memory(Operand.sum(UC_X86_REG_RBP, 8)).whereSaved())
          .fpMustAgree(Operand.word(UC_X86_REG_RBP, 0), Operand.register(UC_X86_REG_RBP))
          .retpAtExit(Operand.sum(UC_X86_REG_RSP, -8))
          .slotFromFp(8)
          .remark(
              "gcc copies the slot where it realigns the stack of an alloca: use -mfentry there")
          .build();

  private static final AbiCard PATCHABLE =
      entered("patchable")
          .flags("-fpatchable-function-entry=5")
          .sites(SiteTable.PATCHABLE, X86.NOPS)
          .prologue(X86.beforeFrame(8))
          .slotFromFpBySite(8)
          .remark("the nops stay: the site is seen, not patched")
          .build();

  private static final AbiCard FENTRY_NOP =
      entered("fentry-nop")
          .flags("-pg -mfentry -mrecord-mcount -mnop-mcount")
          .sites(SiteTable.MCOUNT_LOC, X86.NOPS)
          .prologue(X86.firstNop(8, 0x5241, 2))
          .slotFromFpBySite(8)
          .remark("one nop of five bytes: the site is seen, not patched")
          .build();

  private static final AbiCard MCOUNT_NOP =
      entered("mcount-nop")
          .flags("-pg -mrecord-mcount -mnop-mcount")
          .sites(SiteTable.MCOUNT_LOC, X86.NOPS)
          .prologue(X86.nopBehindFrame(8))
          .slotFromFp(8)
          .atSite(
              AbiCard.named("mcount-nop")
                  .flags("-pg -mrecord-mcount -mnop-mcount")
                  .moment(Moment.AFTER_PROLOGUE)
                  .arguments(
                      UC_X86_REG_RDI,
                      UC_X86_REG_RSI,
                      UC_X86_REG_RDX,
                      UC_X86_REG_RCX,
                      UC_X86_REG_R8,
                      UC_X86_REG_R9)
                  .sites(SiteTable.MCOUNT_LOC, X86.NOPS)
                  .slots(Slot.memory(Operand.sum(UC_X86_REG_RBP, 8)).whereSaved())
                  .fpMustAgree(Operand.word(UC_X86_REG_RBP, 0), Operand.register(UC_X86_REG_RBP))
                  .retpAtExit(Operand.sum(UC_X86_REG_RSP, -8))
                  .slotFromFp(8)
                  .build())
          .remark("one nop behind the prologue: the function is entered at its beginning")
          .build();

  static final Isa ISA =
      new Isa(
          "x86_64",
          62,
          8,
          ByteOrder.LITTLE_ENDIAN,
          new Isa.Engine(UcConst.UC_ARCH_X86, UcConst.UC_MODE_64, OptionalInt.empty()),
          CodeAddresses.PLAIN,
          new Registers(
              UC_X86_REG_RIP,
              UC_X86_REG_RSP,
              Registers.NONE,
              UC_X86_REG_RBP,
              UC_X86_REG_FS_BASE,
              UC_X86_REG_RAX,
              List.of(
                  new Registers.Named("rax", UC_X86_REG_RAX, 8),
                  new Registers.Named("rdx", UC_X86_REG_RDX, 8),
                  new Registers.Named("xmm0", UC_X86_REG_XMM0, 16),
                  new Registers.Named("xmm1", UC_X86_REG_XMM1, 16),
                  new Registers.Named("st0", UC_X86_REG_ST0, 10),
                  new Registers.Named("st1", UC_X86_REG_ST1, 10))),
          (engine, symbols) -> {
            // psABI 3.4.1: x87 extended precision and round to nearest, all exceptions masked; the
            // engine starts with zeroes, which is single precision
            engine.reg_write(UC_X86_REG_FPCW, 0x37f);
            engine.reg_write(UC_X86_REG_MXCSR, 0x1f80);
          },
          SyscallAbi.onInstruction(UC_X86_INS_SYSCALL)
              .number(SyscallAbi.Numbers.X86_64, UC_X86_REG_RAX)
              .arguments(
                  UC_X86_REG_RDI,
                  UC_X86_REG_RSI,
                  UC_X86_REG_RDX,
                  UC_X86_REG_R10,
                  UC_X86_REG_R8,
                  UC_X86_REG_R9)
              .result(UC_X86_REG_RAX)
              .platform("x86_64")
              .build(),
          LandingCode.oneBlock(32, X86_64::wayOut, X86::jump),
          X86.STOPS,
          List.of(FENTRY, MCOUNT, FENTRY_NOP, MCOUNT_NOP, PATCHABLE));

  private X86_64() {}

  /** What all functions share that are entered at their first instruction. */
  private static AbiCardBuilder entered(String name) {
    return AbiCard.named(name)
        .moment(Moment.BEFORE_PROLOGUE)
        .arguments(
            UC_X86_REG_RDI,
            UC_X86_REG_RSI,
            UC_X86_REG_RDX,
            UC_X86_REG_RCX,
            UC_X86_REG_R8,
            UC_X86_REG_R9)
        .slot(Operand.sum(UC_X86_REG_RSP, 0))
        .fpMustAgree(Operand.register(UC_X86_REG_RBP), Operand.register(UC_X86_REG_RBP))
        .retpAtExit(Operand.sum(UC_X86_REG_RSP, -8));
  }

  /** {@code jmp *mailbox(%rip)}. */
  private static byte[] wayOut(long at, long mailbox) {
    int bytes = 6;
    return ByteBuffer.allocate(bytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(new byte[] {(byte) 0xff, 0x25})
        .putInt((int) (mailbox - at) - bytes)
        .array();
  }
}
