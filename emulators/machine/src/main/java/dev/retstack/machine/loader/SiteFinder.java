package dev.retstack.machine.loader;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.loader.FoundSite.Knowledge;
import dev.retstack.machine.loader.FoundSite.State;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.schema.record.FunctionName;
import it.unimi.dsi.fastutil.bytes.ByteList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Finds every call site of a program, and what is there. {@code __mcount_loc} comes first, then
 * {@code __patchable_function_entries}. Then come calls of the counting function that no table
 * lists, found by relocations and by scanning the code as recordmcount does. A nop that no table
 * lists is not a site: compilers fill gaps with nops.
 */
public final class SiteFinder {
  /** Most bytes of a site in front of its call (s390x {@code stg}: 6) or of its nops (endbr64). */
  private static final long LEAD_IN = 16;

  /** Most bytes of nops at a site. */
  private static final int NOPS_MAX = 256;

  private static final AbiCard.WholeSite NO_LEAD = new AbiCard.WholeSite("", ByteList.of(), 0);

  /** Bytes shown of what is neither call nor nop. */
  private static final int UNKNOWN_BYTES = 8;

  /** A call with the convention that it is of. */
  private record Call(CallSite site, ActiveConvention convention) {
    AbiCard card() {
      return convention.card();
    }
  }

  /** An instruction that does nothing, and a convention that leaves it at its sites. */
  private record Nop(ByteBuffer code, AbiCard card) {}

  /**
   * The nops from an entry of a table on: their lengths; none where something else stands there.
   */
  private record Nops(long entry, String convention, List<Integer> lengths) {
    int size() {
      return lengths.stream().mapToInt(Integer::intValue).sum();
    }
  }

  private final ElfFile elf;
  private final NavigableMap<Long, Call> calls = new TreeMap<>(Long::compareUnsigned);

  /** Conventions of the nops that a core sees, by address. */
  private final NavigableMap<Long, AbiCard> traced = new TreeMap<>(Long::compareUnsigned);

  private final List<Nop> nops;

  /** Whole sites that are switched off, the longest first. */
  private final Map<AbiCard.WholeSite, AbiCard> switchedOff = new LinkedHashMap<>();

  private final LongSet taken = new LongOpenHashSet();
  private final List<FoundSite> found = new ArrayList<>();

  private SiteFinder(LoadedImage image) {
    elf = image.elf();
    for (ActiveConvention convention : image.conventions()) {
      for (CallSite site : convention.sites()) {
        if (site.after() == site.address()) {
          traced.put(site.address(), convention.card());
        } else {
          calls.put(site.address(), new Call(site, convention));
        }
      }
    }
    nops =
        image.isa().conventions().stream()
            .flatMap(
                card ->
                    Stream.concat(card.siteNops().stream(), Stream.of(card.nop()))
                        .map(code -> new Nop(ByteBuffer.wrap(code), card)))
            .sorted(Comparator.comparingInt((Nop nop) -> -nop.code.remaining()))
            .toList();
    record Off(AbiCard.WholeSite site, AbiCard card) {}
    image.isa().conventions().stream()
        .flatMap(card -> card.switchedOff().stream().map(site -> new Off(site, card)))
        .sorted(Comparator.comparingInt((Off off) -> -off.site.code().size()))
        .forEach(off -> switchedOff.putIfAbsent(off.site, off.card));
  }

  /** The sites of an image, sorted by address; there may be none. */
  public static List<FoundSite> find(LoadedImage image) {
    SiteFinder finder = new SiteFinder(image);
    finder.table(image.elf().mcountLoc(), Knowledge.MCOUNT_LOC);
    finder.table(image.elf().patchableSites(), Knowledge.PATCHABLE);
    for (Call call : finder.calls.values()) {
      if (!finder.taken.contains(call.site.address())) {
        boolean relocated = image.relocatedSites().contains(call.site.address());
        Knowledge how = relocated ? Knowledge.RELOCATION : Knowledge.SCAN;
        finder.add(call, how, call.site.address());
      }
    }
    finder.found.sort((a, b) -> Long.compareUnsigned(a.address(), b.address()));
    return List.copyOf(finder.found);
  }

