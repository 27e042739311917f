package dev.retstack.fleet.isa;

import static dev.retstack.unicorn.Arm64Const.*;
import static dev.retstack.unicorn.ArmConst.*;
import static dev.retstack.unicorn.MipsConst.*;
import static dev.retstack.unicorn.PpcConst.*;
import static dev.retstack.unicorn.RiscvConst.*;
import static dev.retstack.unicorn.S390xConst.*;
import static dev.retstack.unicorn.SparcConst.*;
import static dev.retstack.unicorn.X86Const.*;

import java.util.List;

/**
 * What the emulator must know to call a C function on a stack that belongs to other code, by the
 * psABI of each ISA: how an interrupt gets to its handler.
 *
 * @param arguments registers of the first three integer arguments; none where they lie on the stack
 * @param redZone bytes below the stack pointer that a function may use without moving it
 * @param calleeArea bytes at the stack pointer of a call that belong to the function called, or
 *     that hold its arguments
 * @param alignment of the stack pointer at a call, before a return address is pushed; at least
 * @param backChain true where the word at the stack pointer names the frame above
 * @param entryRegister holds the address of a function that is called by pointer; {@link
 *     Registers#NONE} where none does
 * @param tocRegister is loaded from the function descriptor; {@link Registers#NONE} where functions
 *     are named by their code
 */
public record InterruptAbi(
    List<Integer> arguments,
    int redZone,
    int calleeArea,
    int alignment,
    boolean backChain,
    int entryRegister,
    int tocRegister) {

  private static final int NONE = Registers.NONE;

  public InterruptAbi {
    arguments = List.copyOf(arguments);
  }

  /** That of an ISA of {@link Isas}. */
  public static InterruptAbi of(Isa isa) {
    return switch (isa.name()) {
      // System V AMD64 psABI, 3.2.2: red zone
      case "x86_64" -> plain(128, 0, 16, UC_X86_REG_RDI, UC_X86_REG_RSI, UC_X86_REG_RDX);
      // i386 psABI 1.1 and m68k SVR4 psABI: three words of arguments
      case "i386", "m68k" -> plain(0, 12, 16);
      case "aarch64" -> plain(0, 0, 16, UC_ARM64_REG_X0, UC_ARM64_REG_X1, UC_ARM64_REG_X2);
      case "arm" -> plain(0, 0, 8, UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2);
      case "riscv64", "riscv32" ->
          plain(0, 0, 16, UC_RISCV_REG_A0, UC_RISCV_REG_A1, UC_RISCV_REG_A2);
      // zSeries ELF ABI: register save area
      case "s390x" -> plain(0, 160, 8, UC_S390X_REG_R2, UC_S390X_REG_R3, UC_S390X_REG_R4);
      // SPARC psABI, V8: window save area, hidden parameter, six words of arguments
      case "sparc" -> plain(0, 96, 8, UC_SPARC_REG_O0, UC_SPARC_REG_O1, UC_SPARC_REG_O2);
      // o32: room for four argument registers; n64 asks for 16 bytes of alignment
      case "mips", "mipsel", "mips64" ->
          new InterruptAbi(
              List.of(UC_MIPS_REG_4, UC_MIPS_REG_5, UC_MIPS_REG_6),
              0,
              16,
              16,
              false,
              UC_MIPS_REG_25,
              NONE);
      // PowerPC Processor Supplement: back chain, LR save word
      case "ppc32" -> power(0, 8, NONE, NONE);
      // ELFv1: 288 bytes below the stack pointer; 48 bytes of linkage, 8 doublewords of arguments
      case "ppc64" -> power(288, 112, NONE, UC_PPC_REG_2);
      // ELFv2: 512 bytes with those of the kernel; 32 bytes of linkage
      case "ppc64le" -> power(512, 112, UC_PPC_REG_12, NONE);
      default -> throw new IllegalArgumentException("no interrupts on " + isa.name());
    };
  }

  private static InterruptAbi plain(int redZone, int area, int alignment, Integer... arguments) {
    return new InterruptAbi(List.of(arguments), redZone, area, alignment, false, NONE, NONE);
  }

  private static InterruptAbi power(int redZone, int area, int entryRegister, int tocRegister) {
    return new InterruptAbi(
        List.of(UC_PPC_REG_3, UC_PPC_REG_4, UC_PPC_REG_5),
        redZone,
        area,
        16,
        true,
        entryRegister,
        tocRegister);
  }
}
