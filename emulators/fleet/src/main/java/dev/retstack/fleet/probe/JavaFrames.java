package dev.retstack.fleet.probe;

import dev.retstack.fleet.control.TraceSettings;
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

  /** Puts the frame of a function on top, whose return is hijacked; its index. */
  int push(
      EntryPoints.Site site,
      EntrySlot slot,
      AbiCard card,
      boolean tailCalled,
      LandingPage landing) {
    boolean frame = card.framesEverywhere() || site.facts().keepsFrame();
    int index =
        stack.push(site.selfPc(), slot.from(), slot.retP(), tailCalled, site.convention(), frame);
    slot.hijack(landing.slot(stack.handlerOf(index)));
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
        stack.handlerOf(frame),
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
      int handler = landing.slotAt(addresses.instruction(to));
      int frame = handler < 0 ? NONE : stack.topmost(handler);
      if (frame < 0) {
        break;
      }
      to = stack.fromPc(frame);
    }
    return to;
  }

  /** How many frames a new one stands on: a longjmp left the others. */
  int living(AbiCard card, int tailCaller, long newSlot, long fp, long wordMask) {
    int count = tailCaller < 0 ? 0 : tailCallers(tailCaller, newSlot);
    if (count == 0 && card.slotFromFp().isPresent()) {
      count = stack.callers((fp + card.slotFromFp().getAsLong()) & wordMask);
    }
    return count == 0 ? stack.below(newSlot) : count;
  }

  /**
   * Where a function that was entered by a tail call would return to without its hijack: to the
   * handler of the frame that gave way; where that had been given up, to its caller.
   *
   * @param slot its own
   */
  long tailCalledFrom(int handler, EntryPoints.Site site, EntrySlot slot, GivenUp givenUp) {
    long exit = slot.retP() + points.up(site.convention(), site.selfPc());
    int frame = stack.find(handler, slot.retP() + 1);
    boolean isOpen = frame >= 0 && frame < stack.size();
    if (isOpen
        && stack.retP(frame) + points.up(stack.convention(frame), stack.selfPc(frame)) == exit) {
      return slot.from();
    }
    GivenUp.Frame dead = givenUp.leaving(handler, exit);
    return dead == null ? slot.from() : dead.fromPc();
  }

  /** The frames up to the caller that was tail-called away, where it is known; else 0. */
  private int tailCallers(int handler, long retP) {
    int frame = stack.find(handler, retP + 1);
    return frame < 0 || frame >= stack.size() ? 0 : frame + 1;
  }
}
