package dev.retstack.fleet.core.interrupt;

import dev.retstack.fleet.landing.LandingPage;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.memory.GuestMemory;
import it.unimi.dsi.fastutil.longs.Long2LongRBTreeMap;
import java.util.List;

/**
 * Where a core may be interrupted: at the beginning of a block that begins there whatever is
 * traced. That is not at a call site, nor directly behind one, because a block begins there only
 * while a call or a jump stands there. It is not in a counting function, nor in the tracer's code,
 * which takes no time.
 */
public final class InterruptPlaces {
  private final List<LandingPage.Range> tracers;
  private final boolean delaySlots;

  /** Start of a place to its last address, both not allowed. */
  private final Long2LongRBTreeMap taken = new Long2LongRBTreeMap(Long::compareUnsigned);

  /**
   * Those of an image.
   *
   * @param tracers ranges of the tracer's code
   */
  public InterruptPlaces(LoadedImage image, List<LandingPage.Range> tracers) {
    this.tracers = List.copyOf(tracers);
    delaySlots = image.isa().interrupts().delaySlots();
    for (int i = 0; i < image.patchSites().size(); i++) {
      add(image.patchSites().get(i).start(), image.patchSites().get(i).site().after());
    }
    image
        .conventions()
        .forEach(
            convention -> {
              convention.sites().forEach(site -> add(site.address(), site.after()));
              convention
                  .countingFunctions()
                  .forEach(f -> add(f.address(), f.address() + Math.max(1, f.size()) - 1));
            });
  }

  private void add(long first, long last) {
    long known = taken.getOrDefault(first, first);
    taken.put(first, Long.compareUnsigned(known, last) > 0 ? known : last);
  }

  /** True for the tracer's code. */
  public boolean isTracers(long address) {
    return tracers.stream().anyMatch(range -> range.overlaps(address, 1));
  }

  /** True where an interrupt may come before the block at an address. */
  public boolean allows(long address) {
    if (isTracers(address)) {
      return false;
    }
    // a block that a page's end cut off may be the delay slot of a branch
    if (delaySlots && address % GuestMemory.PAGE == 0) {
      return false;
    }
    var upTo = taken.headMap(address + 1);
    return upTo.isEmpty() || Long.compareUnsigned(taken.get(upTo.lastLongKey()), address) < 0;
  }
}
