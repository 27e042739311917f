package dev.retstack.fleet.probe.site;

import dev.retstack.fleet.probe.site.EntryPoints.Site;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.loader.LibraryCalls;
import dev.retstack.machine.memory.GuestMemory;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Calls of functions of other files by their addresses, as {@code -fno-plt} makes them. The
 * program's loader writes the addresses into words of the calling file before any code of it runs.
 * So these words are read before the file's first block. Nothing is patched, and a word keeps its
 * value: programs compare the addresses of functions.
 */
final class CallsByAddress {
  private final SharedCode code;
  private final int card;
  private final CodeAddresses addresses;
  private final int wordBytes;

  /** True where the address of a function is that of its descriptor. */
  private final boolean descriptors;

  /** Code of files with such words; of the first ones no block has run. */
  private final List<SharedCode.Part> unread = new ArrayList<>();

  private final List<SharedCode.Part> callers = new ArrayList<>();
  private final Long2ObjectMap<Site> sites = new Long2ObjectOpenHashMap<>();

  /**
   * None yet.
   *
   * @param card index of the card of calls into other files
   */
  CallsByAddress(SharedCode code, int card, Isa isa) {
    this.code = code;
    this.card = card;
    addresses = isa.addresses();
    wordBytes = isa.wordBytes();
    descriptors = isa.interrupts().tocRegister() != Registers.NONE;
  }

  /** Code of another file. */
  void add(SharedCode.Part part) {
    if (!code.words(part).isEmpty()) {
      unread.add(part);
    }
  }

  /** Code in a range is gone. */
  void remove(long base, long length) {
    unread.removeIf(part -> isIn(part.start(), base, length));
    sites.keySet().removeIf(function -> isIn(function, base, length));
    for (SharedCode.Part part : List.copyOf(callers)) {
      if (isIn(part.start(), base, length)) {
        callers.remove(part);
        code.words(part).forEach(word -> sites.values().removeIf(s -> s.selfPc() == word.site()));
      }
    }
  }

  private static boolean isIn(long address, long base, long length) {
    return Long.compareUnsigned(address - base, length) < 0;
  }

  /** True where a block is the first of its file, and other functions are entered now. */
  boolean meet(long address, GuestMemory memory) {
    for (int i = 0; i < unread.size(); i++) { // nearly always none
      if (unread.get(i).holds(address)) {
        SharedCode.Part part = unread.remove(i);
        callers.add(part);
        code.words(part).forEach(word -> read(word, part, memory));
        return true;
      }
    }
    return false;
  }

  private void read(LibraryCalls.Place word, SharedCode.Part part, GuestMemory memory) {
    if (memory.isMapped(word.site(), wordBytes)) {
      long named = memory.readWord(word.site());
      boolean isDescriptor = descriptors && memory.isMapped(named, wordBytes);
      long function = isDescriptor ? memory.readWord(named) : addresses.instruction(named);
      // in the file itself it is code that jumps on to the function: its table
      if (!part.holds(function)) {
        sites.putIfAbsent(
            function, new Site(word.site(), card, SiteFacts.NONE, Site.How.BY_ADDRESS));
      }
    }
  }

  /** True where there may be any. */
  boolean any() {
    return !sites.isEmpty() || !unread.isEmpty();
  }

  /** The site of the function that begins at an address; null where there is none. */
  Site at(long address) {
    return sites.get(address);
  }

  /** True for a return address in the code of a file that makes such calls. */
  boolean isCaller(long returnAddress) {
    return callers.stream().anyMatch(part -> part.holds(returnAddress));
  }

  /** The code of all these files: pairs of an address and a number of bytes. */
  long[] callers() {
    return callers.stream()
        .flatMapToLong(part -> LongStream.of(part.start(), part.end() - part.start()))
        .toArray();
  }
}
