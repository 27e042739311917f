package dev.retstack.machine.loader;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Finds the functions that begin with nops for a call, by the tables that compilers leave. */
final class NopSites {
  /** Most bytes of other instructions (endbr64, bti, set-up of the TOC) in front of the nops. */
  private static final long LEAD_IN = 16;

  /** Most bytes of nops in front of a function (gcc -fpatchable-function-entry=N,M). */
  private static final long NOPS_BEFORE = 256;

  private final ElfFile image;
  private final Code code;

  NopSites(ElfFile image) {
    this.image = image;
    this.code = image.codeReader();
  }

  /** The sites of a card's table that begin with nops. */
  List<CallSite> find(AbiCard card) {
    List<Long> table =
        switch (card.siteTable()) {
          case NONE -> List.of();
          case PATCHABLE -> image.patchableSites();
          case MCOUNT_LOC -> image.mcountLoc();
        };
    List<CallSite> sites = new ArrayList<>();
    for (long address : table) {
      if (nopAt(card, address) > 0) {
        site(card, address).ifPresent(sites::add);
      }
    }
    return sites;
  }

  private Optional<CallSite> site(AbiCard card, long address) {
    return card.siteTable() == AbiCard.SiteTable.MCOUNT_LOC
        ? inFunction(card, address)
        : atBeginning(card, address);
  }

  /** In place of a call, which may stand behind the prologue. */
  private Optional<CallSite> inFunction(AbiCard card, long site) {
    long function = SiteFinder.holder(image, site).map(Symbol::address).orElse(site);
    return card.prologue()
        .scan(code, function, site, site)
        .map(facts -> new CallSite(site, function, site, facts));
  }

  private Optional<CallSite> atBeginning(AbiCard card, long address) {
    long function = image.functionAt(address).map(Symbol::address).orElse(address - LEAD_IN - 1);
    long site = address;
    boolean far = address - function > LEAD_IN;
    if (far || SiteFinder.holder(image, address).isEmpty()) {
      site = behindNops(card, address);
      function = far || site != address ? site : function;
    }
    long entry = function;
    long at = site;
    return card.prologue()
        .scan(code, entry, at, at)
        .map(facts -> new CallSite(at, entry, at, facts));
  }

  /** Nops may stand in front of the function: then it is entered behind them. */
  private long behindNops(AbiCard card, long address) {
    long at = address;
    int nop = nopAt(card, at);
    while (nop > 0 && at - address < NOPS_BEFORE) {
      at += nop;
      long next = at;
      if (image.functionAt(at).filter(f -> f.address() == next).isPresent()) {
        return at;
      }
      nop = nopAt(card, at);
    }
    return address;
  }

  /** Bytes of the nop at an address, 0 where there is none. */
  private int nopAt(AbiCard card, long address) {
    for (byte[] nop : card.siteNops()) {
      byte[] there = new byte[nop.length];
      Optional<byte[]> read =
          image
              .memory(address, nop.length)
              .map(
                  bytes -> {
                    bytes.get(0, there);
                    return there;
                  });
      if (read.isPresent() && Arrays.equals(nop, there)) {
        return nop.length;
      }
    }
    return 0;
  }
}
