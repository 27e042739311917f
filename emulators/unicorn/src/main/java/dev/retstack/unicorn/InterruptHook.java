package dev.retstack.unicorn;

/** Called for an interrupt, exception or system call of the guest ({@code UC_HOOK_INTR}). */
@FunctionalInterface
public interface InterruptHook {
  /**
   * The guest raised an exception.
   *
   * @param number what the emulated architecture calls it: the vector on x86, QEMU's exception
   *     index elsewhere (aarch64 {@code svc} is 2, riscv {@code ecall} is 8 from user mode)
   */
  void onInterrupt(int number);
}
