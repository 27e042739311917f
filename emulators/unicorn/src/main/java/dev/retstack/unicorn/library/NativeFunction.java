package dev.retstack.unicorn.library;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** A short C function {@code void f(void *)} beside a hook in C. It must not call Java. */
public final class NativeFunction {
  private final MethodHandle handle;

  /**
   * Links a function.
   *
   * @param address of it, in a library that stays loaded
   */
  public NativeFunction(MemorySegment address) {
    handle = UnicornLibrary.leaf(address, FunctionDescriptor.ofVoid(ADDRESS));
  }

  /** Calls it with memory that is not on the heap. */
  public void call(MemorySegment argument) {
    try {
      handle.invokeExact(argument);
    } catch (Throwable t) {
      throw new IllegalStateException("a C function threw", t); // it cannot
    }
  }
}
