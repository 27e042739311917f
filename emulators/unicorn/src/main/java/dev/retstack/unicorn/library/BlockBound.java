package dev.retstack.unicorn.library;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Optional;
import java.util.function.Consumer;

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
   * Takes the translators' names, before libunicorn is loaded.
   *
   * @param whyNot is told where that cannot be
   */
  static Optional<BlockBound> load(Consumer<String> whyNot) {
    try {
      return Optional.of(new BlockBound(BundledLibrary.load(BlockBound.class, FILE)));
    } catch (IOException | UnicornLoadException e) {
      whyNot.accept(
          "blocks of code are not bounded (%s), so a guest may end this process: run images of others with --isolate"
              .formatted(e.getMessage()));
      return Optional.empty();
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
