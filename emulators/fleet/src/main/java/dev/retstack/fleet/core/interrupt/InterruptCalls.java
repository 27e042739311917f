package dev.retstack.fleet.core.interrupt;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.system.InterruptAbi;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.unicorn.Unicorn;

/**
 * Calls of the program's functions on a separate stack, and the program's calls that the controller
 * answers.
 */
final class InterruptCalls {
  private static final int CHAIN_END = 0;

  private final Unicorn engine;
  private final GuestMemory memory;
  private final Machine machine;
  private final Isa isa;
  private final InterruptAbi abi;
  private final int word;

  InterruptCalls(Machine machine) {
    this.machine = machine;
    engine = machine.engine();
    memory = machine.memory();
    isa = machine.isa();
    abi = isa.interrupts();
    word = isa.wordBytes();
  }

  /** Bytes below the stack pointer that are in use. */
  long redZone() {
    return abi.redZone();
  }

  long stackPointer() {
    return engine.reg_read(isa.registers().sp());
  }

  /**
   * Makes the registers those of a call.
   *
   * @param function as it is jumped to, or where functions are named by descriptors, that of one
   * @param below the stack is used from here downwards
   * @param returnTo where it returns
   * @return where the core continues
   */
  long call(long function, long below, long returnTo, long... arguments) {
    long code = machine.entry(function);
    long sp = (below - abi.calleeArea()) & -abi.alignment();
    if (abi.backChain()) {
      memory.writeWord(sp, CHAIN_END);
    }
    for (int i = 0; i < arguments.length; i++) {
      if (abi.arguments().isEmpty()) {
        memory.writeWord(sp + (long) i * word, arguments[i]);
      } else {
        engine.reg_write(abi.arguments().get(i), arguments[i]);
      }
    }
    if (isa.pushesReturnAddress()) {
      sp -= word;
      memory.writeWord(sp, returnTo);
    } else {
      engine.reg_write(isa.registers().link(), returnTo - isa.addresses().linkBias());
    }
    if (abi.entryRegister() != Registers.NONE) {
      engine.reg_write(abi.entryRegister(), function);
    }
    engine.reg_write(isa.registers().sp(), sp);
    return code;
  }

  /** The outermost frame: nothing is above. */
  void endFrames() {
    engine.reg_write(isa.registers().fp(), CHAIN_END);
  }

  /** At the first instruction of a function: its argument. */
  long argument(int index) {
    return abi.arguments().isEmpty()
        ? memory.readWord(stackPointer() + (1L + index) * word)
        : engine.reg_read(abi.arguments().get(index)) & mask();
  }

  /**
   * At the first instruction of a function: returns from it.
   *
   * @return where the core continues
   */
  long giveBack(long result) {
    result(result);
    if (!isa.pushesReturnAddress()) {
      return (engine.reg_read(isa.registers().link()) + isa.addresses().linkBias()) & mask();
    }
    long sp = stackPointer();
    engine.reg_write(isa.registers().sp(), sp + word);
    return memory.readWord(sp);
  }

  /** Sets the result that the caller of a function sees. */
  void result(long value) {
    engine.reg_write(isa.registers().result(), value);
  }

  /** The result of a function that has returned. */
  long result() {
    return engine.reg_read(isa.registers().result()) & mask();
  }

  private long mask() {
    return word == Long.BYTES ? -1 : 0xffff_ffffL;
  }
}
