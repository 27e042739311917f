package dev.retstack.fleet.zoo;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;

/**
 * Counts instructions by a hook on every one of them, those of the counting function left out:
 * shares no code with the clock.
 *
 * <p>The engine calls no hook for what an IT instruction of Thumb skips, though it is executed, as
 * nothing. So an IT counts for its whole block, and what the hook reports of the block does not.
 */
final class InstructionCount {
  private final LoadedImage image;
  private final LongOpenHashSet counting = new LongOpenHashSet();
  private final LongOpenHashSet inItBlocks = new LongOpenHashSet();
  private final LongOpenHashSet sites;

  /** True where code may be Thumb: to look for an IT at each instruction takes its time. */
  private final boolean mayBeThumb;

  private long previous;
  private long count;

  InstructionCount(LoadedImage image) {
    this.image = image;
    this.sites = new LongOpenHashSet(image.callSites());
    this.mayBeThumb =
        image.elf().functions().stream()
            .anyMatch(f -> image.elf().secondInstructionSet(f.address()));
    for (long address : EntryPoints.of(image).countingFunctions().keySet()) {
      Symbol function = image.elf().functionAt(address).orElseThrow();
      for (long at = address; at != function.address() + function.size(); at++) {
        counting.add(at);
      }
    }
  }

  /** Counts from now on. */
  void watch(Core core) {
    if (image.isa().engine().stopsAtJumps()) {
      // a hook on each instruction would lose the next one behind a branch; all have four bytes
      core.engine().hook_add_block((address, size) -> executedBlock(address, size / 4), 1, 0);
    } else {
      core.engine().hook_add_code((address, size) -> executed(address), 1, 0);
    }
  }

  long count() {
    return count;
  }

  private void executedBlock(long address, int instructions) {
    count += counting.contains(address) ? 0 : instructions;
  }

  private void executed(long address) {
    // begun, left for its page or to begin a block, begun again: one instruction
    boolean restarts = image.isa().engine().leaves().always() || sites.contains(address);
    boolean again = address == previous && restarts;
    previous = address;
    if (!again && !counting.contains(address) && !inItBlocks.contains(address)) {
      count += 1 + itBlock(address);
    }
  }

  /** Instructions of the block of an IT at this address; 0 where there is none. */
  private int itBlock(long address) {
    if (!mayBeThumb) {
      return 0;
    }
    boolean thumb =
        image.elf().functionAt(address).stream()
            .anyMatch(f -> image.elf().secondInstructionSet(f.address()));
    int code = halfword(address);
    if (!thumb || (code & 0xff00) != 0xbf00 || (code & 0xf) == 0) {
      return 0;
    }
    int instructions = 4 - Integer.numberOfTrailingZeros(code & 0xf);
    long at = address + 2;
    for (int i = 0; i < instructions; i++) {
      inItBlocks.add(at);
      at += halfword(at) >= 0xe800 ? 4 : 2;
    }
    return instructions;
  }

  private int halfword(long address) {
    return (int) image.elf().codeReader().at(address) & 0xffff;
  }
}
