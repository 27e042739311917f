package dev.retstack.fleet.core;

import dev.retstack.machine.linux.call.Cpu;
import dev.retstack.unicorn.Unicorn;

/** The registers of the engine, for the emulated Linux. */
record EngineRegisters(Unicorn engine) implements Cpu {
  @Override
  public long read(int register) {
    return engine.reg_read(register);
  }

  @Override
  public void write(int register, long value) {
    engine.reg_write(register, value);
  }
}
