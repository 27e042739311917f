package dev.retstack.machine.memory;

import java.lang.foreign.MemorySegment;

/**
 * What an engine must know about {@link GuestMemory}: which host memory stands where, and what it
 * may have cached and must forget.
 */
public interface MemoryListener {
  /** Host memory appears at a guest address. It stays where it is until it is unmapped. */
  void mapped(long address, MemorySegment host);

  /** Guest memory disappears. The range lies within one earlier mapping. */
  void unmapped(long address, long size);

  /** Guest memory appears in memory that was reserved, which the engine has already. */
  void shown(long address, long size, boolean code);

  /** The region disappears there again. */
  void hidden(long address, long size, boolean code);

  /** Permissions of mapped pages changed. */
  void protectionChanged(long address, long size);

  /** The host wrote into executable pages: translations of them are stale. */
  void codeChanged(long address, long size);

  /** For memory without an engine. */
  MemoryListener NONE =
      new MemoryListener() {
        @Override
        public void mapped(long address, MemorySegment host) {}

        @Override
        public void unmapped(long address, long size) {}

        @Override
        public void shown(long address, long size, boolean code) {}

        @Override
        public void hidden(long address, long size, boolean code) {}

        @Override
        public void protectionChanged(long address, long size) {}

        @Override
        public void codeChanged(long address, long size) {}
      };
}
