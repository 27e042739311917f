package dev.retstack.fleet.probe.unwind;

import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.call.CodeAddresses;
import dev.retstack.fleet.isa.call.Registers;
import dev.retstack.fleet.landing.LandingPage;
import dev.retstack.fleet.landing.Machine;
import dev.retstack.fleet.loader.elf.Symbol;
import dev.retstack.fleet.memory.GuestAccessException;
import dev.retstack.fleet.memory.GuestMemory;
import dev.retstack.fleet.probe.frame.FrameStack;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.task.StackRegions;
import dev.retstack.unicorn.Unicorn;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;

/**
 * Functions that leave the frames of their callers: unwinders of exceptions, and longjmp.
 *
 * <p>Unwinders see true return addresses. When one is called, every hijacked return address on its
 * stack is put back; when its frame has been left, those above the stack pointer are hijacked
 * again, and the frames whose slots lie below are gone. That is so wherever it goes on: in a catch,
 * in a clean-up, which calls the next one, behind a longjmp, or where it was called.
 *
 * <p>The return addresses are found by looking for handlers, word by word, since where a function
 * saved the one that was in a register nobody tells. A copy of a handler that is no return address
 * is exchanged with them, and back.
 *
 * <p>An asker, such as dlsym, reads its own return address alone: nothing else is put back.
 *
 * <p>A longjmp reads none. When its frame has been left, the frames whose slots lie below the stack
 * pointer are taken for dead (rule D0 of {@code RET_STACK.md}).
 */
public final class Unwinding {
  /** Most unwinders that are at work at a time, one called below the other; more are let alone. */
  static final int WALKS_MOST = 16;

  /** No address. */
  public static final long NOWHERE = -1;

  /** Bytes below a longjmp's frame for the functions that it calls, as to set the signal mask. */
  private static final long CALLEES = 4096;

  /** Bytes above the slot that records name where the return address may be saved (s390x: 112). */
  private static final long ABOVE = 256;

  /** The contexts of a core. */
  public interface Stacks {
    /** The frames of all of them. */
    Iterable<? extends FrameStack> stacks();

    /** False for two addresses that are on different stacks for sure. */
    boolean mayShareStack(long one, long other);

    /**
     * On the stack of a stack pointer, the frames whose slots lie below an address are taken for
     * dead.
     */
    void giveUpBelow(long stackPointer, long address);
  }

  private final Unicorn engine;
  private final GuestMemory memory;
  private final LandingPage landing;
  private final LongUnaryOperator trampolines;
  private final StackRegions regions;
  private final Stacks contexts;
  private final EntryPoints points;
  private final CodeAddresses addresses;
  private final Registers registers;
  private final long wordMask;
  private final int wordBytes;
  private final boolean pushes;
  private final long reach;

  /** Unwinders at work, the innermost last. */
  private final List<UnwinderWalk> walks = new ArrayList<>();

  /**
   * What ends the longjmp at work, or the block behind it; null where there is none. A longjmp may
   * go to any stack. Only the last one counts: the others have called it, or went to where they
   * cannot be told from what they call.
   */
  private Leaving longjmp;

  /** The stack pointer behind that longjmp; {@link #NOWHERE} while it is at work. */
  private long landed;

  /**
   * Those of a core.
   *
   * @param trampolines where a trampoline goes on; {@link #NOWHERE} for any other address
   */
  public Unwinding(
      Machine machine,
      LongUnaryOperator trampolines,
      EntryPoints points,
      StackRegions regions,
      Stacks contexts) {
    Isa isa = machine.isa();
    engine = machine.engine();
    memory = machine.memory();
    landing = machine.landing();
    this.trampolines = trampolines;
    this.regions = regions;
    this.contexts = contexts;
    this.points = points;
    addresses = isa.addresses();
    registers = isa.registers();
    wordBytes = isa.wordBytes();
    wordMask = machine.wordMask();
    pushes = isa.pushesReturnAddress();
    reach = points.slotReach(isa);
  }

