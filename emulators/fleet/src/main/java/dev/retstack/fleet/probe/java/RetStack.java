package dev.retstack.fleet.probe.java;

import dev.retstack.fleet.probe.frame.FrameStack;
import dev.retstack.fleet.probe.frame.GivenUp;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CodeAddresses;
import dev.retstack.machine.landing.Homes;
import dev.retstack.machine.landing.LandingPage;
import java.util.Arrays;

/**
 * ret_stack: the hijacked returns of one context, outermost first. Which frame returns at a place,
 * and which frames are dead, is decided here, by the rules of {@code emulators/fleet/RET_STACK.md};
 * {@code ret_stack.h} decides the same in C.
 *
 * <p>Addresses are unsigned, and stacks grow downwards: a frame's slot lies above the slots of the
 * frames that it called. Grows on demand up to a limit.
 */
public class RetStack implements FrameStack {
  private static final int FIRST_CAPACITY = 32;
  private static final int NONE = -1;

  /** How far above its slot a function leaves the stack pointer. */
  public interface Up {
    /** Bytes, by the index of the convention and the site; 0: not known. */
    long of(int convention, long selfPc);
  }

  private final Up up;

  private final int limit;
  private final int handlers;
  private final long nearest;
  private long[] selfPc;
  private long[] fromPc;
  private long[] retP;
  private long[] slot;
  private long[] fp;
  private long[] time;
  private boolean[] tail;
  private byte[] convention;
  private boolean[] framed;
  private boolean[] hidden;
  private byte[] returning;
  private int[] home;
  private int size;

  /** One past the highest frame ever pushed: frames beyond {@link #size} are dead, not gone. */
  private int used;

  /** Open frames by the records, where that is more than {@link #recorded}. */
  private int shown;

  /** Frames that the records do not know: their stack has begun anew for them. */
  private int unknown;

  /**
   * An empty stack.
   *
   * @param limit most frames
   * @param handlers number of handler slots; frame {@code i} returns to slot {@code i % handlers}
   */
  public RetStack(int limit, int handlers, Up up) {
    this(limit, handlers, up, -1);
  }

  /**
   * An empty stack, which may be of pieces.
   *
   * @param nearest bytes below a stack pointer in which at most one slot is; -1 where slots are in
   *     order
   */
  RetStack(int limit, int handlers, Up up, long nearest) {
    this.nearest = nearest;
    this.up = up;
    this.limit = limit;
    this.handlers = handlers;
    int capacity = Math.min(limit, FIRST_CAPACITY);
    selfPc = new long[capacity];
    fromPc = new long[capacity];
    retP = new long[capacity];
    slot = new long[capacity];
    fp = new long[capacity];
    time = new long[capacity];
    tail = new boolean[capacity];
    convention = new byte[capacity];
    framed = new boolean[capacity];
    hidden = new boolean[capacity];
    returning = new byte[capacity];
    home = new int[capacity];
  }

  @Override
  public int size() {
    return size;
  }

  public boolean isFull() {
    return size == limit;
  }

  @Override
  public long selfPc(int frame) {
    return selfPc[frame];
  }

  @Override
  public long fromPc(int frame) {
    return fromPc[frame];
  }

  @Override
  public long retP(int frame) {
    return retP[frame];
  }

  @Override
  public long slot(int frame) {
    return slot[frame];
  }

  /** Notes the word in memory that was hijacked; 0 where it was a register. */
  void setSlot(int frame, long address) {
    slot[frame] = address;
  }

  /** Of none of the frames is it known any more which word was hijacked. */
  void forgetSlots() {
    Arrays.fill(slot, 0, size, 0);
  }

  /** All of them leave records. */
  @Override
  public int visible() {
    return size;
  }

  @Override
  public int kept() {
    return tail.length;
  }

  @Override
  public int recorded() {
    return size;
  }

  @Override
  public int shown() {
    return Math.max(shown, recorded());
  }

  @Override
  public int unknown() {
    return unknown;
  }

  @Override
  public void beginAnew() {
    shown = 0;
    unknown = size;
  }

  @Override
  public void showExit(int frame) {
    shown = Math.min(shown, frame);
  }

  /** A record shows that the frame on top has been entered: it stands on open ones. */
  void showEntry() {
    shown = 0;
  }

  @Override
  public long time(int frame) {
    return time[frame];
  }

  /** The frame was entered at this time. */
  void setTime(int frame, long now) {
    time[frame] = now;
  }

  @Override
  public long fp(int frame) {
    return fp[frame];
  }

  /** What {@link #fp} says. */
  void setFp(int frame, long framePointer) {
    fp[frame] = framePointer;
  }

  @Override
  public GivenUp.Frame givenUp(int frame) {
    return new GivenUp.Frame(
        selfPc[frame],
        fromPc[first(frame)],
        retP[frame],
        up.of(convention[frame], selfPc[frame]),
        slot[frame],
        place(frame),
        convention[frame],
        0);
  }

