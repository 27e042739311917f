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
public final class BlockSplitter implements CodeHook {
  /** What the block hook knows of the block that runs. */
  public interface Passage {
    /** Where the running block began. */
    long began();

    /** The running block is left here; what is left of it was counted already. */
    void leave();
  }

  /** Makes the engine forget translations. */
  @FunctionalInterface
  public interface Retranslation {
    /** Forgets those of a range. */
    void forget(long address, long size);
  }

  private final Unicorn engine;
  private final int pcRegister;
  private final EntryPoints points;
  private final Retranslation translations;
  private final Passage passage;
  private final LongOpenHashSet split = new LongOpenHashSet();

  /**
   * A splitter that has split nothing yet.
   *
   * @param points the sites
   */
  BlockSplitter(
      Unicorn engine,
      int pcRegister,
      EntryPoints points,
      Retranslation translations,
      Passage passage) {
    this.engine = engine;
    this.pcRegister = pcRegister;
    this.points = points;
    this.translations = translations;
    this.passage = passage;
  }

  /**
   * True where the block runs into a site that is not hooked yet: the engine must stop before it,
   * then {@link #split}.
   */
  public boolean mustSplit(long address, int size) {
    return points.hasBlocks()
        && points.siteInside(address, size) != 0
        && !split.contains(points.siteInside(address, size));
  }

  /** Between two starts: hooks the first site that a block runs into. */
  public void split(long address, int size) {
    long site = points.siteInside(address, size);
    split.add(site);
    engine.hook_add_code(this, site, site);
    translations.forget(address, size);
  }

  @Override
  public void onCode(long address, int size) {
    if (!points.isSiteOf(passage.began(), address)) {
      passage.leave();
      engine.reg_write(pcRegister, address);
    }
  }
}
