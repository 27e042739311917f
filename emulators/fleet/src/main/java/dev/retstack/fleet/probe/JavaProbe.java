package dev.retstack.fleet.probe;

import dev.retstack.fleet.core.AstrayException;
import dev.retstack.fleet.core.GuestAccessException;
import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.core.LandingPage;
import dev.retstack.fleet.core.TraceClock;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.CodeAddresses;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.Operand;
import dev.retstack.fleet.isa.Slot;
import dev.retstack.fleet.probe.EntryPoints.Site;
import dev.retstack.schema.codec.RecordBatch;
import dev.retstack.unicorn.Unicorn;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.List;

/**
 * The reference probe: entry hijack and exit restore in Java, driven by the ABI card alone.
 *
 * <p>The counting function, every handler slot and every function that begins with nops begin a
 * block, so the core's block hook is the place where all are seen. An entry puts the address of a
 * handler slot where the function's return address was; the return then arrives there, and the
 * landing code goes on at the saved address through the mailbox.
 */
public final class JavaProbe implements BlockProbe {
  private final Unicorn engine;
  private final GuestMemory memory;
  private final LandingPage landing;
  private final TraceClock clock;
  private final CodeAddresses addresses;
  private final int stackPointer;

  /** Added to the stack pointer at exit: below that lie the slots that may be the frame's own. */
  private final long slotReach;

  private final long wordMask;
  private final EntryPoints points;
  private final AbiCard[] cards;
  private final long[] countingFunctions;
  private final int[][] candidates;
  private final RetStack stack;
  private final Long2ObjectOpenHashMap<Site> calls = new Long2ObjectOpenHashMap<>();
  private RecordBatch batch = new RecordBatch(0);
  private long overruns;
  private long unhijackable;

  /** The slot of the entry at hand, where {@link #takeSlot} found one. */
  private Slot slot;

  private long slotAddress;
  private long retp;
  private long from;

  /**
   * A probe of one core.
   *
   * @param points where the functions of the image are entered
   * @param retStackLimit most hijacked returns at a time
   */
  public JavaProbe(
      Unicorn engine,
      GuestMemory memory,
      LandingPage landing,
      TraceClock clock,
      Isa isa,
      EntryPoints points,
      int retStackLimit) {
    this.engine = engine;
    this.memory = memory;
    this.landing = landing;
    this.clock = clock;
    this.addresses = isa.addresses();
    this.stackPointer = isa.registers().sp();
    this.wordMask = isa.wordBytes() == 8 ? -1 : 0xffff_ffffL;
    this.points = points;
    this.cards = points.cards().toArray(AbiCard[]::new);
    this.slotReach = points.slotReach(isa);
    this.countingFunctions = points.countingFunctions().keySet().toLongArray();
    this.candidates = new int[countingFunctions.length][];
    for (int i = 0; i < candidates.length; i++) {
      candidates[i] = points.countingFunctions().get(countingFunctions[i]);
    }
    this.stack = new RetStack(retStackLimit, LandingPage.SLOTS);
  }

  @Override
  public Block onBlock(long address, int size) {
    for (int i = 0; i < countingFunctions.length; i++) {
      if (address == countingFunctions[i]) {
        if (batch.isFull()) {
          return Block.FULL;
        }
        called(candidates[i]);
        return Block.TRACER;
      }
    }
    int handler = landing.slotAt(address);
    if (handler >= 0) {
      if (batch.isFull()) {
        return Block.FULL;
      }
      exit(handler, address);
      return Block.TRACER;
    }
    Site site = points.hasBlocks() ? points.ofBlock(address, size) : null;
    if (site != null) {
      if (batch.isFull()) {
        return Block.FULL;
      }
      entry(site);
    }
    return Block.PROGRAM;
  }

  private void called(int[] among) {
    try {
      long returnAddress =
          addresses.instruction(value(cards[among[0]].returnAddress().orElseThrow()));
      Site site = calls.get(returnAddress);
      if (site == null) {
        site = points.ofCall(returnAddress, among, memory::code);
        calls.put(returnAddress, site);
      }
      entry(site);
    } catch (GuestAccessException noReturnAddress) {
      unhijackable++;
    }
  }

  private void entry(Site site) {
    AbiCard card = cards[site.convention()];
    try {
      if (takeSlot(card, site)) {
        enter(card, site, card.fpAtEntry().isPresent() ? value(card.fpAtEntry().get()) : 0);
        return;
      }
    } catch (GuestAccessException noFrameThere) {
      // counted like any other place without a slot
    }
    unhijackable++;
  }

