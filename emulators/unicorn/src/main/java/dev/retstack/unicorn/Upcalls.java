package dev.retstack.unicorn;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.unicorn.HookSlots.Slot;
import dev.retstack.unicorn.library.UnicornLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/**
 * Where C enters Java: one function pointer per kind of hook, for all engines and for ever. So no
 * pointer can be freed under a live hook, and opening an engine makes none.
 *
 * <p>A Throwable that leaves an upcall ends the JVM. So each method stores it in the engine, which
 * stops and throws it from {@code emu_start}.
 */
@SuppressWarnings("unused") // called through method handles
final class Upcalls {
  private static final FunctionDescriptor AT_ADDRESS =
      FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);

  static final long CODE = stub("code", AT_ADDRESS);
  static final long BLOCK = stub("block", AT_ADDRESS);
  static final long INTERRUPT =
      stub("interrupt", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG));
  static final long INSTRUCTION =
      stub("instruction", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
  static final long INVALID_INSTRUCTION =
      stub("invalidInstruction", FunctionDescriptor.of(JAVA_BOOLEAN, JAVA_LONG, JAVA_LONG));
  static final long PORT_IN =
      stub("portIn", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
  static final long PORT_OUT =
      stub(
          "portOut", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));

  /** Serves accesses that succeed too: C ignores the result there. */
  static final long MEMORY =
      stub(
          "memory",
          FunctionDescriptor.of(
              JAVA_BOOLEAN, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));

  static final long TLB_FILL =
      stub(
          "tlbFill",
          FunctionDescriptor.of(
              JAVA_BOOLEAN, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));

  private Upcalls() {}

  private static long stub(String method, FunctionDescriptor shape) {
    try {
      MethodHandle target =
          MethodHandles.lookup().findStatic(Upcalls.class, method, shape.toMethodType());
      return UnicornLibrary.upcall(target, shape);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static void code(long uc, long address, int size, long token) {
    Slot slot = HookSlots.get(token);
    if (slot == null) {
      return;
    }
    try {
      ((Hook.Code) slot.callback).onCode(address, size);
    } catch (Throwable t) {
      slot.engine.park(t);
    }
  }

  private static void block(long uc, long address, int size, long token) {
    Slot slot = HookSlots.get(token);
    if (slot == null) {
      return;
    }
    slot.engine.enterBlock(address);
    try {
      ((Hook.Block) slot.callback).onBlock(address, size);
    } catch (Throwable t) {
      slot.engine.park(t);
    } finally {
      slot.engine.leaveBlock();
    }
  }

  private static void interrupt(long uc, int number, long token) {
    Slot slot = HookSlots.get(token);
    if (slot == null) {
      return;
    }
    try {
      ((Hook.Interrupt) slot.callback).onInterrupt(number);
    } catch (Throwable t) {
      slot.engine.park(t);
    }
  }

  private static void instruction(long uc, long token) {
    Slot slot = HookSlots.get(token);
    if (slot == null) {
      return;
    }
    try {
      ((Hook.Instruction) slot.callback).onInstruction();
    } catch (Throwable t) {
      slot.engine.park(t);
    }
  }

  private static boolean invalidInstruction(long uc, long token) {
    Slot slot = HookSlots.get(token);
    if (slot == null) {
      return false;
    }
    try {
      return ((Hook.InvalidInstruction) slot.callback).onInvalidInstruction();
    } catch (Throwable t) {
      slot.engine.park(t);
      return false;
    }
  }

  private static int portIn(long uc, int port, int size, long token) {
    Slot slot = HookSlots.get(token);
    if (slot == null) {
      return 0;
    }
    try {
      return ((Hook.PortIn) slot.callback).onIn(port, size);
    } catch (Throwable t) {
      slot.engine.park(t);
      return 0;
    }
  }

  private static void portOut(long uc, int port, int size, int value, long token) {
    Slot slot = HookSlots.get(token);
    if (slot == null) {
      return;
    }
    try {
      ((Hook.PortOut) slot.callback).onOut(port, size, value);
    } catch (Throwable t) {
      slot.engine.park(t);
    }
  }

  private static boolean memory(long uc, int type, long address, int size, long value, long token) {
    Slot slot = HookSlots.get(token);
    if (slot == null) {
      return false;
    }
    try {
      return ((Hook.Memory) slot.callback).onAccess(type, address, size, value);
    } catch (Throwable t) {
      slot.engine.park(t);
      return false;
    }
  }

  private static boolean tlbFill(long uc, long address, int type, long entry, long token) {
    Slot slot = HookSlots.get(token);
    if (slot == null) {
      return false;
    }
    // not 0 within itself: a hook that forgets translations is asked for their pages meanwhile
    long outer = slot.tlbEntry.pointTo(entry);
    try {
      return ((Hook.TlbFill) slot.callback).onFill(address, type, slot.tlbEntry);
    } catch (Throwable t) {
      slot.engine.park(t);
      return false;
    } finally {
      slot.tlbEntry.pointTo(outer);
    }
  }
}