  /** What {@link #meet} waits for. */
  public List<Leaving> awaited() {
    Stream<Leaving> unwinders = walks.stream().map(UnwinderWalk::leaving);
    return Stream.concat(unwinders, Stream.ofNullable(longjmp)).toList();
  }

  /** True where {@link #meet} is to be asked about a block of the program. */
  public boolean asks(long address) {
    boolean waits = longjmp != null || !walks.isEmpty();
    return (waits && isAnyOver(address)) || points.leavesFrames(address);
  }

  private boolean isAnyOver(long address) {
    long sp = stackPointer();
    if (longjmp != null && longjmp.isAt(address, sp)) {
      return true;
    }
    for (int i = 0; i < walks.size(); i++) { // at each block: a stream costs more than all else
      if (walks.get(i).leaving().isAt(address, sp)) {
        return true;
      }
    }
    return false;
  }

  private long stackPointer() {
    return engine.reg_read(registers.sp()) & wordMask;
  }

  /**
   * A block of the program is about to run, where an unwinder or a longjmp begins, or one may be
   * over. Where neither is so nothing happens, nor when it comes again.
   *
   * @return where the program goes on: there, or at the handler where the unwinder returns by a
   *     hijacked return address, because a traced function was called away by it
   */
  public long meet(long address) {
    long sp = stackPointer();
    if (longjmp != null && longjmp.isAt(address, sp)) {
      land(address, sp);
    }
    Symbol asker = points.askerAt(address);
    Symbol unwinder = asker == null ? points.unwinderAt(address) : asker;
    long to = address;
    for (int i = walks.size() - 1; i >= 0 && to == address; i--) {
      UnwinderWalk walk = walks.get(i);
      if (walk.leaving().isAt(address, sp) && contexts.mayShareStack(walk.lowestPlace(), sp)) {
        walks.remove(i);
        to = end(walk, address, sp, unwinder != null);
      }
    }
    if (unwinder != null && to == address && walks.size() < WALKS_MOST) {
      begin(unwinder, sp, asker != null);
    }
    if (points.longjmpAt(address) != null && to == address) {
      longjmp = Leaving.of(points.longjmpAt(address), leftAt(sp), sp - CALLEES);
      landed = NOWHERE;
    }
    return to;
  }

  /**
   * The block behind a longjmp, or the one after it. Where setjmp was called with arguments on the
   * stack, these lie there again behind the longjmp, and the first block removes them.
   */
  private void land(long address, long sp) {
    boolean isFirst = landed == NOWHERE;
    if (isFirst || Long.compareUnsigned(sp, landed) > 0) {
      contexts.giveUpBelow(sp, sp + reach);
    }
    landed = sp;
    longjmp = isFirst && pushes ? Leaving.notAt(address) : null;
  }

  /** The lowest stack pointer that a function may have been left with. */
  private long leftAt(long sp) {
    return pushes ? sp + 1 : sp;
  }

  private void begin(Symbol unwinder, long sp, boolean asks) {
    StackRegions.Region region = regions.at(sp);
    UnwinderWalk walk = new UnwinderWalk(Leaving.of(unwinder, leftAt(sp), region.end()), sp);
    try {
      long nearest = pushes ? sp + wordBytes : sp;
      restore(walk, asks ? nearest : top(region));
    } catch (GuestAccessException noStack) {
      return;
    }
    if (!pushes) {
      long link = engine.reg_read(registers.link()) & wordMask;
      long original = original(link, sp);
      if (original != NOWHERE) {
        engine.reg_write(registers.link(), original);
        walk.restoredLink(link, original);
      }
    }
    if (walk.hasRestored()) {
      walks.add(walk);
    }
  }

