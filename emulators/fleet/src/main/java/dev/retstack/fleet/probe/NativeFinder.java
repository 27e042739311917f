package dev.retstack.fleet.probe;

import dev.retstack.fleet.core.LandingPage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The search for the frame that returns through a place, by the probe in C, in any frames. */
final class NativeFinder {
  private final NativeLibrary library;
  private final NativeCore search;

  NativeFinder(NativeLibrary library, Arena arena) {
    this.library = library;
    search = new NativeCore(library, arena);
    search.set("handlers", LandingPage.SLOTS);
  }

  /** As {@link FrameStack#find}. */
  int find(MemorySegment frames, long count, long used, int place, long above) {
    search.set("frames", frames);
    search.set("frame_count", count);
    search.set("frames_used", used);
    search.set("stop_value", place);
    search.set("stop_fp", above);
    library.findFrame(search.struct());
    return (int) search.get("stop_value");
  }
}
