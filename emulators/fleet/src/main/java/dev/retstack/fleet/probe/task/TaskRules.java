package dev.retstack.fleet.probe.task;

import dev.retstack.fleet.probe.frame.FrameStack;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.OptionalLong;

/** Which task of a core runs, by the declaration of its image. */
public final class TaskRules implements TaskSource {
  private final TaskFunctions functions;
  private final GuestMemory memory;
  private OptionalLong next = OptionalLong.empty();

  /** Those of a core that has not run yet. */
  public TaskRules(TaskFunctions functions, GuestMemory memory) {
    this.functions = functions;
    this.memory = memory;
  }

  public TaskFunctions functions() {
    return functions;
  }

  /** True where the image may show which task runs. */
  public boolean areDeclared() {
    return functions.switches() || functions.variable().isPresent();
  }

  /** The word of the variable in the host's memory; NULL where there is none. */
  public MemorySegment host() {
    try {
      return functions.variable().isEmpty()
          ? MemorySegment.NULL
          : memory.host(functions.variable().getAsLong(), functions.bytes());
    } catch (GuestAccessException notThere) {
      return MemorySegment.NULL;
    }
  }

  /**
   * A function is entered that is declared to do something with tasks.
   *
   * @param filter tasks of which nothing is recorded
   * @param selfPc its site
   * @param from where it returns to
   * @param retP its slot
   * @param fp its caller's frame pointer
   * @param argument that of a function which switches
   * @return false where there are too many tasks: the entry is to be left alone
   */
  public <S extends FrameStack> boolean enter(
      Contexts<S> contexts,
      TaskFilter filter,
      long selfPc,
      long from,
      long retP,
      long fp,
      long argument) {
    TaskFunctions.Role role = functions.role(selfPc);
    if (role == TaskFunctions.Role.HANDLES) {
      contexts.handlerEnter(functions.number(selfPc), from, retP, filter);
      return true;
    }
    if (!contexts.enter(retP, fp)) {
      return false;
    }
    switch (role) {
      case SWITCHES -> next = OptionalLong.of(argument);
      case ENDS -> contexts.ends();
      case NONE, HANDLES -> {}
    }
    return true;
  }

  @Override
  public OptionalLong now() {
    if (functions.variable().isEmpty()) {
      return next;
    }
    try {
      return OptionalLong.of(read(functions.variable().getAsLong()));
    } catch (GuestAccessException notThere) {
      return OptionalLong.empty();
    }
  }

  private long read(long address) {
    return switch (functions.bytes()) {
      case Byte.BYTES -> Byte.toUnsignedLong(memory.readByte(address));
      case Short.BYTES ->
          ByteBuffer.wrap(memory.read(address, Short.BYTES)).order(memory.order()).getChar();
      case Integer.BYTES -> Integer.toUnsignedLong(memory.readInt(address));
      default -> memory.readLong(address);
    };
  }

  @Override
  public boolean isAhead() {
    return functions.switches();
  }
}
