package dev.retstack.fleet.probe;

import dev.retstack.fleet.control.TraceSettings;
import dev.retstack.fleet.core.Homes;
import dev.retstack.fleet.core.LandingPage;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.CodeAddresses;

/** What the probe in Java keeps of one context: its ret_stack, and what goes with that. */
final class JavaFrames implements FrameStack {
  private static final int NONE = -1;

  final RetStack stack;
  final LateEntries late;

  /** Index of the frame of a graph function below which all is recorded. */
  private int graphBase = NONE;

  private final EntryPoints points;

  /** No frames. */
  JavaFrames(int limit, TraceSettings settings, EntryPoints points) {
    this.points = points;
    stack = new RetStack(limit, LandingPage.SLOTS);
    late = new LateEntries(stack);
    late.follow(settings.minDuration());
  }

  /**
   * Puts the frame of a function on top, whose return is hijacked.
   *
   * @param atHome true where the word in its slot must say by itself where it leads
   * @return its index
   */
  int push(
      EntryPoints.Site site, EntrySlot slot, AbiCard card, LandingPage landing, boolean atHome) {
    boolean frame = card.framesEverywhere() || site.facts().keepsFrame();
    int caller = slot.tailCaller();
    long to = caller < 0 ? slot.from() : stack.fromPc(first(caller));
    if (caller >= 0) {
      stack.gaveWay(caller);
    }
    int index =
        stack.push(
            site.selfPc(), slot.from(), slot.retP(), slot.isTailCalled(), site.convention(), frame);
    stack.setHome(index, atHome ? landing.homes().of(to) : Homes.NONE);
    slot.hijack(landing.address(stack.placeOf(index)));
    stack.setSlot(index, slot.address());
    return index;
  }

  @Override
  public int size() {
    return stack.size();
  }

  @Override
  public int visible() {
    return isHidden() ? stack.size() - 1 : stack.size();
  }

  /** True while what is called leaves no records. */
  boolean isHidden() {
    return stack.size() > 0 && stack.isHidden(stack.size() - 1);
  }

  @Override
  public long retP(int frame) {
    return stack.retP(frame);
  }

  @Override
  public long fromPc(int frame) {
    return stack.fromPc(frame);
  }

  @Override
  public int place(int frame) {
    return stack.placeOf(frame);
  }

  @Override
  public boolean isTail(int frame) {
    return stack.isTail(frame);
  }

  @Override
  public void truncate(int count) {
    stack.truncate(count);
  }

  @Override
  public GivenUp.Frame givenUp(int frame) {
    return new GivenUp.Frame(
        stack.selfPc(frame),
        stack.fromPc(first(frame)),
        stack.retP(frame),
        points.up(stack.convention(frame), stack.selfPc(frame)),
        stack.slot(frame),
        stack.placeOf(frame),
        stack.convention(frame),
        0);
  }

  @Override
  public int find(int place, long above) {
    return stack.find(place, above);
  }

  /** True for an open frame whose slot lies below an address, as it must. */
  boolean fits(int frame, long above) {
    return frame >= 0 && frame < stack.size() && Long.compareUnsigned(stack.retP(frame), above) < 0;
  }

  /** From here on other settings count. */
  void follow(SiteRules rules) {
    late.follow(rules.settings().minDuration());
    forgetSlots();
    graphBase = NONE;
    for (int i = 0; i < stack.size() && graphBase == NONE; i++) {
      if ((rules.of(stack.selfPc(i)) & SiteRules.GRAPH) != 0 && !stack.isHidden(i)) {
        graphBase = i;
      }
    }
  }

  /** Entries may not be seen: frames die unnoticed, and their slots are used again. */
  void forgetSlots() {
    stack.forgetSlots();
  }

  /** True where the settings say that a frame pushed now is none. */
  boolean ignores(int flags, TraceSettings settings) {
    int index = stack.size();
    if (graphBase >= index) {
      graphBase = NONE;
    }
    boolean outside =
        graphBase == NONE
            && !settings.graphFunctions().isEmpty()
            // what is hidden is hidden outside of the graph as well
            && (flags & (SiteRules.GRAPH | SiteRules.HIDE)) == 0;
    int deepest = settings.maxDepth();
    return isHidden() || outside || (deepest > 0 && index >= deepest);
  }

  /** Says what a new frame is for beside its exit, by its flags; true where it has no records. */
  boolean hides(int frame, int flags, SiteRules rules) {
    if ((flags & SiteRules.HIDE) != 0) {
      stack.hide(frame);
      return true;
    }
    if ((flags & SiteRules.RETURN) != 0) {
      stack.wantReturn(frame, rules.returnFormat(stack.selfPc(frame)));
    }
    return false;
  }

  /** The frame on top opens the graph where none is open. */
  void openGraph(TraceSettings settings) {
    if (graphBase == NONE && !settings.graphFunctions().isEmpty()) {
      graphBase = stack.size() - 1;
    }
  }

  /** What a slot that holds this would hold without any hijack. */
  long original(long from, LandingPage landing, CodeAddresses addresses) {
    long to = from;
    for (int i = 0; i < LandingPage.SLOTS; i++) {
      int place = landing.placeAt(addresses.instruction(to));
      int frame =
          place < 0
              ? NONE
              : place < LandingPage.SLOTS ? stack.topmost(place) : stack.find(place, -1);
      if (frame < 0) {
        break;
      }
      to = stack.fromPc(frame);
    }
    return to;
  }

  /** How many frames a new one stands on: a longjmp left the others. */
  int living(AbiCard card, int tailCaller, long newSlot, long fp, long wordMask) {
    int count = tailCaller + 1; // NONE: nobody
    if (count == 0 && card.slotFromFp().isPresent()) {
      count = stack.callers((fp + card.slotFromFp().getAsLong()) & wordMask);
    }
    return count == 0 ? stack.below(newSlot) : count;
  }

  /**
   * Where a function is entered by a tail call, the word in its slot is a place of the tracer's. Of
   * the frame that gave way to the new one it becomes the handler slot, as records have it; where
   * that had been given up, where it returned to.
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
    long exit = slot.retP() + points.up(site.convention(), site.selfPc());
    int frame = stack.find(place, slot.retP() + 1);
    boolean isOpen = frame >= 0 && frame < stack.size();
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

  private long exit(int frame) {
    return stack.retP(frame) + points.up(stack.convention(frame), stack.selfPc(frame));
  }
}
