package dev.retstack.machine.isa.call;

import java.util.List;

/**
 * The registers of an ISA that the tracer uses, by Unicorn's register ids.
 *
 * @param pc program counter
 * @param sp stack pointer
 * @param link register that a call leaves the return address in; {@link #NONE} where it is pushed
 * @param fp frame pointer
 * @param threadPointer register that Linux sets for a program when it asks ({@code arch_prctl},
 *     {@code set_thread_area}, {@code set_tls}); {@link #NONE} where programs set it themselves
 * @param result the register of an integer result
 * @param results all registers that may hold a result and must survive the exit path
 */
public record Registers(
    int pc, int sp, int link, int fp, int threadPointer, int result, List<Named> results) {

  /** There is no such register. */
  public static final int NONE = -1;

  /**
   * A register with its name in the psABI.
   *
   * @param bytes its width
   */
  public record Named(String name, int id, int bytes) {}

  public Registers {
    results = List.copyOf(results);
  }
}
