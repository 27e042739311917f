package dev.retstack.fleet.probe.unwind;

import dev.retstack.fleet.probe.frame.FrameStack;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.task.Contexts;
import dev.retstack.fleet.probe.task.StackRegions.Region;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.isa.call.Registers;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.isa.call.Slot;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.memory.Addresses;
import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.unicorn.Unicorn;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;

/**
 * Functions that leave the frames of their callers: unwinders of exceptions, and longjmp.
 *
 * <p>Unwinders see true return addresses. When one is called, every hijacked return address on its
 * stack is put back, and on the stacks where it may continue: those that signal handlers, other
 * interrupts and tasks have left for this one. When its frame has been left, those above the stack
 * pointer are hijacked again, and the frames whose slots lie below are gone. That is so wherever
 * the program continues: in a catch, in a clean-up, which calls the next one, behind a longjmp, or
 * where the unwinder was called.
 *
 * <p>Of a deep stack only the lowest words are hijacked again, and more of them before the frames
 * return that those are of. So the cost of an exception grows with the frames that it leaves, and
 * not with all that are open at each of its clean-ups.
 *
 * <p>The return addresses are found by looking for handlers, word by word, since nobody knows where
 * a function saved the one that was in a register. A copy of a handler that is no return address is
 * exchanged with them, and back.
 *
 * <p>An asker, such as dlsym, reads its own return address alone: nothing else is put back.
 *
 * <p>A traced function may read its own return address, or those of its callers. Then the true ones
 * are put back when it is entered, and its return is noticed by where it goes.
 *
 * <p>A longjmp reads none. When its frame has been left, the frames whose slots lie below the stack
 * pointer are taken for dead (rule D0 of {@code RET_STACK.md}).
 */
public final class Unwinding {
  /** Most unwinders that are at work at a time, one called below the other; more are let alone. */
  static final int WALKS_MOST = 16;

  /** Readers that are waited for at a time: on one stack the innermost returns first. */
  static final int READERS_MOST = 8;

  /** No address. */
  public static final long NOWHERE = Contexts.NOWHERE;

  /** Words that are hijacked again at a time. */
  private static final int BATCH = 64;

  /** Bytes below a slot in which a function saves a return address that was in a register. */
  private static final long SAVED_WITHIN = 16 * 1024L;

  /** Bytes below a longjmp's frame for the functions that it calls, as to set the signal mask. */
  private static final long CALLEES = 4096;

  /** Bytes above the slot that records name where the return address may be saved (s390x: 112). */
  private static final long ABOVE = 256;

  /** The contexts of a core, and what its probe must hear of. */
  public interface Stacks {
    /** The contexts as they are. */
    Contexts<?> contexts();

    /** {@link Contexts#leaveHandlers}. */
    void leaveHandlers(long stackPointer);

    /** {@link Contexts#giveUpBelow}. */
    void giveUpBelow(long stackPointer, long address);
  }

  /**
   * A call of a traced function that reads its return address: the true one is there until it has
   * returned.
   *
   * @param leaving where it has returned, or has given way to another function
   * @param stack on which it was called
   * @param retP the slot of its frame, as records say it
   * @param place the word that holds the return address at its entry; 0 where a register does
   * @param hijacked what the tracer had written there
   * @param original what is there instead
   */
  private record Reader(
      Leaving leaving, TrueWords stack, long retP, long place, long hijacked, long original) {
    /** Bytes above the slot in which the stack pointer may be behind a return. */
    private static final long NEAR = 4096;

    /** Bytes above the slot where the frame is between the two. */
    private static final long FAR = 64 * 1024;

    /**
     * Where a function has been left.
     *
     * @param first the lowest stack pointer
     * @param isNear true where that is the one behind its return
     * @param back where it returns to
     */
    static Leaving leaving(Symbol function, long first, boolean isNear, long back) {
      return Leaving.of(function, first, first + (isNear ? NEAR : FAR), back);
    }
  }

  private final Unicorn engine;
  private final GuestMemory memory;
  private final LandingPage landing;
  private final LongUnaryOperator trampolines;
  private final LongSupplier lastBlock;
  private final Stacks probe;
  private final Contexts<?> contexts;
  private final EntryPoints points;
  private final CodeAddresses addresses;
  private final Registers registers;
  private final long wordMask;
  private final int wordBytes;
  private final boolean pushes;
  private final boolean inPieces;
  private final long reach;
  private final long signalFrameBytes;
  private final List<Integer> arguments;