  private void table(List<Long> entries, Knowledge table) {
    LongSet all = new LongOpenHashSet(entries);
    List<Nops> nopsOfTable = new ArrayList<>();
    for (long entry : entries) {
      Optional<Call> call = callBehind(entry, all);
      if (table == Knowledge.MCOUNT_LOC && switchedOff(entry, table)) {
        continue;
      }
      if (call.isPresent()) {
        add(call.get(), table, entry);
      } else if (taken.add(entry)) {
        nopsOfTable.add(nopsAt(entry, all));
      }
    }
    addNops(nopsOfTable, table);
  }

  /** The first call from an entry on, where the entry's own function makes it soon. */
  private Optional<Call> callBehind(long entry, LongSet entries) {
    return Optional.ofNullable(calls.ceilingEntry(entry))
        .map(Map.Entry::getValue)
        .filter(call -> call.site.address() - entry <= LEAD_IN)
        .filter(call -> call.site.address() == entry || !entries.contains(call.site.address()))
        .filter(call -> nopAt(entry).isEmpty() || call.site.address() == entry)
        .filter(call -> nameOf(call.site.address()).equals(nameOf(entry)));
  }

  private void add(Call call, Knowledge knowledge, long entry) {
    CallSite site = call.site;
    if (taken.add(site.address())) {
      byte[] bytes = read(site.address(), (int) (site.after() - site.address()));
      String form =
          call.card().callForms().stream()
              .filter(f -> f.size() == bytes.length && f.matches(number(bytes)))
              .findFirst()
              .map(CallForm::text)
              .orElseThrow();
      AbiCard.WholeSite lead = leadOf(call);
      long start = site.address() - lead.lead();
      add(
          site.address(),
          call.card().name(),
          State.CALL,
          lead.text().isEmpty() ? form : lead.text() + "; " + form,
          start,
          read(start, (int) (site.after() - start)),
          knowledge,
          entry);
    }
  }

  /** What stands in front of a call for it alone; nothing has no bytes. */
  private AbiCard.WholeSite leadOf(Call call) {
    long address = call.site.address();
    return call.card().leadIns().stream()
        .filter(lead -> stands(lead.code(), address - lead.lead(), address))
        .findFirst()
        .orElse(NO_LEAD);
  }

  /** True where these bytes stand at an address of the function that holds another. */
  private boolean stands(ByteList bytes, long address, long inFunctionOf) {
    return elf.functionAt(address).equals(elf.functionAt(inFunctionOf))
        && ByteList.of(read(address, bytes.size())).equals(bytes);
  }

  /**
   * Adds a site whose call, and what stood in front of it, is switched off. The entry may name the
   * first instruction or the place of the call.
   */
  private boolean switchedOff(long entry, Knowledge knowledge) {
    for (Map.Entry<AbiCard.WholeSite, AbiCard> form : switchedOff.entrySet()) {
      AbiCard.WholeSite site = form.getKey();
      for (long start : new long[] {entry - site.lead(), entry}) {
        if (stands(site.code(), start, entry)) {
          long address = start + site.lead();
          int count = nopsAt(start, LongSet.of()).lengths.size();
          if (taken.add(address)) {
            add(
                address,
                form.getValue().name(),
                State.NOP,
                site.text().isEmpty() ? count + " x nop" : site.text(),
                start,
                site.code().toByteArray(),
                knowledge,
                entry);
          }
          return true;
        }
      }
    }
    return false;
  }

  /** The nops at a table's entry where no call stands. */
  private Nops nopsAt(long entry, LongSet entries) {
    Optional<Symbol> within = holder(elf, entry);
    long at = entry;
    List<Integer> lengths = new ArrayList<>();
    AbiCard card = null;
    Optional<Nop> nop = nopAt(at);
    while (nop.isPresent() && at - entry < NOPS_MAX) {
      card = card == null ? nop.get().card : card;
      lengths.add(nop.get().code.remaining());
      at += nop.get().code.remaining();
      long next = at;
      boolean sameFunction = elf.functionAt(next).equals(within) || within.isEmpty();
      nop = entries.contains(next) || !sameFunction ? Optional.empty() : nopAt(next);
    }
    return new Nops(entry, card == null ? "" : conventionOf(entry, at, card), lengths);
  }

