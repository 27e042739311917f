package dev.retstack.fleet.probe.nativec;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.fleet.probe.ProbePlan;
import dev.retstack.fleet.probe.site.EntryPoints;
import dev.retstack.fleet.probe.unwind.Leaving;
import dev.retstack.fleet.probe.unwind.Unwinding;
import dev.retstack.machine.landing.Machine;
import dev.retstack.machine.landing.Trampolines;
import java.util.List;

/** Unwinders and longjmps, of which the probe in C asks ({@code unwind.h}). */
final class NativeUnwinding {
  private final NativeLibrary layout;
  private final NativeCore core;
  private final NativeContexts contexts;
  private final Unwinding unwinding;
  private final EntryPoints points;
  private final int cards;

  NativeUnwinding(
      NativeLibrary layout,
      NativeCore core,
      NativeContexts contexts,
      Machine machine,
      ProbePlan plan) {
    this.layout = layout;
    this.core = core;
    this.contexts = contexts;
    unwinding =
        new Unwinding(
            machine,
            word -> target(machine.trampolines(), word),
            plan.points(),
            core::lastBlock,
            contexts);
    points = plan.points();
    cards = points.cards().size();
    core.set("met", Unwinding.NOWHERE);
    core.set("entered", Unwinding.NOWHERE);
  }

  private static long target(Trampolines trampolines, long word) {
    int index = trampolines.indexAt(word);
    return index < 0 ? Unwinding.NOWHERE : trampolines.target(index);
  }

  /** The core has stopped before a block; it may continue elsewhere. */
  void meet() {
    long address = core.stopAddress();
    contexts.frames();
    long to = unwinding.meet(address);
    contexts.useCurrentContext();
    boolean awaits = await();
    // else the core does not ask at this block, and would take the next one at its address for it
    boolean asksAgain = awaits || points.leavesFrames(address);
    core.set("met", to == address && asksAgain ? address : Unwinding.NOWHERE);
    core.set("stop_address", to);
  }

  /** The core has stopped behind the entry of a function that reads return addresses. */
  void enter() {
    NativeFrames frames = contexts.frames();
    int top = frames.size() - 1;
    int convention = frames.card(top) % cards;
    long place = core.get("stop_value");
    unwinding.enter(convention, frames.selfPc(top), frames.retP(top), place);
    contexts.useCurrentContext();
    await();
  }

  /** False where nothing is waited for. */
  private boolean await() {
    List<Leaving> awaited = unwinding.awaited();
    for (int i = 0; i < awaited.size(); i++) {
      Leaving leaving = awaited.get(i);
      set(i, "first", leaving.first());
      set(i, "span", leaving.span());
      set(i, "code", leaving.code());
      set(i, "code_bytes", leaving.codeBytes());
      set(i, "back", leaving.back());
    }
    core.set("walk_count", awaited.size());
    long attention = core.get("attention") & ~layout.at("ATTENTION_UNWINDER");
    core.set("attention", attention | (awaited.isEmpty() ? 0 : layout.at("ATTENTION_UNWINDER")));
    return !awaited.isEmpty();
  }

  private void set(int walk, String field, long value) {
    long at = layout.at("core.walks") + walk * layout.at("walk") + layout.at("walk." + field);
    core.struct().set(JAVA_LONG, at, value);
  }
}