  /** Puts back what is hijacked from the stack pointer up to an address. */
  private void restore(UnwinderWalk walk, long top) {
    long size = top - walk.stackPointer() & -wordBytes;
    if (Long.compareUnsigned(top, walk.stackPointer()) <= 0) {
      return;
    }
    StackWords words = new StackWords(memory, walk.stackPointer(), size);
    for (long at = 0; at + wordBytes <= size; at += words.step()) {
      long word = words.at(at);
      if (landing.placeAt(word) >= 0 || trampolines.applyAsLong(word) != NOWHERE) {
        long place = walk.stackPointer() + at;
        long original = original(word, place);
        if (original != NOWHERE) {
          memory.writeWord(place, original);
          walk.restored(place, word, original);
        }
      }
    }
  }

  /** One past the last word that may hold a return address of the stack. */
  private long top(StackRegions.Region region) {
    long top = 0;
    for (FrameStack stack : contexts.stacks()) {
      for (int i = 0; i < stack.size(); i++) {
        long retP = stack.retP(i);
        if (region.holds(retP)) {
          top = Long.compareUnsigned(retP, top) > 0 ? retP : top;
          break;
        }
      }
    }
    return Long.compareUnsigned(region.end() - top, ABOVE) < 0 ? region.end() : top + ABOVE;
  }

  /** What a word at a place would be without any hijack; {@link #NOWHERE} where it is none. */
  private long original(long word, long place) {
    int handler = landing.placeAt(word);
    if (handler < 0) {
      return trampolines.applyAsLong(word);
    }
    if (handler >= LandingPage.SLOTS) {
      int home = handler - LandingPage.SLOTS;
      return word == landing.address(handler) ? landing.homes().target(home) : NOWHERE;
    }
    long nearest = NOWHERE;
    long original = NOWHERE;
    for (FrameStack stack : contexts.stacks()) {
      int frame = owner(stack, handler, place);
      if (frame >= 0 && Long.compareUnsigned(stack.retP(frame), nearest) < 0) {
        nearest = stack.retP(frame);
        original = stack.fromPc(stack.first(frame));
      }
    }
    return word == landing.slot(handler) ? original : NOWHERE;
  }

  /** Of the frames of a handler the one that may have saved its return address at a place. */
  private static int owner(FrameStack stack, int handler, long place) {
    long lowest = Long.compareUnsigned(place, ABOVE) < 0 ? 0 : place - ABOVE;
    int low = 0;
    int high = stack.size(); // the first frame whose slot lies lower; slots lie the lower the later
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(stack.retP(middle), lowest) >= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    int frame = low - 1 - Math.floorMod(low - 1 - handler, LandingPage.SLOTS);
    while (frame >= 0 && stack.place(frame) != handler) {
      frame -= LandingPage.SLOTS;
    }
    return frame;
  }

  /** The unwinder has been left; this is where the program goes on. */
  private long end(UnwinderWalk walk, long address, long sp, boolean another) {
    for (int i = walk.firstFrom(sp); i < walk.size(); i++) {
      if (memory.isMapped(walk.place(i), wordBytes)
          && memory.readWord(walk.place(i)) == walk.original(i)) {
        memory.writeWord(walk.place(i), walk.hijacked(i));
      }
    }
    long returned = walk.stackPointer() + (pushes ? wordBytes : 0);
    if (sp == returned && walk.returnsTo(address, addresses) && isOfHandlers()) {
      return walk.hijackedReturn();
    }
    if (another && !pushes && sp == returned && walk.originalReturn() != NOWHERE) {
      engine.reg_write(registers.link(), walk.hijackedReturn());
    } else {
      contexts.stacks().forEach(stack -> drop(stack, walk.stackPointer(), sp + reach));
    }
    return address;
  }

  /** True where the instruction set that handlers are written in is on. */
  private boolean isOfHandlers() {
    return addresses.target(0, engine::reg_read) == 0;
  }

  /** The frames that lay on the stack between two addresses are gone, and those above them. */
  private static void drop(FrameStack stack, long low, long high) {
    int dead = stack.size();
    boolean isHere = false;
    while (dead > 0 && Long.compareUnsigned(stack.retP(dead - 1), high) < 0) {
      dead--;
      isHere |= Long.compareUnsigned(stack.retP(dead), low) >= 0;
    }
    if (isHere) {
      stack.truncate(stack.first(dead));
    }
  }
}
