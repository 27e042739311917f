package dev.retstack.machine.loader;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.loader.dwarf.FunctionStarts;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** Finds calls of the counting function in code, by the call forms of an ABI card. */
final class CallSiteScanner {
  private final ElfFile image;
  private final Imports imports;
  private final Code code;

  /** Read when a site has no symbol: most images have one for each. */
  private FunctionStarts starts;

  CallSiteScanner(ElfFile image, Imports imports) {
    this.image = image;
    this.imports = imports;
    this.code = image.codeReader();
  }

  /**
   * Every call that goes to one of {@code targets}, or to a function of another file by a name of
   * the card, from code that is of the card's convention, sorted by address. Bytes that are a call
   * by chance are recognised by the target: all 32 bits of a call would have to agree.
   */
  List<CallSite> find(AbiCard card, LongSet targets) {
    List<CallSite> sites = new ArrayList<>();
    for (ElfFile.CodeRange range : image.code()) {
      scan(range, card, targets, sites);
    }
    sites.sort((a, b) -> Long.compareUnsigned(a.address(), b.address()));
    return sites;
  }

  private void scan(ElfFile.CodeRange range, AbiCard card, LongSet targets, List<CallSite> sites) {
    ByteBuffer bytes = range.bytes();
    int size = bytes.capacity();
    long window = 0;
    for (int i = Math.min(Long.BYTES, size) - 1; i >= 0; i--) {
      window = (window << 8) | (bytes.get(i) & 0xFF);
    }
    CallForm[] forms = card.callForms().toArray(CallForm[]::new);
    int skip = 0;
    for (int at = 0; at < size; at++) {
      if (skip > 0) {
        skip--;
      } else {
        long address = range.address() + at;
        CallForm form = callAt(forms, address, window, size - at, card, targets);
        if (form != null) {
          add(card, address, form.size(), sites);
          // A shorter form may lie inside a longer one.
          skip = form.size() - 1;
        }
      }
      int next = at + Long.BYTES;
      window = (window >>> 8) | (next < size ? (long) bytes.get(next) << 56 : 0);
    }
  }

  private FunctionStarts starts() {
    starts = starts == null ? FunctionStarts.of(image) : starts;
    return starts;
  }

  /** Where the function begins that holds an address; the address itself where that is unknown. */
  private long functionOf(long address) {
    return image
        .functionAt(address)
        .map(Symbol::address)
        .orElseGet(() -> starts().of(address).orElse(address));
  }

  private void add(AbiCard card, long address, int size, List<CallSite> sites) {
    long function = functionOf(address);
    card.prologue()
        .scan(code, function, address, address + size)
        .ifPresent(facts -> sites.add(new CallSite(address, function, address + size, facts)));
  }

  /** The form of the call that stands at {@code address}, or null. */
  private CallForm callAt(
      CallForm[] forms, long address, long code, int left, AbiCard card, LongSet targets) {
    for (CallForm form : forms) {
      if (form.matches(code) && form.size() <= left && counts(form, address, code, card, targets)) {
        return form;
      }
    }
    return null;
  }

  private boolean counts(CallForm form, long address, long code, AbiCard card, LongSet targets) {
    long mask = image.is64() ? -1 : 0xFFFF_FFFFL;
    if (form.indirect()) {
      OptionalLong word =
          form.pointer()
              .orElseThrow()
              .of(this.code, () -> functionOf(address), address, imports.got());
      return word.isPresent() && leads(word.getAsLong() & mask, card, targets);
    }
    long target = form.target().of(address, code) & mask;
    return targets.contains(target)
        || card.symbols().contains(imports.through(target))
        || targets.contains(card.through(this.code, target));
  }

  private boolean leads(long word, AbiCard card, LongSet targets) {
    return points(word, targets) || card.symbols().contains(imports.throughSlot(word));
  }

  /** True for a word that holds a target, also where its relocation only adds the base. */
  private boolean points(long address, LongSet targets) {
    return image
        .memory(address, image.wordBytes())
        .map(b -> image.is64() ? b.getLong(0) : b.getInt(0) & 0xFFFF_FFFFL)
        .filter(to -> targets.contains((long) to) || targets.contains(to + image.bias()))
        .isPresent();
  }
}
