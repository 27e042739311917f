package dev.retstack.fleet.core.interrupt;

import dev.retstack.fleet.probe.Arrival;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.memory.GuestMemory;
import it.unimi.dsi.fastutil.longs.Long2LongRBTreeMap;
import java.util.ArrayList;
import java.util.List;

/**
 * Where a core may be interrupted: at the beginning of a block that begins there whatever is
 * traced. A call site may be a call, a jump or nops, and what follows it is a separate block in the
 * first two cases only. So the places around a site depend on how the core came:
 *
 * <table>
 * <caption>places around a site</caption>
 * <tr><td>the site</td><td>by a jump, a call or a return; not if the code in front runs into it</td></tr>
 * <tr><td>inside it</td><td>never</td></tr>
 * <tr><td>directly behind it</td><td>by a jump: a loop may begin there; not through the site</td></tr>
 * </table>
 *
 * <p>No interrupt comes in a counting function, nor in the tracer's code, which takes no time.
 */
public final class InterruptPlaces {
  private final List<LandingPage.Range> counting = new ArrayList<>();
  private final boolean delaySlots;

  /** Start of a site to the address behind it. */
  private final Long2LongRBTreeMap sites = new Long2LongRBTreeMap(Long::compareUnsigned);

  /** The places of an image. */
  public InterruptPlaces(LoadedImage image) {
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
                  .forEach(
                      f -> counting.add(new LandingPage.Range(f.address(), Math.max(1, f.size()))));
            });
  }

  private void add(long start, long behind) {
    long known = sites.getOrDefault(start, start);
    sites.put(start, Long.compareUnsigned(known, behind) > 0 ? known : behind);
  }

  /**
   * True where an interrupt may come before the block at an address of the program.
   *
   * @param came how the core came there
   */
  public boolean allows(long address, Arrival came) {
    boolean begins = !came.runsInto(address);
    // a block that a page's end cut off may be the delay slot of a branch
    if (isCounting(address) || (delaySlots && address % GuestMemory.PAGE == 0 && !begins)) {
      return false;
    }
    if (sites.containsKey(address) && !begins) {
      return false;
    }
    var before = sites.headMap(address);
    if (before.isEmpty()) {
      return true;
    }
    long start = before.lastLongKey();
    long behind = sites.get(start);
    return Long.compareUnsigned(behind, address) < 0
        || (behind == address && !isThrough(start, behind, came));
  }

  /** True where the core came to the address behind a site through the site. */
  private boolean isThrough(long start, long behind, Arrival came) {
    return switch (came.how()) {
      case PUT -> false;
      case RAN ->
          isCounting(came.start())
              || Long.compareUnsigned(came.end() - start - 1, behind - start) < 0;
      case SPLIT, TRACER -> true;
    };
  }

  private boolean isCounting(long address) {
    return counting.stream().anyMatch(range -> range.overlaps(address, 1));
  }
}