  @Override
  public boolean isTail(int frame) {
    return tail[frame];
  }

  /** Index of the convention that the frame was entered by. */
  public int convention(int frame) {
    return convention[frame];
  }

  /** The frame leaves no records. */
  public void hide(int frame) {
    hidden[frame] = true;
  }

  @Override
  public boolean isHidden(int frame) {
    return hidden[frame];
  }

  /** The value that the frame's function returns is recorded with its exit, in this format. */
  public void wantReturn(int frame, int format) {
    returning[frame] = (byte) (format + 1);
  }

  public boolean isReturnWanted(int frame) {
    return returning[frame] != 0;
  }

  /** How the value is to be shown that {@link #isReturnWanted} says is recorded. */
  public int returnFormat(int frame) {
    return returning[frame] - 1;
  }

  /** The topmost live frame that returns through a handler slot; negative where there is none. */
  public int topmost(int slot) {
    return size - 1 - Math.floorMod(size - 1 - slot, handlers);
  }

  /** Its handler slot, or from their number on its home. */
  @Override
  public int place(int frame) {
    return home[frame] > 0 ? handlers + home[frame] - 1 : frame % handlers;
  }

  /** A frame returns at a home. */
  void setHome(int frame, int index) {
    home[frame] = index + 1;
  }

  /** A frame gave way to another: it returns at its handler slot, where that one's return leads. */
  void gaveWay(int frame) {
    home[frame] = 0;
  }

  /**
   * Pushes a frame; the caller has checked {@link #isFull()}.
   *
   * @param tailCalled true where the frame below gave way to this one by a tail call
   * @param conventionIndex which of the image's conventions it was entered by
   * @param keepsFrame true where the function makes a frame that its callees see as their caller's
   * @return its index
   */
  public int push(
      long self,
      long from,
      long slotAddress,
      boolean tailCalled,
      int conventionIndex,
      boolean keepsFrame) {
    if (size == selfPc.length) {
      int capacity = Math.min(limit, size * 2);
      selfPc = Arrays.copyOf(selfPc, capacity);
      fromPc = Arrays.copyOf(fromPc, capacity);
      retP = Arrays.copyOf(retP, capacity);
      slot = Arrays.copyOf(slot, capacity);
      fp = Arrays.copyOf(fp, capacity);
      time = Arrays.copyOf(time, capacity);
      tail = Arrays.copyOf(tail, capacity);
      convention = Arrays.copyOf(convention, capacity);
      framed = Arrays.copyOf(framed, capacity);
      hidden = Arrays.copyOf(hidden, capacity);
      returning = Arrays.copyOf(returning, capacity);
      home = Arrays.copyOf(home, capacity);
    }
    int frame = size++;
    slot[frame] = 0;
    selfPc[frame] = self;
    fromPc[frame] = from;
    retP[frame] = slotAddress;
    tail[frame] = tailCalled;
    convention[frame] = (byte) conventionIndex;
    framed[frame] = keepsFrame;
    hidden[frame] = false;
    returning[frame] = 0;
    home[frame] = 0;
    used = Math.max(used, size);
    return frame;
  }

  /**
   * Puts the frame of a function on top, whose return is hijacked.
   *
   * @param atHome true where the word in its slot must say by itself where it leads
   * @return its index
   */
  int hijack(
      EntryPoints.Site site, EntrySlot slot, AbiCard card, LandingPage landing, boolean atHome) {
    boolean frame = card.framesEverywhere() || site.facts().keepsFrame();
    int caller = slot.tailCaller();
    long to = caller < 0 ? slot.from() : fromPc(first(caller));
    if (caller >= 0) {
      gaveWay(caller);
    }
    int index =
        push(
            site.selfPc(), slot.from(), slot.retP(), slot.isTailCalled(), site.convention(), frame);
    setHome(index, atHome ? landing.homes().of(to) : Homes.NONE);
    slot.hijack(landing.address(place(index)));
    setSlot(index, slot.address());
    return index;
  }

  @Override
  public void truncate(int frames) {
    shown = shown();
    size = frames;
    unknown = Math.min(unknown, size);
  }

  /** Rule D3: how many frames a new one with this slot stands on; a longjmp left the others. */
  public int below(long newSlot) {
    int count = size;
    while (count > 0 && Long.compareUnsigned(retP[count - 1], newSlot) <= 0) {
      count--;
    }
    return count;
  }

  /**
   * Rule D2: the frames up to the one that has a slot, if there is one: it is the caller. A frame
   * that its callees do not see might lie between them: then nothing is known.
   *
   * @return how many; 0 when no frame has it
   */
  public int callers(long callerSlot) {
    for (int i = size - 1; i >= 0; i--) {
      int order = Long.compareUnsigned(retP[i], callerSlot);
      if (order == 0) {
        return i + 1;
      }
      if (order > 0 || !framed[i]) {
        return 0;
      }
    }
    return 0;
  }

