package dev.retstack.machine.loader.elf;

import it.unimi.dsi.fastutil.longs.Long2LongMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Call-site tables that compilers leave in an image: arrays of code addresses. A program that may
 * be placed anywhere has them as the dynamic linker would: by a relative relocation (System V gABI,
 * chapter 5, "Relocation"), whose addend stands in its table (SHT_RELA) or in the entry itself.
 */
final class SiteTables {
  private final ElfFile image;
  private final ElfBytes file;
  private final List<String> warnings;

  SiteTables(ElfFile image, ElfBytes file, List<String> warnings) {
    this.image = image;
    this.file = file;
    this.warnings = warnings;
  }

  /** {@code __mcount_loc}, by section or by the symbols a linker script puts around it. */
  List<Long> mcountLoc() throws ElfFormatException {
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
  List<Long> patchable() throws ElfFormatException {
    return read(named("__patchable_function_entries"));
  }

  /** Sections with a name: one in a program; an object may have one for each function. */
  private List<Section> named(String name) {
    return image.sections().stream().filter(s -> s.allocated() && s.name().equals(name)).toList();
  }

  private List<Long> read(List<Section> sections) throws ElfFormatException {
    List<Long> sites = new ArrayList<>();
    for (Section section : sections) {
      sites.addAll(read(section.name(), section.address(), section.size()));
    }
    sites.sort(Long::compareUnsigned);
    return List.copyOf(sites);
  }

  private List<Long> read(String table, long address, long size) throws ElfFormatException {
    int word = image.wordBytes();
    Optional<ByteBuffer> bytes =
        size < 0 || size > Integer.MAX_VALUE ? Optional.empty() : image.memory(address, (int) size);
    if (bytes.isEmpty()) {
      warnings.add("%s: %s ignored: it lies outside the file".formatted(image.name(), table));
      return List.of();
    }
    ByteBuffer entries = bytes.get();
    int count = entries.capacity() / word;
    Long2LongMap addends = addends(address, size);
    SortedSet<Long> sites = new TreeSet<>();
    int ignored = 0;
    for (int i = 0; i < count; i++) {
      long place = address + (long) i * word;
      long entry = addends.getOrDefault(place, word(entries, i * word));
      long site = image.positionIndependent() ? narrow(entry + image.bias()) : entry;
      if (image.executableAt(site)) {
        sites.add(site);
      } else if (entry != 0) { // of a function that the linker dropped
        ignored++;
      }
    }
    if (ignored > 0 || (count > 0 && sites.isEmpty())) {
      warnings.add(
          "%s: %d of %d entries of %s ignored: not addresses of code"
              .formatted(image.name(), sites.isEmpty() ? count : ignored, count, table));
    }
    return List.copyOf(sites);
  }

  /** What stands for the words of a table, by their places. */
  private Long2LongMap addends(long address, long size) throws ElfFormatException {
    Long2LongMap found = new Long2LongOpenHashMap();
    for (Section section : image.sections()) {
      if (image.positionIndependent() && section.allocated() && section.holdsRelocations()) {
        RelocationTable.each(
            file,
            section,
            entry -> {
              long place = narrow(entry.offset() + image.bias());
              if (entry.symbol() == 0 && Long.compareUnsigned(place - address, size) < 0) {
                entry.addend().ifPresent(addend -> found.put(place, narrow(addend)));
              }
            });
      }
    }
    return found;
  }

  private long word(ByteBuffer entries, int at) {
    return image.is64() ? entries.getLong(at) : entries.getInt(at) & 0xFFFF_FFFFL;
  }

  private long narrow(long address) {
    return image.is64() ? address : address & 0xFFFF_FFFFL;
  }
}
