package dev.retstack.machine.loader;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import it.unimi.dsi.fastutil.bytes.ByteArrayList;
import it.unimi.dsi.fastutil.bytes.ByteList;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The calls of counting functions in an image that can be patched, by index. Immutable: all cores
 * that run the image share it.
 */
public final class PatchSites {
  /** No such site. */
  public static final int NONE = -1;

  private final List<PatchSite> all;
  private final Long2IntOpenHashMap jumpEnds = new Long2IntOpenHashMap();
  private final Long2IntOpenHashMap atStart = new Long2IntOpenHashMap();

  private PatchSites(List<PatchSite> all) {
    this.all = List.copyOf(all);
    jumpEnds.defaultReturnValue(NONE);
    atStart.defaultReturnValue(NONE);
    for (int i = 0; i < all.size(); i++) {
      PatchSite site = all.get(i);
      if (site.skipsAtStart()) {
        atStart.put(site.site().address(), i);
      } else if (site.jumpEnd() != 0) {
        jumpEnds.put(site.jumpEnd(), i);
      }
    }
  }

  /** Sites of an image that can be patched; sites without a call are left out. */
  static PatchSites of(LoadedImage image) {
    Code code = image.elf().codeReader();
    List<PatchSite> sites = new ArrayList<>();
    for (int i = 0; i < image.conventions().size(); i++) {
      ActiveConvention convention = image.conventions().get(i);
      for (CallSite site : convention.sites()) {
        if (site.after() != site.address()) {
          ByteList lead = image.imports().linkageLead(convention.card());
          sites.add(site(i, convention.card(), site, code, lead));
        }
      }
    }
    return new PatchSites(sites);
  }

  /**
   * @param linkageLead what a call does besides, by the code through which it goes: that must be
   *     done also where the call is not made
   */
  private static PatchSite site(
      int convention, AbiCard card, CallSite site, Code code, ByteList linkageLead) {
    long start = card.callAdjust(code, site.address());
    byte[] bytes = new byte[(int) (site.after() - start)];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) code.at(start + i);
    }
    long size = site.after() - site.address();
    long there = code.at(site.address());
    Optional<CallForm.Skip> skip =
        card.callForms().stream()
            .filter(form -> form.size() == size && form.matches(there))
            .findFirst()
            .filter(form -> linkageLead.isEmpty() && !site.ahead())
            .flatMap(CallForm::skip);
    boolean atStart = start == site.function() && skip.isPresent() && skip.get().nop().isPresent();
    int lead = (int) (site.address() - start);
    return new PatchSite(
        convention,
        site,
        start,
        ByteList.of(bytes),
        linkageLead.isEmpty()
            ? card.nop(bytes).map(ByteList::of)
            : Optional.of(linkageLead).filter(instead -> instead.size() == bytes.length),
        skip.map(s -> skipped(bytes, lead, s, atStart)),
        skip.isEmpty() || atStart ? 0 : site.address() + jumpBytes(skip.get()));
  }

  private static ByteList skipped(byte[] call, int lead, CallForm.Skip skip, boolean atStart) {
    byte[] bytes = call.clone();
    for (int i = lead; i < bytes.length; i++) {
      int shift = Byte.SIZE * (i - lead);
      if (atStart) {
        bytes[i] = (byte) (skip.nop().orElseThrow() >>> shift);
      } else if ((byte) (skip.mask() >>> shift) != 0) {
        bytes[i] = (byte) (skip.code() >>> shift);
      }
    }
    return new ByteArrayList(bytes);
  }

  /** Bytes of the call up to the end of the jump in it. */
  private static int jumpBytes(CallForm.Skip skip) {
    return (Long.SIZE - Long.numberOfLeadingZeros(skip.mask()) + Byte.SIZE - 1) / Byte.SIZE;
  }

  public int size() {
    return all.size();
  }

  public PatchSite get(int index) {
    return all.get(index);
  }

  /** The site at an address where a nop skips the call, or {@link #NONE}. */
  public int skippedAt(long address) {
    return atStart.get(address);
  }

  /** The site whose jump ends at an address, or {@link #NONE}. */
  public int jumpingTo(long end) {
    return jumpEnds.get(end);
  }
}
