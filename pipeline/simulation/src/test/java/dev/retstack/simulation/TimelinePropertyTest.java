package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.calls.GraphEvents.FinishedCall;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.pyramid.Line;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.pyramid.TileSource;
import dev.retstack.graph.pyramid.Tiles;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.TrueCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * The rows of any window, from tiles of any length, against a naive timeline: one that looks at all
 * calls, which another state keeps in its tree. Under faults too, with several tasks and
 * interrupts.
 */
class TimelinePropertyTest {
  private static final int CHUNK = 40;
  private static final int WINDOWS = 6;
  private static final int ALL_LINES = 1 << 20;

  private record Call(long selfPc, long enter, long exit) {
    long in(long from, long to) {
      return Math.max(0, Math.min(exit, to) - Math.max(enter, from));
    }

    boolean touches(long from, long to) {
      return (enter >= from && enter < to) || in(from, to) > 0;
    }
  }

  /** Puts the calls of each core into a pyramid. */
  private static final class Placing implements GraphEvents {
    private final Map<CoreKey, Pyramid> all = new HashMap<>();
    private final Pyramid.Room room;

    Placing(long entries) {
      room = new Pyramid.Room(entries);
    }

    @Override
    public Pyramid pyramid(CoreGraph core) {
      return all.computeIfAbsent(core.key(), _ -> new Pyramid(room));
    }

    @Override
    public long threshold() {
      return Long.MAX_VALUE;
    }

    @Override
    public void finished(FinishedCall call) {}

    @Override
    public void anomaly(CoreGraph core, Anomaly anomaly) {}
  }

  @Test
  void rowsAreThoseOfANaiveTimeline() {
    Seeds.each(seed -> check(new SplittableRandom(seed), 0));
  }

  /** The canary: one call that is left out is found out. */
  @Test
  void aCallThatIsMissingIsFoundOut() {
    assertThatThrownBy(() -> Seeds.each(seed -> check(new SplittableRandom(seed), 1)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dretstack.seed=");
  }

  private static void check(SplittableRandom random, int leftOut) {
    Faults faults = random.nextBoolean() ? Faults.none(1) : Faults.any(random);
    Placing placing = new Placing(1L << random.nextInt(11, 20));
    GraphState placed = new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(0));
    placed.events(placing);
    GraphState kept = new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(1 << 20));
    for (ModelCore core : ContextPropertyTest.cores(random)) {
      for (ModelChunk chunk : faults.deliver(core, CHUNK).chunks()) {
        Subject.of(placed).apply(chunk);
        Subject.of(kept).apply(chunk);
      }
    }
    for (CoreGraph core : kept.cores()) {
      core.closeAt(core.progress().time());
      placed.core(core.key()).orElseThrow().closeAt(core.progress().time());
      List<Call> calls = calls(core.tree());
      Tiles tiles = placing.all.get(core.key()).tiles();
      long last = core.progress().time();
      for (int i = 0; i < WINDOWS && calls.size() > leftOut; i++) {
        long from = random.nextLong(last + 1);
        long to = i == 0 ? last : from + random.nextLong(last - from + 1);
        Timeline.Question question =
            new Timeline.Question(i == 0 ? 0 : from, to, 1 + random.nextInt(300), ALL_LINES);
        Timeline timeline = answer(tiles, question);
        if (tiles.leftOut() == 0) {
          compare(timeline, calls.subList(leftOut, calls.size()), core);
        }
        bounded(tiles, question, 1 + random.nextInt(6));
        Tiles coarser = tiles.coarser(1 + random.nextInt(8));
        if (question.shift() >= coarser.shift()) {
          assertThat(plain(answer(coarser, question))).isEqualTo(plain(timeline));
        }
      }
    }
  }

