package dev.retstack.fleet.probe.nativec;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.retstack.fleet.probe.EventRecords;
import dev.retstack.fleet.probe.frame.FrameStack;
import dev.retstack.fleet.probe.frame.GivenUp;
import dev.retstack.fleet.probe.site.SiteRules;
import dev.retstack.fleet.probe.unwind.SmashedReturns;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.schema.record.RecordBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * The frames of one context of the probe in C. While the context is current, its numbers are in
 * {@code struct core}, and {@link #save} takes them from there.
 */
final class NativeFrames implements FrameStack {
  private static final int FIRST_FRAMES = 256;
  private static final long NONE = -1;

  private final NativeLibrary layout;
  private final NativeCore core;
  private final Arena arena;
  private final Finder finder;
  private final int limit;
  private final long frameBytes;
  private final long selfPcAt;
  private final long fromPcAt;
  private final long retpAt;
  private final long fpAt;
  private final long timeAt;
  private final long watchedAt;
  private MemorySegment frames;
  private long count;
  private long used;
  private long capacity;
  private long written;
  private long graphBase = NONE;

  /** Open frames by the records, where that is more than {@link #recorded}. */
  private long shown;

  /** Frames that the records do not know: their stack has begun anew for them. */
  private long unknown;

  /** True while entries are kept back, or some that were have no record yet. */
  private boolean isLate;

  /** No frames. */
  NativeFrames(NativeLibrary layout, NativeCore core, Arena arena, Finder finder, int limit) {
    this.layout = layout;
    this.core = core;
    this.arena = arena;
    this.finder = finder;
    this.limit = limit;
    frameBytes = layout.at("frame");
    selfPcAt = layout.at("frame.self_pc");
    fromPcAt = layout.at("frame.from_pc");
    retpAt = layout.at("frame.ret_p");
    fpAt = layout.at("frame.fp");
    timeAt = layout.at("frame.time");
    watchedAt = layout.at("frame.watched");
    capacity = Math.min(limit, FIRST_FRAMES);
    frames = arena.allocate(capacity * frameBytes, NativeTable.CACHE_LINE);
  }

  /** No frames, for another context. */
  void clear(long minDuration) {
    count = 0;
    used = 0;
    written = 0;
    graphBase = NONE;
    shown = 0;
    unknown = 0;
    isLate = minDuration > 0;
  }

  /** Takes over what the probe in C made of it. */
  void save(NativeCore core) {
    count = core.get("frame_count");
    used = core.get("frames_used");
    written = core.get("written");
    graphBase = core.get("graph_base");
    shown = core.get("shown");
    unknown = Math.min(unknown, count);
    isLate = (core.get("mode") & layout.at("MODE_LATE")) != 0;
  }

  /** The probe in C works on it from now on. */
  void load(NativeCore core) {
    long mode = core.get("mode") & ~(layout.at("MODE_LATE") | layout.at("MODE_HIDDEN"));
    mode |= isLate ? layout.at("MODE_LATE") : 0;
    mode |= isHidden() ? layout.at("MODE_HIDDEN") : 0;
    core.set("mode", mode);
    core.set("frames", frames);
    core.set("frame_count", count);
    core.set("frames_used", used);
    core.set("frame_capacity", capacity);
    core.set("written", written);
    core.set("graph_base", graphBase);
    core.set("shown", shown);
  }

  /** What the frame on top is watched by. */
  long watched() {
    return count == 0 ? SmashedReturns.UNWATCHED : of((int) count - 1, watchedAt);
  }

  /** Entries may not be seen: frames die unnoticed, and their slots are used again. */
  void forgetSlots() {
    for (long i = 0; i < count; i++) {
      frames.set(JAVA_LONG, i * frameBytes + layout.at("frame.watched"), SmashedReturns.UNWATCHED);
    }
  }

  /** Makes room for more frames, up to the limit. */
  void grow() {
    capacity = Math.min(limit, 2 * capacity);
    MemorySegment more = arena.allocate(capacity * frameBytes, NativeTable.CACHE_LINE);
    more.copyFrom(frames);
    frames = more;
  }

  /** From here on other settings count. */
  void follow(SiteRules rules) {
    written = isLate ? written : count;
    isLate = rules.settings().minDuration() > 0 || (isLate && written < count);
    graphBase = NONE;
    for (int i = 0; i < count && graphBase == NONE; i++) {
      if ((rules.of(of(i, selfPcAt)) & SiteRules.GRAPH) != 0 && !isHidden(i)) {
        graphBase = i;
      }
    }
  }

  /** Records all entries that are kept back. */
  void writeAll(EventRecords to, RecordBatch batch, long codeMask) {
    for (; isLate && written < visible(); written++) {
      int frame = (int) written;
      shown = 0;
      to.record(
          batch,
          RecordBatch.ENTRY,
          time(frame),
          frame,
          of(frame, selfPcAt),
          of(frame, fromPcAt) & codeMask,
          of(frame, retpAt),
          fp(frame));
    }
  }

  @Override
  public GivenUp.Frame givenUp(int frame) {
    MemorySegment one = frames.asSlice(frame * frameBytes, frameBytes);
    return givenUp(layout, core, one, frame, fromPc(first(frame)));
  }

  /**
   * The frames that the probe in C has given up since it was asked last.
   *
   * @param to receives each
   */
  static void takeFresh(NativeLibrary layout, NativeCore core, Consumer<GivenUp.Frame> to) {
    long bytes = layout.at("frame");
    for (long i = 0; i < core.get("fresh_count"); i++) {
      MemorySegment one = core.struct().asSlice(layout.at("core.fresh") + i * bytes, bytes);
      long depthAt = layout.at("core.fresh_depth") + i * Long.BYTES;
      int depth = (int) core.struct().get(JAVA_LONG, depthAt);
      long from = one.get(JAVA_LONG, layout.at("frame.from_pc"));
      to.accept(givenUp(layout, core, one, depth, from));
    }
    core.set("fresh_count", 0);
  }

  private static GivenUp.Frame givenUp(
      NativeLibrary layout, NativeCore core, MemorySegment frame, int depth, long from) {
    return new GivenUp.Frame(
        frame.get(JAVA_LONG, layout.at("frame.self_pc")),
        from,
        frame.get(JAVA_LONG, layout.at("frame.ret_p")),
        frame.get(JAVA_LONG, layout.at("frame.up")),
        slot(core, frame.get(JAVA_LONG, layout.at("frame.watched"))),
        place(layout, frame, depth),
        frame.get(JAVA_SHORT, layout.at("frame.card")),
        0);
  }

  /**
   * Index of the card that a frame was entered by; those of skipped calls stand behind the rest.
   */
  int card(int frame) {
    return frames.get(JAVA_SHORT, frame * frameBytes + layout.at("frame.card"));
  }

  private long of(int frame, long field) {
    return frames.get(JAVA_LONG, frame * frameBytes + field);
  }

  @Override
  public long selfPc(int frame) {
    return of(frame, selfPcAt);
  }

  @Override
  public long slot(int frame) {
    return slot(core, of(frame, watchedAt));
  }

  private static long slot(NativeCore core, long watched) {
    return watched == SmashedReturns.UNWATCHED
        ? 0
        : (watched >>> core.get("watch_shift")) + core.get("slot_reach");
  }

  @Override
  public boolean isHidden(int frame) {
    short special = frames.get(JAVA_SHORT, frame * frameBytes + layout.at("frame.special"));
    return (special & layout.at("FRAME_HIDDEN")) != 0;
  }

  /** True while what is called leaves no records. */
  boolean isHidden() {
    return count > 0 && isHidden((int) count - 1);
  }

  @Override
  public int size() {
    return (int) count;
  }

  @Override
  public int visible() {
    return (int) count - (isHidden() ? 1 : 0);
  }

  @Override
  public long retP(int frame) {
    return of(frame, retpAt);
  }

  @Override
  public long fromPc(int frame) {
    return of(frame, fromPcAt);
  }

  @Override
  public int place(int frame) {
    return place(layout, frames.asSlice(frame * frameBytes, frameBytes), frame);
  }

  private static int place(NativeLibrary layout, MemorySegment frame, int depth) {
    int way = Short.toUnsignedInt(frame.get(JAVA_SHORT, layout.at("frame.way")));
    return way > 0 ? LandingPage.SLOTS + way - 1 : depth % LandingPage.SLOTS;
  }

  @Override
  public boolean isTail(int frame) {
    return frames.get(JAVA_BYTE, frame * frameBytes + layout.at("frame.tail")) != 0;
  }

  @Override
  public long time(int frame) {
    return of(frame, timeAt);
  }

  @Override
  public long fp(int frame) {
    return of(frame, fpAt);
  }

  @Override
  public int kept() {
    return (int) used;
  }

  @Override
  public int recorded() {
    return (int) Math.min(visible(), isLate ? written : Long.MAX_VALUE);
  }

  @Override
  public int shown() {
    return (int) Math.max(shown, recorded());
  }

  @Override
  public int unknown() {
    return (int) unknown;
  }

  @Override
  public void beginAnew() {
    shown = 0;
    unknown = count;
  }

  @Override
  public void showExit(int frame) {
    shown = Math.min(shown, frame);
  }

  @Override
  public void truncate(int frames) {
    shown = shown();
    count = frames;
    unknown = Math.min(unknown, count);
  }

  @Override
  public int find(int place, long above) {
    return finder.find(frames, count, used, place, above);
  }

  /** The search for the frame that returns through a place, by the probe in C, in any frames. */
  static final class Finder {
    private final NativeLibrary library;
    private final NativeCore search;

    /**
     * One for the stacks of a core.
     *
     * @param inPieces true where slots are in no order
     */
    Finder(NativeLibrary library, Arena arena, boolean inPieces) {
      this.library = library;
      search = new NativeCore(library, arena);
      search.set("handlers", LandingPage.SLOTS);
      search.set("mode", inPieces ? library.at("MODE_PIECES") : 0);
    }

    /** As {@code FrameStack.find}. */
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
}
