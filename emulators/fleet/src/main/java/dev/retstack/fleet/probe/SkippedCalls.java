package dev.retstack.fleet.probe;

import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.CallForm;
import dev.retstack.fleet.loader.ActiveConvention;
import dev.retstack.fleet.loader.CallSite;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The calls of counting functions that a core goes without. Where a function begins with one, a nop
 * stands in its place, and the function is entered where the block begins; elsewhere a jump behind
 * itself, and the function is entered where it arrives. Either takes as many instructions as the
 * call. That saves a call and a return, the dearest things that an engine translates. Calls of
 * other forms, and those that the program makes later, reach the counting function.
 */
public final class SkippedCalls {
  /** By the address behind them. */
  private final Long2ObjectOpenHashMap<EntryPoints.Site> sites = new Long2ObjectOpenHashMap<>();

  private final List<EntryPoints.Site> atStart = new ArrayList<>();

  /** By the address behind the jump; that of the call where the jump leaves bytes unused. */
  private final Long2ObjectOpenHashMap<Long> behind = new Long2ObjectOpenHashMap<>();

  /** Puts the jumps into the memory of a core that has not started. */
  public SkippedCalls(List<ActiveConvention> conventions, GuestMemory memory) {
    for (int i = 0; i < conventions.size(); i++) {
      ActiveConvention convention = conventions.get(i);
      for (CallSite site : convention.sites()) {
        int index = i;
        form(convention.card(), site, memory)
            .flatMap(CallForm::skip)
            .ifPresent(
                skip ->
                    skip(
                        site,
                        new EntryPoints.Site(site.address(), index, site.facts(), true),
                        skip,
                        memory));
      }
    }
  }

  private static Optional<CallForm> form(AbiCard card, CallSite site, GuestMemory memory) {
    long size = site.after() - site.address();
    return card.callForms().stream()
        .filter(form -> form.size() == size && form.matches(memory.code(site.address())))
        .findFirst();
  }

  private void skip(CallSite site, EntryPoints.Site entry, CallForm.Skip skip, GuestMemory memory) {
    byte[] bytes = memory.read(site.address(), (int) (site.after() - site.address()));
    if (site.address() == site.function() && skip.nop().isPresent()) {
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) (skip.nop().getAsLong() >> (Byte.SIZE * i));
      }
      memory.write(site.address(), bytes);
      atStart.add(entry);
      return;
    }
    int end = 0;
    for (int i = 0; i < bytes.length; i++) {
      if ((byte) (skip.mask() >> (Byte.SIZE * i)) != 0) {
        bytes[i] = (byte) (skip.code() >> (Byte.SIZE * i));
        end = i + 1;
      }
    }
    memory.write(site.address(), bytes);
    behind.put(site.address() + end, (Long) site.after());
    sites.put(site.after(), entry);
  }

  /** The sites of calls that stood at the beginning of a function. */
  List<EntryPoints.Site> atStart() {
    return atStart;
  }

  /**
   * The site behind which the program goes on, after a block that ends with its jump.
   *
   * @param end of the block
   * @return the address behind the call; 0 where the block ends with none
   */
  long after(long end) {
    Long after = behind.get(end);
    return after == null ? 0 : after;
  }

  /** The site of a call that {@link #after} gave. */
  EntryPoints.Site site(long after) {
    return sites.get(after);
  }
}
