package dev.retstack.fleet.probe.site;

import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.memory.VirtualTlb;
import dev.retstack.unicorn.Hook;
import dev.retstack.unicorn.Unicorn;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;

/**
 * Makes sure that a block begins at each site without a call. The engine may run on into such a
 * site: its s390x translator ignores a jump to the next instruction, which is a tail call of the
 * neighbour. A hook on the site's first instruction then starts the engine there anew, which begins
 * a block.
 */
public final class BlockSplitter implements Hook.Code {
  /** What the block hook knows of the block that runs. */
  public interface Passage {
    /** Where the running block began. */
    long began();

    /** The running block is left here; what is left of it was counted already. */
    void leave();
  }

  private final Unicorn engine;
  private final int pcRegister;
  private final EntryPoints points;
  private final VirtualTlb translations;
  private final Passage passage;
  private final LongOpenHashSet split = new LongOpenHashSet();

  /**
   * A splitter that has split nothing yet.
   *
   * @param points the sites
   */
  public BlockSplitter(Machine machine, EntryPoints points, Passage passage) {
    engine = machine.engine();
    pcRegister = machine.isa().registers().pc();
    translations = machine.tlb();
    this.points = points;
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
    translations.codeChanged(address, size);
  }

  @Override
  public void onCode(long address, int size) {
    if (!points.isSiteOf(passage.began(), address)) {
      passage.leave();
      engine.reg_write(pcRegister, address);
    }
  }
}
