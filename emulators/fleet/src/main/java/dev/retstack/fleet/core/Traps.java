package dev.retstack.fleet.core;

import dev.retstack.fleet.probe.Pacer;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.isa.system.SyscallAbi;
import dev.retstack.machine.linux.LinuxEnd;
import dev.retstack.machine.linux.LinuxProcess;
import dev.retstack.machine.linux.signal.SignalInfo;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.record.EndDetail;
import dev.retstack.unicorn.Unicorn;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * The exceptions of the processor. System calls go to the program's Linux; all others end the core.
 */
final class Traps {
  private final Unicorn engine;
  private final Isa isa;
  private final GuestMemory memory;
  private final LinuxProcess process;
  private final GuestFaults faults;
  private final Pacer pacer;
  private final Consumer<CoreEnding> stop;
  private final Runnable stopBehind;
  private final Handled handled;

  /** Who looks for a signal handler. */
  interface Handled {
    /** False where there is none. */
    boolean by(int exception, SignalInfo info, long pc);
  }

  /**
   * The traps of a core.
   *
   * @param stop ends it, inside of a hook
   * @param stopBehind lets it stop at its next block, for another thread is to run, or to begin
   * @param handled lets it stop where it stands, for a signal handler is to run; false: there is
   *     none
   */
  Traps(
      Unicorn engine,
      Isa isa,
      GuestMemory memory,
      LinuxProcess process,
      GuestFaults faults,
      Pacer pacer,
      Consumer<CoreEnding> stop,
      Runnable stopBehind,
      Handled handled) {
    this.handled = handled;
    this.engine = engine;
    this.isa = isa;
    this.memory = memory;
    this.process = process;
    this.faults = faults;
    this.pacer = pacer;
    this.stop = stop;
    this.stopBehind = stopBehind;
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
    OptionalLong place = place(number);
    if (place.isPresent() && isHandled(number, place.getAsLong())) {
      return;
    }
    long pc =
        abi.signals().losesPlaces()
            ? place.orElse(pacer.began())
            : engine.reg_read(isa.registers().pc());
    stop.accept(
        CoreEnding.faulted(isa.stops().exception(number) + EndDetail.byPc(faults.symbol(pc))));
  }

  private boolean isHandled(int number, long at) {
    SignalAbi abi = isa.syscalls().signals();
    String code = memory.instructionHex(at);
    Optional<SignalAbi.Fault> fault = abi.of(number, code);
    if (fault.isEmpty()) {
      return false;
    }
    int reason = fault.get().code();
    long address = abi.branchOf(at, memory.instructionHex(at - Integer.BYTES));
    SignalInfo info =
        process
            .signals()
            .layout()
            .fault(fault.get().signal(), reason, reason == SignalAbi.KERNEL ? 0 : address);
    return handled.by(number, info, abi.place(at, code) + fault.get().behind());
  }

  /** Where an exception happened; empty where the engine has lost the place. */
  private OptionalLong place(int number) {
    SignalAbi abi = isa.syscalls().signals();
    if (!abi.losesPlaces()) {
      long pc = engine.reg_read(isa.registers().pc());
      return OptionalLong.of(isLate(pc) ? pc - Integer.BYTES : pc);
    }
    long began = pacer.began();
    return abi.placeOf(number, began, pacer.length(), memory::instructionHex);
  }

  private boolean isLate(long pc) {
    List<String> late = isa.syscalls().signals().late();
    long before = pc - Integer.BYTES;
    return !late.isEmpty() && late.stream().anyMatch(memory.instructionHex(before)::startsWith);
  }

  private void systemCall() {
    if (!process.systemCall()) {
      stop.accept(ending(process.end().orElseThrow()));
    } else if (process.mustStop()) {
      stopBehind.run();
    }
  }

  /** How a core ends whose program ended. */
  static CoreEnding ending(LinuxEnd end) {
    return switch (end) {
      case LinuxEnd.Exited exited -> CoreEnding.halted(exited.code(), end.describe());
      case LinuxEnd.Stopped stopped -> CoreEnding.stopped(stopped.describe());
      case LinuxEnd.Killed killed ->
          new CoreEnding(CoreEnd.FAULTED, killed.shellCode(), end.describe());
    };
  }
}