  private static Timeline answer(TileSource source, Timeline.Question question) {
    try {
      return Timeline.of(source, question);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Call> calls(CallTreeLog tree) {
    List<Call> calls = new ArrayList<>();
    for (int row = 0; row < tree.size(); row++) {
      TreeKind kind = tree.kind(row);
      if (kind == TreeKind.CALL || kind == TreeKind.FUNCTION) {
        calls.add(new Call(tree.selfPc(row), tree.enter(row), tree.exit(row)));
      }
    }
    return calls;
  }

  /** All lines together, pixel by pixel. */
  private static void compare(Timeline timeline, List<Call> calls, CoreGraph core) {
    long[] busy = new long[timeline.pixels()];
    long[] longest = new long[timeline.pixels()];
    long begun = 0;
    long records = 0;
    long anomalies = 0;
    long events = 0;
    for (Timeline.Row row : timeline.rows()) {
      assertThat(row.from()).isBetween(timeline.from(), timeline.to() - timeline.pixel());
      switch (row.line().kind()) {
        case LOSSES -> records += row.calls();
        case ANOMALIES -> anomalies += row.calls();
        case EVENTS -> events += row.calls();
        case AWAY -> assertThat(row.busy()).isBetween(0L, row.to() - row.from());
        case CALLS -> {
          begun += row.calls();
          if (row.covered()) {
            assertThat(calls).contains(new Call(row.selfPc(), row.enter(), row.exit()));
            assertThat(row.enter()).isLessThanOrEqualTo(row.from());
            assertThat(row.exit()).isGreaterThanOrEqualTo(row.to());
          }
          for (long at = row.from(); at < row.to(); at += timeline.pixel()) {
            int pixel = (int) ((at - timeline.from()) / timeline.pixel());
            busy[pixel] += row.covered() ? timeline.pixel() : row.busy();
            longest[pixel] = Math.max(longest[pixel], 1 + row.exit() - row.enter());
          }
        }
      }
    }
    for (int pixel = 0; pixel < timeline.pixels(); pixel++) {
      long from = timeline.from() + pixel * timeline.pixel();
      long to = from + timeline.pixel();
      long time = 0;
      long most = 0;
      for (Call call : calls) {
        time += call.in(from, to);
        most = call.touches(from, to) ? Math.max(most, 1 + call.exit() - call.enter()) : most;
      }
      assertThat(busy[pixel]).as("busy from %d to %d", from, to).isEqualTo(time);
      assertThat(longest[pixel]).as("longest from %d to %d", from, to).isEqualTo(most);
    }
    long expected =
        calls.stream()
            .filter(call -> call.enter() >= timeline.from() && call.enter() < timeline.to())
            .count();
    assertThat(begun).isEqualTo(expected);
    if (timeline.from() == 0 && timeline.to() > core.progress().time()) {
      long missing = core.losses().rows().stream().mapToLong(loss -> loss.records()).sum();
      assertThat(records).isEqualTo(missing);
      assertThat(anomalies > 0).isEqualTo(core.anomalies().rows().size() > 0);
      assertThat(events > 0).isEqualTo(core.stats().get(Stat.UNWOUND_CALLS) > 0);
    }
  }

  private static void bounded(Tiles tiles, Timeline.Question question, int depth) {
    Timeline few =
        answer(
            tiles, new Timeline.Question(question.from(), question.to(), question.width(), depth));
    assertThat(few.rows().size()).isLessThanOrEqualTo(question.width() * (2 * depth + 1));
    assertThat(few.pixels()).isLessThanOrEqualTo(question.width());
    assertThat(few.lines().size()).isLessThanOrEqualTo(2 * depth + 1);
    List<Line.Kind> beside = List.of(Line.Kind.EVENTS, Line.Kind.AWAY);
    long counted = few.lines().stream().filter(line -> !beside.contains(line.kind())).count();
    assertThat(counted).isLessThanOrEqualTo(depth);
    if (few.linesLeftOut() > 0) {
      assertThat(counted).isEqualTo(depth);
    }
  }

  /** Of calls that are equally long any may be the longest. */
  private static List<Timeline.Row> plain(Timeline timeline) {
    return timeline.rows().stream()
        .map(
            row ->
                row.covered()
                    ? row
                    : new Timeline.Row(
                        row.line(),
                        row.from(),
                        row.to(),
                        false,
                        row.calls(),
                        row.busy(),
                        0,
                        0,
                        row.exit() - row.enter()))
        .toList();
  }

  /** Without faults each call is on the line of its frame. */
  @Test
  void eachCallIsOnItsLine() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          Placing placing = new Placing(1 << 20);
          GraphState placed = new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(0));
          placed.events(placing);
          for (ModelCore core : ContextPropertyTest.cores(random)) {
            core.chunks(random, CHUNK).forEach(Subject.of(placed)::apply);
            Map<Long, TrueCall> truth = new HashMap<>();
            core.program().calls.forEach(call -> truth.put(call.enter, call));
            Tiles tiles = placing.all.get(core.key()).tiles();
            List<Line> lines = tiles.lines();
            tiles.read(
                tiles.shift(),
                0,
                Long.MAX_VALUE,
                new TileSource.Sink() {
                  @Override
                  public void tile(
                      int line,
                      long start,
                      long end,
                      long calls,
                      long busy,
                      long selfPc,
                      long enter,
                      long exit) {
                    call(line, 1, selfPc, enter, exit);
                  }

                  @Override
                  public void call(int line, long calls, long selfPc, long enter, long exit) {
                    Line of = lines.get(line);
                    TrueCall call = truth.get(enter);
                    if (of.kind() == Line.Kind.CALLS && call != null) {
                      assertThat(of.interrupts() > 0).isEqualTo(call.interrupt != null);
                      if (call.interrupt == null) {
                        assertThat(of.task()).isEqualTo(call.task);
                        assertThat(of.instance()).isEqualTo(call.instance);
                      }
                      assertThat(selfPc).isEqualTo(call.selfPc);
                      TrueCall above = call.caller == null ? null : truth.get(call.caller.enter);
                      assertThat(of.depth() > 0 || above == null).isTrue();
                    }
                  }
                });
          }
        });
  }
}
