package dev.retstack.fleet.probe;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.retstack.fleet.core.GuestMemory;
import dev.retstack.fleet.core.LandingPage;
import dev.retstack.fleet.core.Trampolines;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.unicorn.Unicorn;
import java.util.List;

/** Unwinders, of which the probe in C asks ({@code unwind.h}). */
final class NativeUnwinding {
  private final NativeLibrary layout;
  private final NativeCore core;
  private final NativeContexts contexts;
  private final Unwinding unwinding;

  NativeUnwinding(
      NativeLibrary layout,
      NativeCore core,
      NativeContexts contexts,
      Unicorn engine,
      GuestMemory memory,
      LandingPage landing,
      Trampolines trampolines,
      Isa isa,
      EntryPoints points,
      StackRegions regions) {
    this.layout = layout;
    this.core = core;
    this.contexts = contexts;
    unwinding =
        new Unwinding(
            engine,
            memory,
            landing,
            word -> target(trampolines, word),
            isa,
            points,
            regions,
            contexts);
    core.set("met", Unwinding.NOWHERE);
  }

  private static long target(Trampolines trampolines, long word) {
    int index = trampolines.indexAt(word);
    return index < 0 ? Unwinding.NOWHERE : trampolines.target(index);
  }

  /** The core has stopped before a block; it may go on elsewhere. */
  void meet() {
    long address = core.stopAddress();
    contexts.frames();
    long to = unwinding.meet(address);
    contexts.goOn();
    List<UnwinderWalk> walks = unwinding.walks();
    for (int i = 0; i < walks.size(); i++) {
      UnwinderWalk walk = walks.get(i);
      set(i, "first", walk.first());
      set(i, "span", walk.span());
      set(i, "code", walk.start());
      set(i, "code_bytes", walk.codeBytes());
    }
    core.set("walk_count", walks.size());
    long attention = core.get("attention") & ~layout.at("ATTENTION_UNWINDER");
    core.set("attention", attention | (walks.isEmpty() ? 0 : layout.at("ATTENTION_UNWINDER")));
    core.set("met", to == address ? address : Unwinding.NOWHERE);
    core.set("stop_address", to);
  }

  private void set(int walk, String field, long value) {
    long at = layout.at("core.walks") + walk * layout.at("walk") + layout.at("walk." + field);
    core.struct().set(JAVA_LONG, at, value);
  }
}
