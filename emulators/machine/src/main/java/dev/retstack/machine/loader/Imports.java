package dev.retstack.machine.loader;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.system.DynamicAbi;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Segment;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.memory.GuestMemory;
import it.unimi.dsi.fastutil.bytes.ByteList;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * The functions of shared objects in whose place a dynamically linked program gets functions of the
 * tracer: counting functions, and those that begin and end a profile.
 *
 * <p>Each has a <em>stand-in</em>, a piece of code on a page below the image. In the memory of a
 * core the program's own table of dynamic symbols says that it defines the function there, for
 * nobody else. So the program's loader, of whatever C library, puts the stand-in where the program
 * finds the function, and never looks for it elsewhere. Direct calls go to an entry of the
 * procedure linkage table: that is a counting function itself, since the way on through it would
 * take time.
 */
public final class Imports {
  /** Code and, where symbols of functions name descriptors, one of them. */
  public static final int STAND_IN_BYTES = 64;

  private final ElfFile elf;
  private final Isa isa;
  private final Code code;
  private final long page;
  private final long got;
  private final Long2ObjectMap<String> slots = new Long2ObjectOpenHashMap<>();

  /** Names of counting functions that ordinary functions of other files have. */
  private final Set<String> ordinary = new HashSet<>();

  /** The targets of direct calls that were found to lead to a function. */
  private final Long2ObjectMap<String> targets = new Long2ObjectOpenHashMap<>();

  Imports(ElfFile elf, Isa isa) {
    this.elf = elf;
    this.isa = isa;
    code = elf.codeReader();
    long first = elf.segments().stream().mapToLong(Segment::address).min().orElse(0);
    page = GuestMemory.pageDown(first) - GuestMemory.PAGE;
    got =
        tableBase()
            .or(() -> elf.symbol("_GLOBAL_OFFSET_TABLE_").map(Symbol::address))
            .or(() -> elf.section(".got.plt").or(() -> elf.section(".got")).map(s -> s.address()))
            .orElse(0L);
    elf.imports().forEach(i -> i.slots().forEach(slot -> slots.put((long) slot, i.name())));
  }

  /** What the code has in the register of the global offset table. */
  private Optional<Long> tableBase() {
    return isa.syscalls().dynamic().tableBase().stream()
        .flatMap(base -> elf.code().stream().map(range -> base.of(range.bytes(), range.address())))
        .filter(OptionalLong::isPresent)
        .map(OptionalLong::getAsLong)
        .findFirst();
  }

  /** True where the image has any, and there is room for the page. */
  public boolean any() {
    return !elf.imports().isEmpty()
        && (elf.shared() || page > 0)
        && elf.imports().size() <= GuestMemory.PAGE / STAND_IN_BYTES;
  }

  /** Address of the page of stand-ins. */
  public long page() {
    return page;
  }

  /**
   * The stand-ins with their names, in the order of the image's table. A shared object has none: it
   * gets those of the program.
   */
  public List<Symbol> standIns() {
    List<Symbol> all = new ArrayList<>();
    for (int i = 0; any() && !elf.shared() && i < elf.imports().size(); i++) {
      String name = elf.imports().get(i).name();
      if (!ordinary.contains(name)) {
        all.add(function(name, page + (long) i * STAND_IN_BYTES));
      }
    }
    return all;
  }

  /** Functions of these names are ordinary: nothing stands in for them. */
  void leaveAlone(Set<String> names) {
    ordinary.addAll(names);
  }

  /** What calls do besides on their way to a counting function in another file; mostly nothing. */
  ByteList linkageLead(AbiCard card) {
    return has(card.symbols()) ? isa.syscalls().dynamic().linkageLead() : ByteList.of();
  }

  /** What a counting function is overwritten with that was found at an address. */
  public byte[] entryStub(long address, byte[] stub) {
    if (!targets.containsKey(address)) {
      return stub;
    }
    byte[] lead = isa.syscalls().dynamic().linkageLead().toByteArray();
    return ByteBuffer.allocate(lead.length + stub.length).put(lead).put(stub).array();
  }

  private static Symbol function(String name, long address) {
    return new Symbol(name, address, 0, Symbol.Kind.FUNCTION, Symbol.Binding.GLOBAL, 0);
  }

  /** Code of a stand-in that is no counting function: it returns. */
  public byte[] leafReturn() {
    return isa.syscalls().dynamic().leafReturn().toByteArray();
  }

  /** Address of the image's global offset table; 0 where it is not known. */
  long got() {
    return got;
  }

  /** The function whose address a word gets; the empty name for any other word. */
  String throughSlot(long address) {
    return any() ? slots.getOrDefault(address, "") : "";
  }

  /** The function that a direct call to an address reaches; the empty name for any other. */
  String through(long target) {
    if (!any() || !elf.executableAt(target)) {
      return "";
    }
    // a table of code that the program's loader writes (ppc32): it leads to the stand-in
    String name = slots.getOrDefault(target, targets.getOrDefault(target, ""));
    if (name.isEmpty()) {
      name = read(target);
      if (!name.isEmpty()) {
        targets.put(target, name);
      }
    }
    return name;
  }

  private String read(long target) {
    OptionalLong slot =
        isa.syscalls()
            .dynamic()
            .jump()
            .map((DynamicAbi.ImportJump jump) -> jump.slot(code, target, got))
            .orElse(OptionalLong.empty());
    return slot.isPresent() ? slots.getOrDefault(slot.getAsLong(), "") : "";
  }

  /** True where the image calls a function of one of these names in another file. */
  boolean has(List<String> names) {
    return any() && elf.imports().stream().anyMatch(i -> names.contains(i.name()));
  }

  /** Where calls of a function of some names go that were found: its stand-in, and linkage code. */
  List<Symbol> places(List<String> names) {
    TreeMap<Long, Symbol> found = new TreeMap<>(Long::compareUnsigned);
    standIns().stream()
        .filter(standIn -> names.contains(standIn.name()))
        .forEach(standIn -> found.put(standIn.address(), standIn));
    targets.forEach(
        (address, name) -> {
          if (names.contains(name)) {
            found.put(address, function(name, address));
          }
        });
    return List.copyOf(found.values());
  }
}