  /** The words that are not hijacked now, by stack. */
  private final List<TrueWords> stacks = new ArrayList<>();

  /** Where the stack pointer may be while all words stay as they are; null: anywhere. */
  private Leaving window;

  /** Unwinders at work, the innermost last. */
  private final List<UnwinderWalk> walks = new ArrayList<>();

  /** Calls of functions that read their own return address, the innermost last. */
  private final List<Reader> readers = new ArrayList<>();

  /**
   * What ends the longjmp at work, or the block behind it; null where there is none. A longjmp may
   * go to any stack. Only the last one counts: the others have called it, or went to where they
   * cannot be distinguished from what they call.
   */
  private Leaving longjmp;

  /** The stack pointer behind that longjmp; {@link #NOWHERE} while it is at work. */
  private long landed;

  /**
   * The unwinding of a core.
   *
   * @param trampolines where a trampoline leads; {@link #NOWHERE} for any other address
   * @param lastBlock where the block begins that ran last
   */
  public Unwinding(
      Machine machine,
      LongUnaryOperator trampolines,
      EntryPoints points,
      LongSupplier lastBlock,
      Stacks probe) {
    Isa isa = machine.isa();
    engine = machine.engine();
    memory = machine.memory();
    landing = machine.landing();
    this.trampolines = trampolines;
    this.lastBlock = lastBlock;
    this.probe = probe;
    this.contexts = probe.contexts();
    this.points = points;
    addresses = isa.addresses();
    registers = isa.registers();
    wordBytes = isa.wordBytes();
    wordMask = machine.wordMask();
    pushes = isa.pushesReturnAddress();
    inPieces = contexts.inPieces();
    reach = points.slotReach(isa);
    signalFrameBytes = isa.syscalls().signals().frameBytes();
    arguments = isa.interrupts().arguments();
  }

  /** What {@link #meet} waits for. */
  public List<Leaving> awaited() {
    Stream<Leaving> unwinders = walks.stream().flatMap(UnwinderWalk::leavings);
    Stream<Leaving> others = Stream.of(longjmp, window).filter(Objects::nonNull);
    TrueWords here = wordsAt(stackPointer());
    Stream<Leaving> reading =
        readers.subList(oldestReader(), readers.size()).stream()
            .filter(reader -> reader.stack() == here)
            .map(Reader::leaving);
    return Stream.of(unwinders, reading, others).flatMap(known -> known).toList();
  }

  /** True where {@link #meet} is to be asked about a block of the program. */
  public boolean asks(long address) {
    boolean waits = longjmp != null || window != null || !walks.isEmpty() || !readers.isEmpty();
    return (waits && isAnyOver(address)) || points.leavesFrames(address);
  }

