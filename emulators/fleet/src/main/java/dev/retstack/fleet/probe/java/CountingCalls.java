package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.site.EntryPoints.Site;
import dev.retstack.fleet.probe.site.Operands;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Arrays;

/** Handles the calls of an image's counting functions for {@link JavaProbe}. */
final class CountingCalls {
  private final EntryPoints points;
  private final GuestMemory memory;
  private final CodeAddresses addresses;
  private final AbiCard[] cards;
  private long[] functions;
  private int[][] candidates;
  private final Long2ObjectOpenHashMap<Site> sites = new Long2ObjectOpenHashMap<>();

  CountingCalls(EntryPoints points, GuestMemory memory, CodeAddresses addresses) {
    this.points = points;
    this.memory = memory;
    this.addresses = addresses;
    cards = points.cards().toArray(AbiCard[]::new);
    clear();
  }

  private void findFunctions() {
    var countingBy = points.countingFunctions();
    functions = countingBy.keySet().toLongArray();
    candidates = Arrays.stream(functions).mapToObj(countingBy::get).toArray(int[][]::new);
  }

  /** The cards by which the counting function at an address may be called; null for any other. */
  int[] of(long address) {
    for (int i = 0; i < functions.length; i++) {
      if (address == functions[i]) {
        return candidates[i];
      }
    }
    return null;
  }

  /**
   * The site of the call that has come to a counting function; null where the return address of the
   * call is in memory that is not there.
   *
   * @param among the cards by which that may be called
   * @param operands reads registers and memory
   */
  Site site(int[] among, Operands operands) {
    long back;
    try {
      back = addresses.instruction(operands.value(cards[among[0]].returnAddress().orElseThrow()));
    } catch (GuestAccessException noReturnAddress) {
      return null;
    }
    Site site = sites.get(back);
    if (site == null) {
      site = points.ofCall(back, among, memory::code);
      sites.put(back, site);
    }
    return site;
  }

  /** Code changed. */
  void clear() {
    sites.clear();
    findFunctions();
  }
}
