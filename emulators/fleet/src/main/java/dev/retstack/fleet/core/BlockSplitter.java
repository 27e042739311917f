package dev.retstack.fleet.core;

import dev.retstack.fleet.probe.EntryPoints;
import dev.retstack.unicorn.CodeHook;
import dev.retstack.unicorn.Unicorn;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;

/**
 * Sees to it that a block begins at each site without a call. The engine may run on into one: its
 * s390x translator takes a jump to the next instruction, a tail call of the neighbour, for none. A
 * hook on the site's first instruction then sends the engine there anew, which begins a block.
 */
final class BlockSplitter implements CodeHook {
  private static final long NOWHERE = -1;

  private final Unicorn engine;
  private final int pcRegister;
  private final EntryPoints points;
  private final LongOpenHashSet split = new LongOpenHashSet();
  private long begun = NOWHERE;
  private boolean left;

  /**
   * A splitter that has split nothing yet.
   *
   * @param points the sites
   */
  BlockSplitter(Unicorn engine, int pcRegister, EntryPoints points) {
    this.engine = engine;
    this.pcRegister = pcRegister;
    this.points = points;
  }

  /**
   * True where the block runs into a site that is not hooked yet: the engine must stop before it,
   * then {@link #split}.
   */
  boolean mustSplit(long address, int size) {
    return points.hasBlocks()
        && points.siteInside(address, size) != 0
        && !split.contains(points.siteInside(address, size));
  }

  /**
   * Between two starts: hooks the first site that a block runs into. The engine must forget the
   * block's translation.
   */
  void split(long address, int size) {
    long site = points.siteInside(address, size);
    split.add(site);
    engine.hook_add_code(this, site, site);
  }

  /**
   * True, once, where the block that is going to run is the rest of one that was left at a site:
   * its instructions were counted there already.
   */
  boolean takeRest() {
    boolean is = left;
    left = false;
    return is;
  }

  /** A block is going to run: the site that it begins with must not send the engine away. */
  void begin(long address, int size) {
    if (!split.isEmpty()) {
      EntryPoints.Site site = points.ofBlock(address, size);
      begun = site == null ? NOWHERE : site.selfPc();
    }
  }

  @Override
  public void onCode(long address, int size) {
    if (address == begun) {
      begun = NOWHERE;
    } else {
      left = true;
      engine.reg_write(pcRegister, address);
    }
  }
}