  private boolean isAnyOver(long address) {
    long sp = stackPointer();
    if ((longjmp != null && longjmp.isAt(address, sp))
        || (window != null && window.isAt(address, sp))) {
      return true;
    }
    for (int i = oldestReader(); i < readers.size(); i++) {
      if (readers.get(i).leaving().isAt(address, sp)) {
        return true;
      }
    }
    for (int i = 0; i < walks.size(); i++) { // at each block: a stream costs more than all else
      if (walks.get(i).isLeftAt(address, sp)) {
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
   * @return where the program continues: there, or at the handler where the unwinder returns by a
   *     hijacked return address, because a traced function was called away by it
   */
  public long meet(long address) {
    long sp = stackPointer();
    if (longjmp != null && longjmp.isAt(address, sp)) {
      land(address, sp);
    }
    Symbol lookup = points.lookupAt(address);
    if (lookup != null) {
      landing.seen().used("asked for with " + lookup.name(), firstArgument(sp));
    }
    Symbol asker = points.askerAt(address);
    Symbol unwinder = asker == null ? points.unwinderAt(address) : asker;
    long to = leaveReaders(address, sp);
    for (int i = walks.size() - 1; i >= 0 && to == address; i--) {
      UnwinderWalk walk = walks.get(i);
      if (isLeft(walk, address, sp)) {
        walks.remove(i);
        to = end(walk, address, sp, unwinder != null);
      }
    }
    TrueWords here = wordsAt(sp);
    if (here != null && Long.compareUnsigned(sp, here.due()) >= 0) {
      hijack(here, sp, BATCH);
    }
    if (unwinder != null && to == address && walks.size() < WALKS_MOST) {
      begin(unwinder, sp, asker != null);
    }
    if (points.longjmpAt(address) != null && to == address) {
      longjmp = Leaving.of(points.longjmpAt(address), leftAt(sp), sp - CALLEES);
      landed = NOWHERE;
    }
    stacks.removeIf(words -> words.size() == 0 && !isInUse(words));
    window = window(sp);
    return to;
  }

  /** Of a function that is about to run. */
  private long firstArgument(long sp) {
    if (arguments.isEmpty()) {
      return memory.isMapped(sp + wordBytes, wordBytes) ? memory.readWord(sp + wordBytes) : 0;
    }
    return engine.reg_read(arguments.getFirst()) & wordMask;
  }

  /**
   * A traced function has been entered and hijacked that reads return addresses: it finds the true
   * ones.
   *
   * @param convention index of its card
   * @param retP the slot of its frame, as records say it
   * @param place the word that holds its return address; 0 where a register does
   */
  public void enter(int convention, long selfPc, long retP, long place) {
    Symbol function = points.function(selfPc).orElseThrow();
    Slot slot = place == 0 ? inRegister(convention) : null;
    long word =
        slot == null
            ? memory.readWord(place)
            : (engine.reg_read(slot.register()) - slot.addend()) & wordMask;
    long original = original(word, place == 0 ? retP : place);
    if (original == NOWHERE) {
      return;
    }
    OptionalLong exit = points.exit(convention, selfPc, retP);
    long first = pushes ? retP : exit.orElse((place == 0 ? retP : place) + 1);
    long back = addresses.instruction(original);
    TrueWords words = words(stackPointer());
    if (points.reads(selfPc) == ReturnReads.Kind.ALL && walks.size() < WALKS_MOST) {
      Leaving leaving = Leaving.of(function, first, words.end(), back);
      UnwinderWalk walk = new UnwinderWalk(leaving, first, words);
      try {
        restore(words, stackPointer(), stackPointer(), top(words));
      } catch (GuestAccessException noStack) {
        return;
      }
      walk.restoredReturn(word, original);
      reach(walk);
      walks.add(walk);
    } else {
      boolean isNear = pushes || exit.isPresent();
      Leaving leaving = Reader.leaving(function, first, isNear, back);
      readers.add(new Reader(leaving, words, retP, place, word, original));
      if (place != 0) {
        memory.writeWord(place, original);
      }
    }
    if (slot != null) {
      engine.reg_write(slot.register(), original + slot.addend());
    }
    window = window(stackPointer());
  }

  /** The slot of functions whose return address is in a register. */
  private Slot inRegister(int convention) {
    return points.cards().get(convention).slots().stream()
        .filter(slot -> slot.place() == Slot.Place.REGISTER)
        .findFirst()
        .orElseThrow();
  }

  /** Of the readers that are waited for. */
  private int oldestReader() {
    return Math.max(0, readers.size() - READERS_MOST);
  }

  /** Readers that have returned or given way, and those whose frames are gone. */
  private long leaveReaders(long address, long sp) {
    long to = address;
    for (int i = readers.size() - 1; i >= oldestReader() && to == address; i--) {
      Reader reader = readers.get(i);
      if (reader.leaving().isAt(address, sp) && reader.stack() == wordsAt(sp)) {
        readers.remove(i);
        to = leave(reader, address, sp);
      }
    }
    while (!readers.isEmpty() && !isOpen(readers.getLast().retP())) {
      readers.removeLast();
    }
    return to;
  }

  private long leave(Reader reader, long address, long sp) {
    boolean isReturn = address == reader.leaving().back() && (!pushes || sp != reader.retP());
    if (isReturn) {
      return handlersAreOn() ? reader.hijacked() : address;
    }
    if (sp == reader.leaving().first()) {
      giveWay(pushes ? reader.retP() : 0, reader.hijacked(), reader.original());
    }
    return address;
  }

  /** A function has given way to another, which is to return by the hijacked address again. */
  private void giveWay(long place, long hijacked, long original) {
    if (place != 0 && memory.readWord(place) == original) {
      memory.writeWord(place, hijacked);
    } else if (place == 0 && linked() == original) {
      engine.reg_write(registers.link(), hijacked - addresses.linkBias());
    }
  }

  /** Where a return by the link register goes. */
  private long linked() {
    return (engine.reg_read(registers.link()) + addresses.linkBias()) & wordMask;
  }

  /** True where a frame with this slot is open. */
  private boolean isOpen(long retP) {
    for (FrameStack frames : contexts.all()) {
      for (int i = inPieces ? frames.size() - 1 : -1; i >= 0; i--) {
        if (frames.retP(i) == retP) {
          return true;
        }
      }
      int next = firstBelow(frames, retP);
      if (next > 0 && frames.retP(next - 1) == retP) {
        return true;
      }
    }
    return false;
  }

  private boolean isLeft(UnwinderWalk walk, long address, long sp) {
    if (walk.isLeftAt(address, sp)
        && contexts.stackOf(sp).isSame(walk.words().stack())
        && contexts.mayShareStack(walk.lowestPlace(), sp)) {
      return true;
    }
    for (UnwinderWalk.Other other : walk.others()) {
      if ((other.isOwn() || walk.leaving().isOf(lastBlock.getAsLong()))
          && Long.compareUnsigned(sp, other.from()) >= 0
          && wordsAt(sp) == other.words()) {
        return true;
      }
    }
    return false;
  }

  /**
   * The block behind a longjmp, or the one after it. Where setjmp was called with arguments on the
   * stack, these lie there again behind the longjmp, and the first block removes them.
   */
  private void land(long address, long sp) {
    boolean isFirst = landed == NOWHERE;
    if (isFirst || Long.compareUnsigned(sp, landed) > 0) {
      probe.giveUpBelow(sp, sp + reach);
    }
    landed = sp;
    longjmp = isFirst && pushes ? Leaving.notAt(address) : null;
  }

  /** The lowest stack pointer that a function may have been left with. */
  private long leftAt(long sp) {
    return pushes ? sp + 1 : sp;
  }

  private void begin(Symbol unwinder, long sp, boolean asks) {
    TrueWords words = words(sp);
    Leaving leaving = Leaving.of(unwinder, asks ? sp + 1 : leftAt(sp), words.end());
    UnwinderWalk walk = new UnwinderWalk(leaving, sp, words);
    try {
      if (asks && pushes) {
        restoreReturn(walk);
      } else if (!asks) {
        restore(words, sp, sp, top(words));
      }
    } catch (GuestAccessException noStack) {
      return;
    }
    if (pushes && !asks && words.lowest() == sp) {
      walk.restoredReturn(words.hijacked(), words.original());
    }
    if (!pushes) {
      long link = engine.reg_read(registers.link()) & wordMask;
      long original = original(link, sp);
      if (original != NOWHERE) {
        engine.reg_write(registers.link(), original);
        walk.restoredReturn(link, original);
        if (asks) { // getcontext of arm calls sigprocmask without a frame
          walk.returnsBy(Leaving.by(addresses.instruction(original), sp));
        }
      }
    }
    if (!asks) {
      reach(walk);
    }
    if (walk.hasRestored()) {
      walks.add(walk);
    }
  }

  /** The word where a call has pushed its return address. */
  private void restoreReturn(UnwinderWalk walk) {
    long place = walk.stackPointer();
    long word = memory.readWord(place);
    long original = isHandler(word) ? original(word, place) : NOWHERE;
    if (original != NOWHERE) {
      memory.writeWord(place, original);
      walk.restoredReturn(word, original);
    }
  }

  /** Puts back what is hijacked on other stacks on which the unwinder may continue. */
  private void reach(UnwinderWalk walk) {
    for (Contexts.Reached<?> reached : contexts.reached(walk.stackPointer())) {
      if (reached.from() != NOWHERE) {
        reach(walk, reached.from(), true, reached.isOwn());
      }
      FrameStack frames = reached.frames();
      Region region = null;
      for (int i = frames.size() - 1; i >= 0; i--) {
        long slot = frames.retP(i);
        if (region == null || !region.holds(slot - 1)) {
          region = contexts.stackOf(slot).region();
          reach(walk, slot, false, reached.isOwn());
        }
        if (!inPieces) {
          i = Math.min(i, firstBelow(frames, region.end() + 1));
        }
      }
    }
  }

  /**
   * Puts back what is hijacked on another stack.
   *
   * @param from its stack pointer if that is known, else the slot of its innermost frame
   */
  private void reach(UnwinderWalk walk, long from, boolean isKnown, boolean isOwn) {
    TrueWords words = words(from);
    if (walk.uses(words)) {
      return;
    }
    try {
      long saved = Math.min(SAVED_WITHIN, from - words.stack().region().start());
      restore(words, isKnown || pushes ? from : from - saved, from, top(words));
    } catch (GuestAccessException noStack) {
      return;
    }
    words.due(words.stack().region().start());
    long lowest = isKnown ? from : words.stack().region().start();
    walk.reaches(new UnwinderWalk.Other(words, lowest, isOwn));
  }

  /**
   * Index of the first frame whose slot lies below an address. A frame that gave way is where the
   * last of those is that it gave way to: its own slot may lie below theirs.
   */
  private static int firstBelow(FrameStack stack, long address) {
    int low = 0;
    int high = stack.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      int last = stack.last(middle);
      if (Long.compareUnsigned(stack.retP(last), address) >= 0) {
        low = last + 1;
      } else {
        high = stack.first(middle);
      }
    }
    return low;
  }

  /**
   * Index of the first frame whose slot lies below an address in a region. On a stack of one piece
   * the region may be another one.
   */
  private int firstBelow(FrameStack stack, long address, Region region) {
    int first = inPieces ? 0 : firstBelow(stack, address);
    while (inPieces && first < stack.size() && !isOn(region, stack.retP(first), address)) {
      first++;
    }
    return first;
  }

  /** True for a slot below an address in a region. */
  private boolean isOn(Region region, long slot, long address) {
    return region.holds(slot - 1) && Long.compareUnsigned(slot, address) < 0;
  }

  /** The words of the stack that a stack pointer is on. */
  private TrueWords words(long stackPointer) {
    Contexts.Stack stack = contexts.stackOf(stackPointer);
    TrueWords words = wordsOf(stack);
    if (words == null) {
      words = new TrueWords(stack);
      stacks.add(words);
    }
    words.isNow(stack);
    return words;
  }

  /** The true words of a stack; null where none were put back. */
  private TrueWords wordsOf(Contexts.Stack stack) {
    for (TrueWords words : stacks) {
      if (words.stack().isSame(stack)) {
        return words;
      }
    }
    return null;
  }

  private TrueWords wordsAt(long stackPointer) {
    return stacks.isEmpty() ? null : wordsOf(contexts.stackOf(stackPointer));
  }

  private boolean isInUse(TrueWords words) {
    return walks.stream().anyMatch(walk -> walk.uses(words))
        || readers.stream().anyMatch(reader -> reader.stack() == words);
  }

  /** Where the stack pointer may be while all words stay as they are; null: anywhere. */
  private Leaving window(long sp) {
    if (stacks.isEmpty()) {
      return null;
    }
    TrueWords here = wordsAt(sp);
    Region stack = contexts.around(sp);
    long high = here == null ? stack.end() : Addresses.lower(here.due(), stack.end());
    return new Leaving(high, stack.start() - high, 0, 0, NOWHERE);
  }

  private boolean isHandler(long word) {
    return landing.placeAt(word) >= 0 || trampolines.applyAsLong(word) != NOWHERE;
  }

  /**
   * Puts back what is hijacked between two addresses, up to the first word that is put back.
   *
   * @param slot of the innermost frame: only the highest word below it is of that frame
   */
  private void restore(TrueWords to, long stackPointer, long slot, long most) {
    while (Long.compareUnsigned(to.lowest(), stackPointer) < 0) {
      hijackLowest(to);
    }
    long top = Addresses.lower(to.lowest(), most);
    long size = top - stackPointer & -wordBytes;
    if (Long.compareUnsigned(top, stackPointer) <= 0) {
      return;
    }
    StackWords words = new StackWords(memory, stackPointer, size);
    long saved = slot - stackPointer; // where the words below the slot end
    for (long at = size - wordBytes; at >= 0; at -= words.step()) {
      long word = words.at(at);
      long place = stackPointer + at;
      if (isHandler(word) && (to.stack().isSeparate() || !contexts.stackAt(place).isSeparate())) {
        long original = original(word, place);
        if (original != NOWHERE) {
          memory.writeWord(place, original);
          to.add(place, word, original);
          if (at < saved) {
            return;
          }
        }
      }
    }
  }

  /** One past the last word that may hold a return address of a stack. */
  private long top(TrueWords words) {
    if (words.stack().isSeparate()) {
      return words.end(); // where the frame is of what was interrupted
    }
    Region region = words.stack().region();
    long top = 0;
    for (FrameStack frames : contexts.framesOf(words.stack())) {
      int outermost = firstBelow(frames, region.end() + 1, region);
      long retP = outermost < frames.size() ? frames.retP(frames.last(outermost)) : 0;
      if (Long.compareUnsigned(retP, region.start()) >= 0) {
        top = Long.compareUnsigned(retP, top) > 0 ? retP : top;
      }
    }
    return Addresses.lower(top + ABOVE, region.end());
  }

  /** What a word at a place would be without any hijack; {@link #NOWHERE} where it is none. */
  private long original(long word, long at) {
    int handler = landing.placeAt(word);
    if (handler < 0) {
      return trampolines.applyAsLong(word);
    }
    if (handler >= LandingPage.SLOTS) {
      int home = handler - LandingPage.SLOTS;
      return word == landing.address(handler) ? landing.homes().target(home) : NOWHERE;
    }
    long place = contexts.stackPointerOf(at, signalFrameBytes);
    long nearest = NOWHERE;
    long original = NOWHERE;
    for (FrameStack stack : contexts.all()) {
      int frame = owner(stack, handler, place);
      if (frame >= 0 && Long.compareUnsigned(stack.retP(frame), nearest) < 0) {
        nearest = stack.retP(frame);
        original = stack.fromPc(stack.first(frame));
      }
    }
    return word == landing.slot(handler) ? original : NOWHERE;
  }

  /** Of the frames of a handler the one that may have saved its return address at a place. */
  private int owner(FrameStack stack, int handler, long place) {
    long lowest = Long.compareUnsigned(place, ABOVE) < 0 ? 0 : place - ABOVE;
    if (inPieces) {
      return ownerOnPiece(stack, handler, lowest, contexts.stackAt(place).region());
    }
    int last = firstBelow(stack, lowest) - 1; // slots lie the lower the later
    int frame = last - Math.floorMod(last - handler, LandingPage.SLOTS);
    while (frame >= 0 && stack.place(frame) != handler) {
      frame -= LandingPage.SLOTS;
    }
    return frame;
  }

  private int ownerOnPiece(FrameStack stack, int handler, long lowest, Region piece) {
    int frame = stack.size() - 1;
    while (frame >= 0
        && (stack.place(frame) != handler
            || !piece.holds(stack.retP(frame))
            || Long.compareUnsigned(stack.retP(frame), lowest) < 0)) {
      frame--;
    }
    return frame;
  }

  /** The unwinder has been left; returns where the program continues. */
  private long end(UnwinderWalk walk, long address, long sp, boolean another) {
    TrueWords here = wordsAt(sp);
    boolean isAcross = here != walk.words();
    long returned = walk.stackPointer() + (pushes ? wordBytes : 0);
    boolean isReader = walk.leaving().back() != NOWHERE;
    boolean isReturn =
        (isReader ? address == walk.leaving().back() : sp == returned)
            && walk.originalReturn() != NOWHERE;
    long to = address;
    if (isReturn && walk.returnsTo(address, addresses) && handlersAreOn()) {
      to = walk.hijackedReturn();
    } else if (isReader && sp == walk.leaving().first()) {
      giveWay(pushes ? sp : 0, walk.hijackedReturn(), walk.originalReturn());
    } else if (isReturn && another && !pushes) {
      engine.reg_write(registers.link(), walk.hijackedReturn());
    } else {
      drop(walk, here, sp);
    }
    hijack(walk.words(), isAcross ? walk.stackPointer() : sp, BATCH);
    for (UnwinderWalk.Other other : walk.others()) {
      if (other.words() == here) {
        hijack(here, sp, BATCH);
      } else {
        hijack(other.words(), other.from(), 1);
      }
    }
    return to;
  }

  /**
   * Hijacks words of a stack again: those below the stack pointer, which other stacks may have
   * there, and those of the frames that return next. But none that an unwinder needs that is still
   * at work.
   */
  private void hijack(TrueWords words, long sp, int batch) {
    long end = words.end();
    for (UnwinderWalk walk : walks) {
      end = walk.words() == words ? Addresses.lower(walk.stackPointer(), end) : end;
      for (UnwinderWalk.Other other : walk.others()) {
        end = other.words() == words && other.isOwn() ? Addresses.lower(other.from(), end) : end;
      }
    }
    boolean isAll = words.stack().isSeparate();
    long due = NOWHERE;
    while (Long.compareUnsigned(words.lowest(), end) < 0
        && (isAll || due == NOWHERE || Long.compareUnsigned(due, sp) <= 0)) {
      long last = words.lowest();
      for (int i = 0; i < batch && Long.compareUnsigned(words.lowest(), end) < 0; i++) {
        last = words.lowest();
        hijackLowest(words);
      }
      due = due(words, last);
    }
    words.due(Long.compareUnsigned(words.lowest(), end) < 0 ? due : words.end());
  }

  /** Hijacks the lowest word of a stack again, if it still is the return address of a frame. */
  private void hijackLowest(TrueWords words) {
    long place = words.lowest();
    if (memory.isMapped(place, wordBytes)
        && memory.readWord(place) == words.original()
        && original(words.hijacked(), place) == words.original()) {
      memory.writeWord(place, words.hijacked());
    }
    words.removeLowest();
  }

  /**
   * Words up to an address are hijacked: the stack pointer at which more must be. It is that of the
   * return of the frame below the last whose return address is surely among them.
   */
  private long due(TrueWords words, long last) {
    Region region = words.stack().region();
    long outer = 0;
    long inner = 0;
    for (FrameStack frames : contexts.framesOf(words.stack())) {
      int found = 0;
      for (int i = firstBelow(frames, last - ABOVE, region); i < frames.size() && found < 2; i++) {
        long slot = frames.retP(i);
        if (!region.holds(slot)) {
          if (inPieces) {
            continue;
          }
          break;
        }
        if (Long.compareUnsigned(slot, outer) > 0) {
          inner = outer;
          outer = slot;
          found++;
        } else if (slot != outer && Long.compareUnsigned(slot, inner) > 0) {
          inner = slot;
          found++;
        }
      }
    }
    return inner == 0 ? NOWHERE : leftAt(inner);
  }

  /** True where the instruction set that handlers are written in is on, or could be chosen. */
  private boolean handlersAreOn() {
    if (addresses.target(0, engine::reg_read) != 0) {
      int mode = addresses.modeRegister();
      engine.reg_write(mode, engine.reg_read(mode) & ~addresses.modeMask());
    }
    return addresses.target(0, engine::reg_read) == 0;
  }

  /** The frames are gone that lay below a stack pointer on the stacks that an unwinder has left. */
  private void drop(UnwinderWalk walk, TrueWords here, long sp) {
    if (inPieces && contexts.outside()) {
      contexts.truncateBelow(sp, sp + reach);
      return;
    }
    boolean isAcross = here != walk.words();
    drop(walk.words(), walk.stackPointer(), isAcross ? walk.words().end() : sp + reach);
    Contexts.Stack to = contexts.stackOf(sp);
    boolean isThere = false;
    for (UnwinderWalk.Other other : isAcross ? walk.others() : List.<UnwinderWalk.Other>of()) {
      TrueWords words = other.words();
      boolean isOfEnds = other.isOwn() || words.stack().isOfTask(to);
      if (words == here) {
        drop(here, other.from(), sp + reach);
        isThere = true;
      } else if ((isOfEnds && !isThere)
          || contexts.isBetween(words.stack(), walk.words().stack(), to)) {
        drop(words, other.from(), words.end());
      }
    }
    probe.leaveHandlers(sp);
  }

  /**
   * The frames that lay on a stack between two addresses are gone, and those above them. Not those
   * of another stack: where a stack ends is not known, and one may lie close behind another.
   */
  private void drop(TrueWords words, long low, long high) {
    for (FrameStack stack : contexts.framesOf(words.stack())) {
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
}
