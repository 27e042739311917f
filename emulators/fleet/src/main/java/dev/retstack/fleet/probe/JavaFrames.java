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

  /** No frames. */
  JavaFrames(int limit, TraceSettings settings) {
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

  /** What a longjmp left on ret_stack must go before a new frame is put there. */
  void dropDead(AbiCard card, int tailCaller, long newSlot, long fp, long wordMask) {
    if (dropAboveTailCaller(tailCaller, newSlot)) {
      return;
    }
    if (card.slotFromFp().isEmpty()
        || !stack.dropAbove((fp + card.slotFromFp().getAsLong()) & wordMask)) {
      stack.dropDead(newSlot);
    }
  }

  /** True where the caller that was tail-called away is known: the frames above it are gone. */
  private boolean dropAboveTailCaller(int handler, long retP) {
    int frame = handler < 0 ? NONE : stack.find(handler, retP + 1);
    if (frame < 0 || frame >= stack.size()) {
      return false;
    }
    stack.truncate(frame + 1);
    return true;
  }
}
