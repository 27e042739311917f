package dev.retstack.answers.search;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.pyramid.Line;
import it.unimi.dsi.fastutil.longs.Long2BooleanMap;
import it.unimi.dsi.fastutil.longs.Long2BooleanOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Finds the calls of functions of which a name matches, while chunks are read. All are counted. The
 * first that begins in a stretch of time of a core stands for those that begin there too:
 *
 * <pre>
 *   stretch 1                         stretch 2, beyond the number of places
 *   |a |  |b |c |  |d |         →     |a    |b 2  |d    |
 * </pre>
 *
 * So the places are at most a fixed number, or one of each core, in the same way whatever the order
 * of the chunks, and what they count adds up to all.
 */
public final class CallSearch implements GraphEvents {
  /** Places in an answer, unless more are asked for. */
  public static final int PLACES = 1 << 14;

  /** No time of a core is as long as that power of two. */
  private static final int SHIFT_MAX = Long.SIZE - 2;

  private final Predicate<String> match;
  private final long from;
  private final long to;
  private final int most;
  private final Map<CoreKey, OfCore> cores = new HashMap<>();
  private int shift;
  private int places;

  /** What was found of a core. */
  private static final class OfCore {
    private final Long2BooleanMap matches = new Long2BooleanOpenHashMap();
    private final LongSet functions = new LongOpenHashSet();
    private Long2ObjectMap<Place> byStretch = new Long2ObjectOpenHashMap<>();
    private CoreGraph core;
  }

  /** The first call of a stretch. */
  private record Place(Line line, long selfPc, long enter, long exit, long calls) {
    private static final Comparator<Place> ORDER =
        Comparator.comparingLong(Place::enter).thenComparing(Place::line, Line.ORDER);

    Place and(Place other) {
      Place first = ORDER.compare(this, other) <= 0 ? this : other;
      return new Place(first.line, first.selfPc, first.enter, first.exit, calls + other.calls);
    }
  }

  /**
   * A call that was found.
   *
   * @param calls how many it stands for
   */
  public record Hit(CoreKey core, Line line, String function, long enter, long exit, long calls) {}

  /**
   * What was found.
   *
   * @param calls all of them
   * @param functions how many functions of cores they are of
   * @param stretch how long a time may be of which one is shown; 1 if no two are closer
   * @param hits by the time when they begin
   */
  public record Found(long calls, long functions, long stretch, List<Hit> hits) {
    public Found {
      hits = List.copyOf(hits);
    }
  }

  /**
   * Nothing was found so far.
   *
   * @param from first time at which a call may begin, and {@code to} the last one
   * @param most places that are kept
   */
  public CallSearch(NameMatch match, long from, long to, int most) {
    this.match = match.compiled();
    this.from = from;
    this.to = to;
    this.most = most;
  }

  @Override
  public long threshold() {
    return 0;
  }

  @Override
  public void finished(FinishedCall call) {}

  @Override
  public void anomaly(CoreGraph core, Anomaly anomaly) {}

  @Override
  public boolean places(CoreGraph core, long selfPc) {
    return cores
        .computeIfAbsent(core.key(), _ -> new OfCore())
        .matches
        .computeIfAbsent(selfPc, pc -> core.image().names().function(pc).is(match));
  }

  @Override
  public void placed(CoreGraph core, Line line, long selfPc, long enter, long exit) {
    if (enter < from || enter > to) {
      return;
    }
    OfCore of = cores.get(core.key());
    of.core = core;
    of.functions.add(selfPc);
    if (add(of.byStretch, new Place(line, selfPc, enter, Math.max(enter, exit), 1))) {
      places++;
    }
    while (places > most && shift < SHIFT_MAX) {
      shift++;
      places = 0;
      for (OfCore one : cores.values()) {
        Long2ObjectMap<Place> longer = new Long2ObjectOpenHashMap<>();
        one.byStretch.values().forEach(place -> add(longer, place));
        one.byStretch = longer;
        places += longer.size();
      }
    }
  }

  /** Whether it is the first of its stretch. */
  private boolean add(Long2ObjectMap<Place> to, Place place) {
    int before = to.size();
    to.merge(place.enter >> shift, place, Place::and);
    return to.size() > before;
  }

  /** What was found, when all chunks were taken. */
  public Found found() {
    List<Hit> hits = new ArrayList<>();
    long calls = 0;
    long functions = 0;
    for (Map.Entry<CoreKey, OfCore> one : cores.entrySet()) {
      OfCore of = one.getValue();
      functions += of.functions.size();
      for (Place place : of.byStretch.values()) {
        calls += place.calls;
        hits.add(
            new Hit(
                one.getKey(),
                place.line,
                of.core.image().names().name(place.selfPc),
                place.enter,
                place.exit,
                place.calls));
      }
    }
    hits.sort(
        Comparator.comparingLong(Hit::enter)
            .thenComparing(Hit::core)
            .thenComparing(Hit::line, Line.ORDER));
    return new Found(calls, functions, 1L << shift, hits);
  }
}
