package dev.retstack.unicorn.library;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;

/**
 * Limits the length of the blocks that the library translates: a longer one may overflow its
 * translator, which ends the process. {@code src/main/c/bound.c} is in front of the translators.
 */
final class BlockBound {
  private static final String FILE = "libretstack-bound.so";

  private final SymbolLookup own;

  private BlockBound(SymbolLookup own) {
    this.own = own;
  }

  /**
   * Takes the translators' names, before libunicorn is loaded; empty where no compiler built it.
   */
  static Optional<BlockBound> load() {
    try {
      return Optional.of(new BlockBound(BundledLibrary.load(BlockBound.class, FILE)));
    } catch (IOException | UnicornLoadException e) {
      return Optional.empty(); // who runs guests asks for it, and says so
    }
  }

  /** Hands over the translators themselves. */
  void standBefore(SymbolLookup library) {
    MemorySegment memory = UnicornLibrary.memory();
    long entry = own.find("retstack_bounded").orElseThrow().address();
    for (long name = memory.get(JAVA_LONG, entry); name != 0; name = memory.get(JAVA_LONG, entry)) {
      long real = memory.get(JAVA_LONG, entry + Long.BYTES);
      library
          .find(memory.getString(name))
          .ifPresent(translator -> memory.set(JAVA_LONG, real, translator.address()));
      entry += 2L * Long.BYTES;
    }
  }
}
