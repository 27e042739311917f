package dev.retstack.fleet.core;

import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.SyscallAbi;
import dev.retstack.fleet.linux.LinuxEnd;
import dev.retstack.fleet.linux.LinuxProcess;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.record.EndDetail;
import dev.retstack.unicorn.Unicorn;
import java.util.function.Consumer;

/**
 * The exceptions of the processor. System calls go to the program's Linux; all others end the core.
 */
final class Traps {
  private final Unicorn engine;
  private final Isa isa;
  private final LinuxProcess process;
  private final GuestFaults faults;
  private final Consumer<CoreEnding> stop;

  /**
   * Those of a core.
   *
   * @param stop ends it, inside of a hook
   */
  Traps(
      Unicorn engine,
      Isa isa,
      LinuxProcess process,
      GuestFaults faults,
      Consumer<CoreEnding> stop) {
    this.engine = engine;
    this.isa = isa;
    this.process = process;
    this.faults = faults;
    this.stop = stop;
  }

  /** Adds the hooks to the engine. */
  void hook() {
    SyscallAbi abi = isa.syscalls();
    if (abi.trap() == SyscallAbi.Trap.INSTRUCTION) {
      engine.hook_add_insn(this::systemCall, abi.trapNumber());
    }
    engine.hook_add_intr(this::interrupt);
  }

  private void interrupt(int number) {
    SyscallAbi abi = isa.syscalls();
    if (abi.trap() == SyscallAbi.Trap.INTERRUPT && abi.trapNumber() == number) {
      systemCall();
      return;
    }
    stop.accept(
        CoreEnding.faulted(
            isa.stops().exception(number)
                + EndDetail.byPc(faults.symbol(engine.reg_read(isa.registers().pc())))));
  }

  private void systemCall() {
    if (!process.systemCall()) {
      LinuxEnd end = process.end().orElseThrow();
      stop.accept(
          switch (end) {
            case LinuxEnd.Exited exited -> CoreEnding.halted(exited.code(), end.describe());
            case LinuxEnd.Stopped stopped -> CoreEnding.stopped(stopped.describe());
            case LinuxEnd.Killed killed ->
                new CoreEnding(CoreEnd.FAULTED, killed.shellCode(), end.describe());
          });
    }
  }
}