  /**
   * A function's own code may begin with a nop behind those of its site, and no table says how many
   * are the site's: as many as every function of the convention has.
   */
  private void addNops(List<Nops> all, Knowledge knowledge) {
    Map<String, Integer> fewest = new HashMap<>();
    all.forEach(nops -> fewest.merge(nops.convention, nops.size(), Math::min));
    for (Nops nops : all) {
      int most = fewest.get(nops.convention);
      int count = 0;
      int size = 0;
      while (count < nops.lengths.size() && size + nops.lengths.get(count) <= most) {
        size += nops.lengths.get(count++);
      }
      if (nops.lengths.isEmpty()) {
        byte[] bytes = read(nops.entry, UNKNOWN_BYTES);
        add(nops.entry, "", State.UNKNOWN, "unknown", nops.entry, bytes, knowledge, nops.entry);
      } else {
        String form = count == 1 ? "nop" : count + " x nop";
        byte[] bytes = read(nops.entry, size);
        add(nops.entry, nops.convention, State.NOP, form, nops.entry, bytes, knowledge, nops.entry);
      }
    }
  }

  /** The convention that traces these nops, else one that has such nops. */
  private String conventionOf(long from, long to, AbiCard other) {
    Map.Entry<Long, AbiCard> entry = traced.ceilingEntry(from);
    return entry != null && Long.compareUnsigned(entry.getKey(), to) <= 0
        ? entry.getValue().name()
        : other.name();
  }

  private void add(
      long address,
      String convention,
      State state,
      String form,
      long start,
      byte[] bytes,
      Knowledge knowledge,
      long entry) {
    Optional<Symbol> function = functionOf(address, bytes.length);
    found.add(
        new FoundSite(
            address,
            function.map(elf::name).orElse(FunctionName.NONE),
            function.map(f -> address - f.address()).orElse(0L),
            convention,
            state,
            form,
            start,
            ByteList.of(bytes),
            knowledge,
            entered(address),
            entry));
  }

  private FoundSite.Entered entered(long address) {
    Call call = calls.get(address);
    if (call != null && call.site.ahead()) {
      return FoundSite.Entered.FIRST;
    }
    boolean untraced = call != null && call.convention.isLeftAlone(call.site);
    return untraced ? FoundSite.Entered.UNTRACED : FoundSite.Entered.SITE;
  }

  /**
   * Nops may stand in front of their function, or begin there and end in it: then no function holds
   * the first of them.
   */
  private Optional<Symbol> functionOf(long address, int length) {
    Optional<Symbol> function = holder(elf, address);
    for (int i = 1; i <= length && function.isEmpty(); i++) {
      long start = address + i;
      function = elf.functionAt(start).filter(f -> f.address() == start);
    }
    return function.or(() -> elf.functionAt(address));
  }

  /**
   * The function that holds an address for sure: a label of assembly without a size holds only what
   * it stands at, and the lead-in of a site.
   */
  static Optional<Symbol> holder(ElfFile elf, long address) {
    return elf.functionAt(address).filter(f -> f.size() > 0 || f.address() == address);
  }

  private String nameOf(long address) {
    return elf.functionAt(address).map(Symbol::name).orElse("");
  }

  private Optional<Nop> nopAt(long address) {
    for (Nop nop : nops) {
      Optional<ByteBuffer> there = elf.memory(address, nop.code.remaining());
      if (there.isPresent() && there.get().equals(nop.code)) {
        return Optional.of(nop);
      }
    }
    return Optional.empty();
  }

  private byte[] read(long address, int length) {
    for (int size = length; size > 0; size--) {
      Optional<ByteBuffer> there = elf.memory(address, size);
      if (there.isPresent()) {
        byte[] bytes = new byte[size];
        there.get().get(0, bytes);
        return bytes;
      }
    }
    return new byte[0];
  }

  private static long number(byte[] bytes) {
    long code = 0;
    for (int i = Math.min(bytes.length, Long.BYTES) - 1; i >= 0; i--) {
      code = (code << Byte.SIZE) | (bytes[i] & 0xff);
    }
    return code;
  }
}
