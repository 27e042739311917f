package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.PpcConst.*;

import dev.retstack.fleet.isa.AbiCard.Moment;
import dev.retstack.unicorn.Context;
import dev.retstack.unicorn.UcConst;
import dev.retstack.unicorn.Unicorn;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The conventions of 64-bit PowerPC, which differ between {@link Ppc64} (ELFv1) and {@link Ppc64le}
 * (ELFv2) in the order of bytes only. Sources: 64-bit PowerPC ELF ABI Supplement 1.9, 3.2 "Function
 * Calling Sequence"; 64-Bit ELF V2 ABI Specification, 2.2 "Function Call Linkage Protocols". Both
 * have the back chain at 0(r1), and the doubleword at 16(r1) where the callee saves lr.
 *
 * <pre>
 * -pg: called behind the prologue               -pg -mprofile-kernel: called first
 *
 *   f: mflr r0                                    f: mflr r0
 *      std  r31,-8(r1)                               std  r0,16(r1)          compilers before gcc 6
 *      std  r0,16(r1)                                bl   _mcount            selfpc
 *      stdu r1,-n(r1)                                std  r31,-8(r1)
 *      mr   r31,r1                                   stdu r1,-n(r1)
 *      bl   _mcount             selfpc               ...
 *      nop                                           mtlr r0
 *      ...                                           blr
 *      ld   r0,16(r1)
 *      mtlr r0
 *      blr                                      -fpatchable-function-entry=2
 *
 *                                                 f: nop; nop                selfpc
 *                                                    ...
 * in _mcount, -pg                               in _mcount, -mprofile-kernel
 *   lr               return address: selfpc + 4   lr    return address: selfpc + 4
 *   16(back chain)   frompc; retp                 r0    frompc; retp = r1 + 16
 *                                               at the first nop
 *                                                 lr    frompc; retp = r1 + 16
 *
 * at entry, but not with plain -pg: r31 is the caller's frame pointer, callee-saved; with plain -pg
 * it was saved below the floating-point registers that the function saves
 * in return_to_handler, everywhere: r1 is the caller's again, retp = r1 + 16; r31 is the caller's
 * </pre>
 *
 * All but the last call the same function. What stands directly before the call tells them apart.
 * With -mprofile-kernel it returns by ctr and gives lr back what is in r0, from which the function
 * saves it again; this also does where the call is an ordinary one. A nested function saves its
 * static chain ({@code std r11,24(r1)}) behind the mflr.
 */
record Power64(Power power) {
  private static final int STD_R0_16_R1 = 0xf801_0010;
  private static final int STD_R11_24_R1 = 0xf961_0018;

  /** 64-bit mode, which the engine's reset leaves off. */
  private static final long MSR_SIXTY_FOUR = 1L << 63;

  /** Hypervisor: without it addresses are translated, by tables that do not exist. */
  private static final long MSR_HYPERVISOR = 1L << 60;

  private static final long MSR_VECTORS = 1L << 25 | 1L << 23;
  private static final long MSR_LITTLE_ENDIAN = 1;

  /** Where every function of both ABIs saves lr. */
  private static final Operand SAVE_WORD = Operand.sum(UC_PPC_REG_1, 16);

  static Power64 of(ByteOrder order) {
    return new Power64(new Power(order, 8));
  }

  List<AbiCard> cards() {
    return List.of(mcount(), profileKernel(), profileKernel3(), power.patchable(SAVE_WORD));
  }

  private AbiCard mcount() {
    return counting("mcount", "-pg")
        .callForms(power.call().skippedBy(power.skip())) // it gives lr what lr had
        .moment(Moment.AFTER_PROLOGUE)
        .prologue(this::ordinary)
        .slot(Operand.wordPlus(UC_PPC_REG_1, 0, 16))
        .retpAtExit(SAVE_WORD)
        .remark("the caller's frame pointer has no fixed place")
        .build();
  }

  private AbiCard profileKernel() {
    return first("profile-kernel")
        .lead("mflr r0", power.hex(Power.MFLR_R0), power.hex(Power.NOP))
        .prologue(this::twoInstructions)
        .remark("gcc 6 and later")
        .build();
  }

  private AbiCard profileKernel3() {
    return first("profile-kernel-3")
        .lead(
            "mflr r0; std r0,16(r1)", power.hex(Power.MFLR_R0, STD_R0_16_R1), power.hex(Power.NOP))
        .prologue(this::threeInstructions)
        .remark("compilers before gcc 6")
        .build();
  }

