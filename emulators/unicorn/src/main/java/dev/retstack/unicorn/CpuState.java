package dev.retstack.unicorn;

import dev.retstack.unicorn.library.UnicornLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A place for the state of a CPU ({@code uc_context}); made by {@link Unicorn#context_alloc()}. It
 * ends with its engine, or earlier by {@link #close()}.
 */
public final class CpuState implements AutoCloseable {
  private final Arena arena = Arena.ofShared();
  private final Unicorn engine;
  private final MemorySegment bytes;

  CpuState(Unicorn engine, long address, long size) {
    this.engine = engine;
    bytes = UnicornLibrary.view(address, size, arena);
  }

  /**
   * Returns the library's own bytes of the saved state, for what no register id reaches. Their
   * layout is private to the library's version: look for values, not for offsets.
   */
  public MemorySegment bytes() {
    return bytes;
  }

  /** Returns the pointer for C. */
  long address() {
    if (!arena.scope().isAlive()) {
      throw new IllegalStateException("context is closed");
    }
    return bytes.address();
  }

  /** Gives the memory back; a second call does nothing. */
  @Override
  public void close() {
    engine.release(this);
  }

  /** Ends this context; for the engine, which knows that it is still open. */
  void free() {
    long address = bytes.address();
    arena.close();
    UnicornException.check(NativeUnicorn.uc_context_free(address), "uc_context_free");
  }
}
