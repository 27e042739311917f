package dev.retstack.fleet.loader.elf;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/** Call-site tables that compilers leave in an image: arrays of code addresses. */
final class SiteTables {
  private final ElfFile image;
  private final List<String> warnings;

  SiteTables(ElfFile image, List<String> warnings) {
    this.image = image;
    this.warnings = warnings;
  }

  /** {@code __mcount_loc}, by section or by the symbols a linker script puts around it. */
  List<Long> mcountLoc() {
    List<Section> sections = named("__mcount_loc");
    if (!sections.isEmpty()) {
      return read(sections);
    }
    Optional<Symbol> start = image.symbol("__start_mcount_loc");
    Optional<Symbol> stop = image.symbol("__stop_mcount_loc");
    if (start.isEmpty() || stop.isEmpty()) {
      return List.of();
    }
    long from = start.get().address();
    return read("__mcount_loc", from, stop.get().address() - from);
  }

  /** {@code __patchable_function_entries} (gcc -fpatchable-function-entry). */
  List<Long> patchable() {
    return read(named("__patchable_function_entries"));
  }

  /** One in a program; in an object there may be one for each function. */
  private List<Section> named(String name) {
    return image.sections().stream().filter(s -> s.allocated() && s.name().equals(name)).toList();
  }

  private List<Long> read(List<Section> sections) {
    return sections.stream()
        .flatMap(s -> read(s.name(), s.address(), s.size()).stream())
        .sorted(Long::compareUnsigned)
        .toList();
  }

  private List<Long> read(String table, long address, long size) {
    int word = image.wordBytes();
    Optional<ByteBuffer> bytes =
        size < 0 || size > Integer.MAX_VALUE ? Optional.empty() : image.memory(address, (int) size);
    if (bytes.isEmpty()) {
      warnings.add("%s: %s ignored: it lies outside the file".formatted(image.name(), table));
      return List.of();
    }
    ByteBuffer entries = bytes.get();
    int count = entries.capacity() / word;
    long[] sites =
        LongStream.range(0, count)
            .map(i -> entry(entries, (int) i * word))
            .filter(image::executableAt)
            .sorted()
            .distinct()
            .toArray();
    if (sites.length < count) {
      // Zeroes stand for functions that the linker dropped, or for relocations of a static PIE.
      warnings.add(
          "%s: %d of %d entries of %s ignored: not addresses of code"
              .formatted(image.name(), count - sites.length, count, table));
    }
    return LongStream.of(sites).boxed().toList();
  }

  private long entry(ByteBuffer entries, int at) {
    return image.is64() ? entries.getLong(at) : entries.getInt(at) & 0xFFFF_FFFFL;
  }
}
