package dev.retstack.machine.linux.call;

/** The registers of a core, by the ids of its register file. */
public interface Cpu {
  /** Value of a register. */
  long read(int register);

  /** Sets a register. */
  void write(int register, long value);
}
