package dev.retstack.graph.pyramid;

import dev.retstack.graph.limits.Saturating;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a core did in a window, as it can be drawn: a row of each line for each pixel, or for some
 * pixels that one call covers.
 *
 * @param from first time of the first pixel
 * @param pixel how long a pixel is: a power of two, and pixels begin at its multiples
 * @param pixels how many
 * @param rows line by line, each by its time; at most as many as pixels in all lines
 * @param lines the lines that have rows
 * @param linesLeftOut lines with something in the window that are not among them
 * @param callsLeftOut calls of the core, not only of the window, that have no line
 */
public record Timeline(
    long from,
    long pixel,
    int pixels,
    List<Row> rows,
    List<Line> lines,
    int linesLeftOut,
    long callsLeftOut) {
  /** Pixels at most. */
  public static final int WIDTH_MAX = 1 << 16;

  public Timeline {
    rows = List.copyOf(rows);
    lines = List.copyOf(lines);
  }

  /**
   * What is asked for.
   *
   * @param from first time
   * @param to last time
   * @param width pixels at most
   * @param depth lines at most, those of losses and anomalies included: the outermost calls first.
   *     Besides there are one of events, and one for each task of which calls are shown: when it
   *     was switched out
   */
  public record Question(long from, long to, int width, int depth) {
    public Question {
      if (from < 0 || to < from || width < 1 || width > WIDTH_MAX || depth < 1) {
        throw new IllegalArgumentException(
            "window %d to %d, %d pixels, %d lines: times are not negative and rise, pixels are 1 to %d, lines at least 1"
                .formatted(from, to, width, depth, WIDTH_MAX));
      }
    }

    /** The length of a pixel is that power of two: the least with which the window fits. */
    public int shift() {
      int shift = 0;
      while ((to >>> shift) - (from >>> shift) >= width) {
        shift++;
      }
      return shift;
    }

    /** Where the first pixel begins. */
    public long begin() {
      return from >>> shift() << shift();
    }

    /** Last time of the last pixel. */
    public long end() {
      long rest = (1L << shift()) - 1;
      return to | rest;
    }
  }

  /**
   * Some time of a line.
   *
   * @param to first time behind it
   * @param covered whether the call is open all the time; else it is the longest of those that are
   *     in it
   * @param calls how many began in it; of losses the records that are missing
   * @param busy how much of it calls take
   * @param selfPc function of the call; 0 where it is none
   * @param enter when the call was entered
   * @param exit when it ended, as far as that was read
   */
  public record Row(
      Line line,
      long from,
      long to,
      boolean covered,
      long calls,
      long busy,
      long selfPc,
      long enter,
      long exit) {}

  /** First time behind the last pixel, or the last time of all. */
  public long to() {
    long to = from + pixel * pixels;
    return to < from ? Long.MAX_VALUE : to;
  }

  /** Answers a question; pixels are as long as the finest tiles at least. */
  public static Timeline of(TileSource source, Question question) throws IOException {
    int shift = Math.max(question.shift(), source.shift());
    long first = question.from() >>> shift;
    int pixels = (int) ((question.to() >>> shift) - first + 1);
    Window window = new Window(first << shift, shift, pixels);
    List<Line> all = source.lines();
    BitSet seen = new BitSet();
    source.read(shift, window.from, window.to(), window.seen(seen));
    List<Line> inSight = seen.stream().mapToObj(all::get).toList();
    List<Line> shown = shown(inSight, question.depth());
    Set<Line> beside = new HashSet<>(shown);
    beside.add(Line.EVENTS);
    shown.forEach(line -> beside.add(line.away()));
    int[] chosen =
        seen.stream()
            .boxed()
            .filter(line -> beside.contains(all.get(line)))
            .sorted(Comparator.comparing(all::get, Line.ORDER))
            .mapToInt(Integer::intValue)
            .toArray();
    Pixels[] drawn = new Pixels[all.size()];
    for (int line : chosen) {
      drawn[line] = new Pixels(window);
    }
    source.read(shift, window.from, window.to(), window.drawing(drawn));
    List<Row> rows = new ArrayList<>();
    for (int line : chosen) {
      drawn[line].addTo(rows, all.get(line));
    }
    return new Timeline(
        window.from,
        1L << shift,
        pixels,
        rows,
        Arrays.stream(chosen).mapToObj(all::get).toList(),
        (int) inSight.stream().filter(Line::isCounted).count() - shown.size(),
        source.leftOut());
  }

  /** Lines that are shown: outer calls first, up to as many as are asked for. */
  private static List<Line> shown(List<Line> seen, int most) {
    return seen.stream()
        .filter(Line::isCounted)
        .sorted(
            Comparator.comparing(Line::kind)
                .thenComparingInt(Line::depth)
                .thenComparing(Line.ORDER))
        .limit(most)
        .toList();
  }

  private record Window(long from, int shift, int pixels) {
    long to() {
      return start(pixels);
    }

    /** Where a pixel begins. */
    long start(int pixel) {
      long start = from + ((long) pixel << shift);
      return start < from ? Long.MAX_VALUE : start;
    }

    int pixel(long time) {
      return (int) ((time - from) >>> shift);
    }

    boolean has(long enter, long exit) {
      return enter < to() && (exit > from || enter >= from);
    }

    TileSource.Sink seen(BitSet lines) {
      return new TileSource.Sink() {
        @Override
        public void tile(
            int line, long start, long end, long calls, long busy, long pc, long in, long out) {
          if (has(start, end)) {
            lines.set(line);
          }
        }

        @Override
        public void call(int line, long calls, long selfPc, long enter, long exit) {
          if (has(enter, exit)) {
            lines.set(line);
          }
        }
      };
    }

    TileSource.Sink drawing(Pixels[] drawn) {
      return new TileSource.Sink() {
        @Override
        public void tile(
            int line, long start, long end, long calls, long busy, long pc, long in, long out) {
          if (drawn[line] != null && has(start, end)) {
            drawn[line].put(pixel(start), calls, busy, pc, in, out);
          }
        }

        @Override
        public void call(int line, long calls, long selfPc, long enter, long exit) {
          if (drawn[line] != null && has(enter, exit)) {
            drawn[line].add(calls, selfPc, enter, exit);
          }
        }
      };
    }
  }

  /** A line in the making. */
  private static final class Pixels {
    private final Window window;
    private final long[] calls;
    private final long[] busy;
    private final long[] selfPc;
    private final long[] enter;
    private final long[] exit;

    Pixels(Window window) {
      this.window = window;
      int pixels = window.pixels;
      calls = new long[pixels];
      busy = new long[pixels];
      selfPc = new long[pixels];
      enter = new long[pixels];
      exit = new long[pixels];
      Arrays.fill(exit, -1); // any call is longer
    }

    void put(int at, long count, long time, long function, long from, long to) {
      calls[at] = Saturating.sum(calls[at], count);
      busy[at] = Saturating.sum(busy[at], time);
      if (to - from > exit[at] - enter[at]) {
        selfPc[at] = function;
        enter[at] = from;
        exit[at] = to;
      }
    }

    void add(long count, long function, long from, long to) {
      int first = from < window.from ? 0 : window.pixel(from);
      int last = Math.max(first, to >= window.to() ? window.pixels - 1 : window.pixel(to));
      for (int at = first; at <= last; at++) {
        long time = Math.min(to, window.start(at + 1)) - Math.max(from, window.start(at));
        boolean begins = at == first && from >= window.from;
        if (time > 0 || begins) {
          put(at, begins ? count : 0, time, function, from, to);
        }
      }
    }

    /** Whether one call is open in all of a pixel. */
    private boolean isCovered(int at) {
      return enter[at] <= window.start(at) && exit[at] >= window.start(at + 1);
    }

    void addTo(List<Row> rows, Line line) {
      int at = 0;
      while (at < window.pixels) {
        int next = at + 1;
        if (exit[at] < 0) {
          at = next;
          continue;
        }
        boolean covered = isCovered(at);
        long sum = calls[at];
        long time = busy[at];
        while (covered && next < window.pixels && isCovered(next) && enter[next] == enter[at]) {
          sum = Saturating.sum(sum, calls[next]);
          time = Saturating.sum(time, busy[next]);
          next++;
        }
        rows.add(
            new Row(
                line,
                window.start(at),
                window.start(next),
                covered,
                sum,
                time,
                selfPc[at],
                enter[at],
                exit[at]));
        at = next;
      }
    }
  }
}