  /** A call ahead of the prologue. */
  private AbiCardBuilder first(String name) {
    return counting(name, "-pg -mprofile-kernel")
        .moment(Moment.BEFORE_PROLOGUE)
        .arguments(Power.ARGUMENTS)
        .slots(Slot.register(UC_PPC_REG_0, SAVE_WORD))
        .fpMustAgree(Operand.register(UC_PPC_REG_31), Operand.register(UC_PPC_REG_31))
        .retpAtExit(SAVE_WORD);
  }

  private AbiCardBuilder counting(String name, String flags) {
    return AbiCard.named(name)
        .flags(flags)
        .symbols("_mcount")
        .callForms(power.call())
        .callRelocations(0, 10, 116) // R_PPC64_REL24, REL24_NOTOC
        .nop(power.hex(Power.NOP))
        // mflr r12; mtctr r12; mtlr r0; bctr
        .entryStub(power.hex(0x7d88_02a6, 0x7d89_03a6, 0x7c08_03a6, 0x4e80_0420))
        .returnAddress(Operand.register(UC_PPC_REG_LR));
  }

  private Optional<SiteFacts> twoInstructions(Code code, long function, long site, long after) {
    return take(
        power.precedes(code, site, Power.MFLR_R0)
            || power.precedes(code, site, Power.MFLR_R0, STD_R11_24_R1));
  }

  private Optional<SiteFacts> threeInstructions(Code code, long function, long site, long after) {
    return take(
        power.precedes(code, site, Power.MFLR_R0, STD_R0_16_R1)
            || power.precedes(code, site, Power.MFLR_R0, STD_R11_24_R1, STD_R0_16_R1)
            || power.precedes(code, site, Power.MFLR_R0, STD_R0_16_R1, STD_R11_24_R1));
  }

  /** All other calls: a prologue with a frame ends otherwise. */
  private Optional<SiteFacts> ordinary(Code code, long function, long site, long after) {
    return take(
        twoInstructions(code, function, site, after).isEmpty()
            && threeInstructions(code, function, site, after).isEmpty());
  }

  private static Optional<SiteFacts> take(boolean yes) {
    return yes ? Optional.of(SiteFacts.NONE) : Optional.empty();
  }

  /** Opened big-endian always: a bit of MSR turns the order. */
  static Isa.Engine engine() {
    return new Isa.Engine(
        UcConst.UC_ARCH_PPC,
        UcConst.UC_MODE_PPC64 | UcConst.UC_MODE_BIG_ENDIAN,
        OptionalInt.empty());
  }

  static Registers registers(List<Registers.Named> results) {
    return new Registers(
        UC_PPC_REG_PC,
        UC_PPC_REG_1,
        UC_PPC_REG_LR,
        UC_PPC_REG_31,
        Registers.NONE, // r13, which programs set themselves
        UC_PPC_REG_3,
        results);
  }

  /**
   * Sets MSR. Unicorn does not let the hypervisor bit be written, so it is set in a saved context.
   */
  void start(Unicorn engine) {
    long wanted =
        MSR_SIXTY_FOUR
            | MSR_VECTORS
            | Power.MSR_FLOATING_POINT
            | (power.order() == ByteOrder.LITTLE_ENDIAN ? MSR_LITTLE_ENDIAN : 0);
    engine.reg_write(UC_PPC_REG_MSR, wanted);
    long got = engine.reg_read(UC_PPC_REG_MSR);
    try (Context context = engine.context_alloc()) {
      engine.context_save(context);
      MemorySegment bytes = context.bytes();
      boolean found = false;
      // MSR itself, and the flags that the engine keeps of it
      for (long at = 0; at + Long.BYTES <= bytes.byteSize(); at += Long.BYTES) {
        if (bytes.get(ValueLayout.JAVA_LONG_UNALIGNED, at) == got) {
          bytes.set(ValueLayout.JAVA_LONG_UNALIGNED, at, got | MSR_HYPERVISOR);
          found = true;
        }
      }
      if (!found) {
        throw new IllegalStateException(
            "msr 0x%x is nowhere in a saved context of libunicorn: use version 2.1.4"
                .formatted(got));
      }
      engine.context_restore(context);
    }
  }
}