  /** Finds the slot that holds the function's return address. */
  private boolean takeSlot(AbiCard card, Site site) {
    List<Slot> slots = card.slots();
    for (int i = 0; i < slots.size(); i++) {
      slot = slots.get(i);
      if (slot.appliesTo(site.facts()) && holdsReturnAddress(card, site)) {
        return true;
      }
    }
    return false;
  }

  private boolean holdsReturnAddress(AbiCard card, Site site) {
    slotAddress = value(slot.address());
    if (slot.place() == Slot.Place.SAVED) {
      slotAddress = (slotAddress + site.facts().savedAt()) & wordMask;
    }
    retp =
        slot.frame().isPresent()
            ? (value(slot.frame().get()) + site.facts().frameBytes()) & wordMask
            : slotAddress;
    if (slot.place() == Slot.Place.REGISTER) {
      from = (engine.reg_read(slot.register()) - slot.addend()) & wordMask;
      return true;
    }
    if (slotAddress == 0) {
      return false;
    }
    from = memory.readWord(slotAddress);
    return card.parent().isEmpty() || value(card.parent().get()) == from;
  }

  private void enter(AbiCard card, Site site, long fp) {
    int tailCaller = landing.slotAt(addresses.instruction(from));
    dropDeadFrames(card, tailCaller, fp);
    if (stack.isFull()) {
      overruns++;
      return;
    }
    boolean frame = card.framesEverywhere() || site.facts().keepsFrame();
    int index = stack.push(site.selfPc(), from, retp, tailCaller >= 0, site.convention(), frame);
    long handler = landing.slot(stack.handlerOf(index));
    if (slot.place() == Slot.Place.REGISTER) {
      engine.reg_write(slot.register(), (handler + slot.addend()) & wordMask);
    } else {
      memory.writeWord(slotAddress, handler);
    }
    batch.add(
        RecordBatch.ENTRY,
        clock.now(),
        index,
        site.selfPc(),
        addresses.instruction(from),
        retp,
        fp);
  }

  /** What a longjmp left on ret_stack must go before the new frame is put there. */
  private void dropDeadFrames(AbiCard card, int tailCaller, long fp) {
    if (tailCaller >= 0) {
      int frame = stack.find(tailCaller, retp + 1);
      if (frame >= 0 && frame < stack.size()) {
        stack.truncate(frame + 1);
        return;
      }
    }
    if (card.slotFromFp().isEmpty()
        || !stack.dropAbove((fp + card.slotFromFp().getAsLong()) & wordMask)) {
      stack.dropDead(retp);
    }
  }

  private void exit(int handler, long address) {
    int frame = stack.find(handler, engine.reg_read(stackPointer) + slotReach);
    if (frame < 0) {
      throw new AstrayException(address);
    }
    AbiCard card = cards[stack.convention(frame)];
    long to = stack.fromPc(frame);
    batch.add(
        RecordBatch.EXIT,
        clock.now(),
        frame,
        stack.selfPc(frame),
        addresses.instruction(to),
        retpAtExit(card, stack.retP(frame)),
        card.fpAtExit().isPresent() ? value(card.fpAtExit().get()) : 0);
    stack.truncate(Math.min(frame, stack.size()));
    // a function may return some bytes further on (SPARC, struct results)
    landing.goOnAt((to + (address - landing.slot(handler))) & wordMask);
  }

  /** The slot as the stack pointer foretells it; that of the entry where it cannot. */
  private long retpAtExit(AbiCard card, long atEntry) {
    List<Operand> foretold = card.retpAtExit();
    for (int i = 0; i < foretold.size(); i++) {
      if (value(foretold.get(i)) == atEntry) {
        return atEntry;
      }
    }
    return foretold.isEmpty() ? atEntry : value(foretold.getFirst());
  }

  private long value(Operand operand) {
    long sum = (engine.reg_read(operand.register()) + operand.offset()) & wordMask;
    return operand.inMemory() ? (memory.readWord(sum) + operand.addend()) & wordMask : sum;
  }

  @Override
  public void codeChanged() {
    calls.clear();
  }

  @Override
  public void recordInto(RecordBuffer buffer) {
    batch = buffer.batch();
  }

  @Override
  public RecordBatch batch() {
    return batch;
  }

  @Override
  public void clear() {
    batch.clear();
    overruns = 0;
    unhijackable = 0;
  }

  @Override
  public long overruns() {
    return overruns;
  }

  @Override
  public long unhijackable() {
    return unhijackable;
  }
}
