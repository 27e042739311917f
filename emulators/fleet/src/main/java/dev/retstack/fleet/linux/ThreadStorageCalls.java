package dev.retstack.fleet.linux;

import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.isa.Registers;
import dev.retstack.schema.linux.SystemCallNames;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Where a thread's own variables are: the register that a program cannot set by itself. Each
 * architecture has its own system call for it.
 */
final class ThreadStorageCalls {
  private static final long ARCH_SET_FS = 0x1002;
  private static final long ARCH_GET_FS = 0x1003;

  private final GuestMemory memory;
  private final Cpu cpu;
  private final int register;
  private final OptionalLong descriptorTable;
  private final boolean byArchControl;
  private long pointer;

  /**
   * @param register that Linux sets, or {@link Registers#NONE}
   * @param descriptorTable page of segment descriptors, where a segment is set instead
   * @param names the system calls of the architecture
   */
  ThreadStorageCalls(
      GuestMemory memory,
      Cpu cpu,
      int register,
      OptionalLong descriptorTable,
      SystemCallNames names) {
    this.memory = memory;
    this.cpu = cpu;
    this.register = register;
    this.descriptorTable = descriptorTable;
    this.byArchControl = names.number("arch_prctl").isPresent();
  }

  void register(Map<String, SystemCall> calls) {
    calls.put("set_tls", a -> set(a[0]));
    if (descriptorTable.isPresent()) {
      SegmentDescriptors segments = new SegmentDescriptors(memory, descriptorTable.getAsLong());
      calls.put("set_thread_area", a -> segments.set(a[0]));
    } else if (byArchControl) {
      calls.put("arch_prctl", this::archControl);
    } else {
      calls.put("set_thread_area", a -> set(a[0]));
      calls.put("get_thread_area", a -> pointer);
    }
  }

  private long set(long value) {
    pointer = value;
    if (register != Registers.NONE) {
      cpu.write(register, value);
    }
    return 0;
  }

  private long archControl(long[] a) {
    if (a[0] == ARCH_SET_FS) {
      return set(a[1]);
    }
    if (a[0] != ARCH_GET_FS) {
      throw new SystemCallException(Errno.EINVAL);
    }
    memory.writeLong(a[1], cpu.read(register));
    return 0;
  }
}
