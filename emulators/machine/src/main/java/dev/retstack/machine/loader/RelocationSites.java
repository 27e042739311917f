package dev.retstack.machine.loader;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import java.util.ArrayList;
import java.util.List;

/** Finds calls of the counting function by the relocations against it. */
final class RelocationSites {
  private final ElfFile image;
  private final Code code;

  RelocationSites(ElfFile image) {
    this.image = image;
    this.code = image.codeReader();
  }

  /** Every call that a card knows, in code that is of its convention; sorted by address. */
  List<CallSite> find(AbiCard card) {
    List<CallSite> sites = new ArrayList<>();
    for (ElfFile.Relocation relocation : image.relocations()) {
      if (card.symbols().contains(relocation.symbol())) {
        add(card, relocation, sites);
      }
    }
    sites.sort((a, b) -> Long.compareUnsigned(a.address(), b.address()));
    return sites;
  }

  private void add(AbiCard card, ElfFile.Relocation relocation, List<CallSite> sites) {
    for (CallForm.Relocation form : card.callRelocations()) {
      long address = relocation.address() - form.at();
      int size = form.type() == relocation.type() ? sizeOfCall(card, address, form.at()) : 0;
      if (size > 0) {
        long function = image.functionAt(address).map(Symbol::address).orElse(address);
        card.prologue()
            .scan(code, function, address, address + size)
            .ifPresent(facts -> sites.add(new CallSite(address, function, address + size, facts)));
        return;
      }
    }
  }

  /**
   * Bytes of the call at an address whose target is {@code targetAt} bytes behind it; 0 for none.
   */
  private int sizeOfCall(AbiCard card, long address, int targetAt) {
    long there = code.at(address);
    return card.callForms().stream()
        .filter(form -> form.matches(there) && form.targetAt(targetAt))
        .filter(form -> image.memory(address, form.size()).isPresent())
        .mapToInt(CallForm::size)
        .findFirst()
        .orElse(0);
  }
}
