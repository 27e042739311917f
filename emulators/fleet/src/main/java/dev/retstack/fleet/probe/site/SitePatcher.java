package dev.retstack.fleet.probe.site;

import dev.retstack.fleet.settings.TraceChange;
import dev.retstack.machine.isa.call.CodePatch;
import dev.retstack.machine.loader.PatchSite;
import dev.retstack.machine.loader.PatchSites;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import it.unimi.dsi.fastutil.bytes.ByteList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * The call sites in the memory of one core: what stands at each, and what should stand there.
 *
 * <ul>
 *   <li>A site that is switched off is nops.
 *   <li>A site that is on is its call.
 *   <li>If the core runs without calls, it is a <em>skip</em> of as many instructions, which counts
 *       the entry as well. It saves a call and a return, which are the most expensive code for an
 *       engine. If a function begins with the site, the skip is a nop, because a block begins there
 *       anyway. Elsewhere it is a jump to the next instruction, because that begins a block.
 * </ul>
 *
 * <p>Calls that cannot be skipped, and those that the program makes later, reach the counting
 * function.
 *
 * <p>The bytes at a site are compared before they are changed. If they are something else, the site
 * is left alone.
 */
public final class SitePatcher {
  /** What stands at a site. */
  private enum Form {
    CALL,
    SKIP,
    NOP
  }

  private final PatchSites sites;
  private final GuestMemory memory;
  private final boolean skipping;
  private final Form[] forms;

  /** Sites that the core stood in the middle of when they were to be changed. */
  private final BitSet waiting = new BitSet();

  private SiteRules rules;

  /**
   * The sites of a core as they are in its file.
   *
   * @param skipping true where calls are skipped
   */
  public SitePatcher(PatchSites sites, GuestMemory memory, boolean skipping) {
    this.sites = sites;
    this.memory = memory;
    this.skipping = skipping;
    forms = new Form[sites.size()];
    Arrays.fill(forms, Form.CALL);
  }

  /**
   * Makes all sites what the rules say, while the core stands still.
   *
   * @param pc where the core stands; a site around it changes when the core has left it
   */
  public TraceChange follow(SiteRules next, long pc) {
    rules = next;
    waiting.clear();
    Changes changes = new Changes();
    for (int i = 0; i < forms.length; i++) {
      change(i, pc, changes);
    }
    return changes.result();
  }

  /** True where {@link #changeWaiting} is to be called before the core runs on. */
  public boolean isWaiting() {
    return !waiting.isEmpty();
  }

  /** Changes the sites that the core has left since. */
  public void changeWaiting(long pc) {
    Changes changes = new Changes();
    for (int i = waiting.nextSetBit(0); i >= 0; i = waiting.nextSetBit(i + 1)) {
      waiting.clear(i);
      change(i, pc, changes);
    }
  }

  private void change(int index, long pc, Changes changes) {
    PatchSite site = sites.get(index);
    Form from = forms[index];
    Form to = wanted(site);
    if (from == to) {
      return;
    }
    CodePatch patch = new CodePatch(site.start(), bytes(site, from), bytes(site, to));
    if (!patch.expected().equals(patch.replacement())) {
      if (site.splitBy(pc)) {
        waiting.set(index);
        return;
      }
      try {
        patch.apply(guest);
      } catch (CodePatch.RefusedException | GuestAccessException e) {
        changes.refused.add(e.getMessage());
        return;
      }
    }
    forms[index] = to;
    changes.on += from == Form.NOP ? 1 : 0;
    changes.off += to == Form.NOP ? 1 : 0;
  }

  private Form wanted(PatchSite site) {
    if (rules.off(site.site().address())) {
      return site.nop().isPresent() ? Form.NOP : Form.CALL; // a call is not listened to then
    }
    return skipping && site.skip().isPresent() ? Form.SKIP : Form.CALL;
  }

  private static ByteList bytes(PatchSite site, Form form) {
    return switch (form) {
      case CALL -> site.call();
      case SKIP -> site.skip().orElseThrow();
      case NOP -> site.nop().orElseThrow();
    };
  }

  private final CodePatch.CodeMemory guest =
      new CodePatch.CodeMemory() {
        @Override
        public byte[] read(long address, int length) {
          return memory.read(address, length);
        }

        @Override
        public void write(long address, byte[] bytes) {
          memory.write(address, bytes);
        }
      };

  /** The sites whose skip is a nop, on or off. */
  List<EntryPoints.Site> atStart() {
    List<EntryPoints.Site> found = new ArrayList<>();
    for (int i = 0; skipping && i < sites.size(); i++) {
      if (sites.get(i).skipsAtStart()) {
        found.add(entry(sites.get(i)));
      }
    }
    return found;
  }

  /**
   * The site whose jump a block ends with.
   *
   * @param end of the block
   * @return null where it ends with none
   */
  public PatchSite jumpingTo(long end) {
    int index = sites.jumpingTo(end);
    return index != PatchSites.NONE && forms[index] == Form.SKIP ? sites.get(index) : null;
  }

  /**
   * True where the program wrote a call again that a nop skips, such as start-up code that copies
   * functions from ROM. The call reaches the counting function, so its site is no entry then.
   */
  public boolean isCallAgain(EntryPoints.Site skipped) {
    int index = sites.skippedAt(skipped.selfPc());
    return index != PatchSites.NONE
        && ByteList.of(memory.read(sites.get(index).start(), sites.get(index).call().size()))
            .equals(sites.get(index).call());
  }

  /** A skipped call as a place of entry. */
  public static EntryPoints.Site entry(PatchSite skipped) {
    return new EntryPoints.Site(
        skipped.site().address(),
        skipped.convention(),
        skipped.site().facts(),
        EntryPoints.Site.How.SWITCHED_OFF);
  }

  private static final class Changes {
    private final List<String> refused = new ArrayList<>();
    private int on;
    private int off;

    TraceChange result() {
      return new TraceChange(on, off, refused);
    }
  }
}