  /**
   * Rules R1 and R2: the frame that returns at a place. Of several the topmost, unless a lower
   * one's slot lies nearer below {@code above}: then those over it are dead. One that gave way to a
   * tail call is none of them.
   *
   * @param place as {@link #place} has it
   * @param above the stack pointer after the return: the frame's slot lies below it
   * @return its index; where no live frame fits a dead one, at or above {@link #size()}; or -1
   */
  @Override
  public int find(int place, long above) {
    boolean isSlot = place < handlers;
    int step = isSlot ? handlers : 1; // the frames of a handler slot are so far apart
    int top = isSlot ? topmost(place) : size - 1;
    int best = -1;
    for (int i = top; i >= 0; i -= step) {
      boolean isNone = gaveWayToAnother(i) && (!isSlot || best >= 0);
      if (place(i) != place || isNone) {
        continue;
      }
      if (best < 0 || nearer(i, best, above)) {
        best = i;
      } else if (Long.compareUnsigned(retP[best], above) < 0
          && Long.compareUnsigned(above - retP[best], nearest) <= 0) {
        break;
      }
    }
    return best >= 0 ? best : findDead(top + step, step, place, above);
  }

  private int findDead(int first, int step, int place, long above) {
    int best = -1;
    for (int i = first; i < used; i += step) {
      if (place(i) == place && (best < 0 || nearer(i, best, above))) {
        best = i;
      }
    }
    return best;
  }

  private boolean nearer(int frame, int than, long above) {
    return Long.compareUnsigned(retP[frame], above) < 0
        && (Long.compareUnsigned(retP[frame], retP[than]) > 0
            || Long.compareUnsigned(retP[than], above) >= 0);
  }

  /**
   * True where the frame above was entered by a tail call from this one. It returns after that one
   * only, and where its slot was another may be now.
   */
  private boolean gaveWayToAnother(int frame) {
    return frame + 1 < size && tail[frame + 1];
  }

  /** True for an open frame whose slot lies below an address, as it must. */
  boolean fits(int frame, long above) {
    return frame >= 0 && frame < size() && Long.compareUnsigned(retP(frame), above) < 0;
  }

  /** Rule T2: what a slot that holds this would hold without any hijack. */
  long original(long from, LandingPage landing, CodeAddresses addresses) {
    long to = from;
    for (int i = 0; i < LandingPage.SLOTS; i++) {
      int place = landing.placeAt(addresses.instruction(to));
      int frame = place < 0 ? NONE : place < LandingPage.SLOTS ? topmost(place) : find(place, -1);
      if (frame < 0) {
        break;
      }
      to = fromPc(frame);
    }
    return to;
  }

  /** Rules D1 to D3: how many frames a new one stands on; a longjmp left the others. */
  int living(AbiCard card, int tailCaller, long newSlot, long fp, long wordMask) {
    int count = tailCaller + 1; // NONE: nobody
    if (count == 0 && card.slotFromFp().isPresent()) {
      count = callers((fp + card.slotFromFp().getAsLong()) & wordMask);
    }
    return count == 0 ? below(newSlot) : count;
  }

  /**
   * Rule T1: where a function is entered by a tail call, the word in its slot is a place of the
   * tracer's. Of the frame that gave way to the new one it becomes the handler slot, as records
   * have it; where that had been given up, where it returned to.
   */
  void lookForTailCall(
      EntryPoints.Site site,
      EntrySlot slot,
      GivenUp givenUp,
      LandingPage landing,
      CodeAddresses addresses) {
    int place = landing.placeAt(addresses.instruction(slot.from()));
    slot.setTailCaller(place >= 0, NONE);
    if (place < 0) {
      return;
    }
    long exit = slot.retP() + up.of(site.convention(), site.selfPc());
    int frame = find(place, slot.retP() + 1);
    boolean isOpen = frame >= 0 && frame < size();
    GivenUp.Frame dead =
        givenUp.isEmpty() || (isOpen && exit(frame) == exit) ? null : givenUp.leaving(place, exit);
    if (dead != null) {
      slot.returnsTo(dead.fromPc());
      slot.setTailCaller(landing.placeAt(addresses.instruction(dead.fromPc())) >= 0, NONE);
      return;
    }
    slot.setTailCaller(true, isOpen ? frame : NONE);
    if (frame >= 0 && place >= LandingPage.SLOTS) {
      slot.returnsTo(landing.slot(frame % LandingPage.SLOTS));
    }
  }

  /** Where an open frame leaves the stack pointer. */
  private long exit(int frame) {
    return retP[frame] + up.of(convention[frame], selfPc[frame]);
  }
}
