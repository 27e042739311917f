package dev.retstack.answers.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.RandomFleet;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.pyramid.Line;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Image;
import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.PyramidLevel;
import dev.retstack.schema.PyramidPlace;
import dev.retstack.schema.PyramidTiles;
import dev.retstack.schema.file.CorruptTraceException;
import dev.retstack.schema.file.IndexedTrace;
import dev.retstack.schema.file.TraceClaim;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.file.TraceIndex;
import dev.retstack.schema.file.TracePyramid;
import dev.retstack.schema.file.TracePyramidWriter;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A pyramid gives what the chunks give, and one that is wrong changes no answer.
 *
 * <p>{@code -Dretstack.mutants=N} changes so many files.
 */
@Timeout(1200)
class TraceTimelineTest {
  private static final int MUTANTS = Integer.getInteger("retstack.mutants", 20);
  private static final long MEMORY_BYTES_MAX = 256L << 20;
  private static final int STEPS = 5_000;

  @TempDir private Path dir;
  private Path file;
  private Path bare;
  private SplittableRandom random;

  /** What an answer says, but for when a call ended that the chunks of the window leave open. */
  private record Told(
      Object line, long from, long to, boolean covered, long calls, long busy, String function) {}

  @BeforeEach
  void record() throws IOException {
    long seed = Seeds.fresh();
    System.out.println("TraceTimelineTest: -Dretstack.seed=" + seed);
    random = new SplittableRandom(seed);
    bare = write("bare.avro", RandomFleet.of(random.nextLong(), 3, STEPS));
    file = Files.copy(bare, dir.resolve("trace.avro"));
    PyramidPass.Written written = PyramidPass.write(file, TraceReplay.Progress.SILENT);
    assertThat(written.cores()).isEqualTo(3);
    assertThat(written.bytes()).isGreaterThan(1000);
  }

  private Path write(String name, List<CoreScript> fleet) throws IOException {
    Path to = dir.resolve(name);
    try (TraceFileWriter writer = TraceFileWriter.open(to)) {
      for (CoreScript core : fleet) {
        writer.write(core.image());
      }
      for (CoreScript core : fleet) {
        for (var chunk : core.chunks()) {
          writer.write(chunk);
        }
      }
    }
    return to;
  }

  private static List<Told> told(TraceTimeline.Answer answer) {
    return answer.timeline().rows().stream()
        .map(
            row ->
                new Told(
                    row.line(),
                    row.from(),
                    row.to(),
                    row.covered(),
                    row.calls(),
                    row.busy(),
                    row.covered() ? answer.names().name(row.selfPc()) : ""))
        .toList();
  }

  /** Of which the pyramid's tiles are fine enough. */
  private Timeline.Question question(TraceTimeline trace, TraceIndex.Core core) {
    long last = trace.lastTime(core);
    long from = random.nextLong(last / 2);
    return new Timeline.Question(
        from, from + last / 3 + random.nextLong(last / 2), 1 + random.nextInt(60), 1_000);
  }

  private static TraceTimeline.Answer ask(
      TraceTimeline trace, TraceIndex.Core core, Timeline.Question question) throws IOException {
    return trace.answer(core, question, true, TraceReplay.Progress.SILENT);
  }

  @Test
  void aPyramidGivesWhatTheChunksGive() throws IOException {
    long compared = 1L << random.nextInt(20);
    try (TraceTimeline with = TraceTimeline.open(file, LateSymbols.NONE, compared);
        TraceTimeline without = TraceTimeline.open(bare, LateSymbols.NONE)) {
      int fromPyramid = 0;
      for (TraceIndex.Core core : with.cores()) {
        for (int i = 0; i < 30; i++) {
          Timeline.Question question = question(with, core);
          TraceTimeline.Answer answer = ask(with, core, question);
          List<Told> fromChunks = told(ask(without, core, question));
          assertThat(told(answer)).isNotEmpty();
          for (int row = 0; row < fromChunks.size(); row++) {
            assertThat(told(answer).get(row))
                .as("%s, made of %s", question, answer.detail())
                .isEqualTo(fromChunks.get(row));
          }
          assertThat(told(answer)).hasSize(fromChunks.size());
          assertThat(answer.timeline().rows().size())
              .isLessThanOrEqualTo(question.width() * question.depth());
          fromPyramid += answer.detail() == TraceTimeline.Detail.CHUNKS ? 0 : 1;
        }
      }
      assertThat(fromPyramid).isPositive();
      assertThat(with.notices()).isEmpty();
      assertThat(without.notices()).singleElement().asString().contains("has no pyramid");
    }
  }

  /** A chunk without records, behind the window, says until when nothing was lost. */
  @Test
  void whatIsLostBehindAWindowIsNotInIt() throws IOException {
    Image image = CoreScript.image("id", "main", "fib");
    CoreScript core = new CoreScript(image, "session", "core").enter("main");
    core.tick(1000).enter("fib").tick(23).exit().chunk();
    core.tick(5).lose(0).lose(3).tick(1).enter("fib").tick(1000).exit().exit().end();
    bare = write("lost.avro", List.of(core));
    file = Files.copy(bare, dir.resolve("lost-too.avro"));
    var _ = PyramidPass.write(file, TraceReplay.Progress.SILENT);
    try (TraceTimeline with = TraceTimeline.open(file, LateSymbols.NONE);
        TraceTimeline without = TraceTimeline.open(bare, LateSymbols.NONE)) {
      TraceIndex.Core one = with.cores().iterator().next();
      for (long to = 1000; to < 1050; to++) {
        Timeline.Question question = new Timeline.Question(0, to, 2, 10);
        TraceTimeline.Answer answer = ask(with, one, question);
        assertThat(answer.detail()).isEqualTo(TraceTimeline.Detail.TILES);
        assertThat(told(answer)).as("to %s", to).isEqualTo(told(ask(without, one, question)));
      }
    }
  }

  @Test
  void aFinerWindowIsReadFromItsChunks() throws IOException {
    try (TraceTimeline trace = TraceTimeline.open(file, LateSymbols.NONE)) {
      TraceIndex.Core core = trace.cores().iterator().next();
      long at = trace.lastTime(core) / 2;
      TraceTimeline.Answer answer = ask(trace, core, new Timeline.Question(at, at + 50, 100, 64));
      assertThat(answer.detail()).isEqualTo(TraceTimeline.Detail.CHUNKS);
      assertThat(answer.timeline().pixel()).isEqualTo(1);
      TraceTimeline.Answer atOnce =
          trace.answer(
              core,
              new Timeline.Question(at, at + 50, 100, 64),
              false,
              (_, records) -> fail("%d records are read", records));
      assertThat(atOnce.detail()).isEqualTo(TraceTimeline.Detail.COARSE);
      assertThat(atOnce.timeline().pixel()).isGreaterThan(1);
      assertThat(atOnce.timeline().rows()).isNotEmpty();
      assertThat(answer.timeline().rows()).anyMatch(row -> row.covered());
    }
  }

  @Test
  void aPyramidIsMadeAnewInItsPlace() throws IOException {
    byte[] before = Files.readAllBytes(file);
    var _ = PyramidPass.write(file, TraceReplay.Progress.SILENT);
    assertThat(Files.readAllBytes(file)).isEqualTo(before);
    try (TraceClaim claim = TraceClaim.of(file)) {
      TracePyramidWriter.open(claim).close(); // given up: the trace is whole, without one
    }
    assertThat(Files.readAllBytes(file)).isEqualTo(Files.readAllBytes(bare));
  }

  /** Bytes of the last block: a seal. */
  private static long sealBytes(Path whole) throws IOException {
    byte[] bytes = Files.readAllBytes(whole);
    byte[] sync = Arrays.copyOfRange(bytes, bytes.length - 16, bytes.length);
    int at = bytes.length - 17;
    while (!Arrays.equals(bytes, at, at + 16, sync, 0, 16)) {
      at--;
    }
    return bytes.length - at - 16L;
  }

  /** Bytes behind the index changed, in each way that a file is damaged. */
  @Test
  void noChangedByteChangesAnAnswer() throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    int begin = (int) (Files.size(bare) - sealBytes(bare));
    String hash = hash(bare);
    int noticed = 0;
    int refused = 0;
    for (int round = 0; round < MUTANTS; round++) {
      byte[] changed = bytes.clone();
      int at = begin + random.nextInt(bytes.length - begin);
      switch (random.nextInt(3)) {
        case 0 -> changed[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> changed = Arrays.copyOf(bytes, at);
        default -> {
          int from = begin + random.nextInt(bytes.length - begin);
          int length = Math.min(random.nextInt(1, 200), bytes.length - Math.max(at, from));
          System.arraycopy(bytes, from, changed, at, length);
        }
      }
      if (Arrays.equals(changed, bytes)) {
        continue;
      }
      Files.write(file, changed);
      try (TraceTimeline trace = TraceTimeline.open(file, LateSymbols.NONE);
          TraceTimeline right = TraceTimeline.open(bare, LateSymbols.NONE)) {
        TraceIndex.Core core = List.copyOf(right.cores()).get(random.nextInt(3));
        Timeline.Question question = question(right, core);
        assertThat(told(ask(trace, core, question))).isEqualTo(told(ask(right, core, question)));
        noticed += trace.notices().isEmpty() ? 0 : 1;
      } catch (CorruptTraceException e) {
        assertThat(e).hasMessageContaining("trace.avro"); // its seal is wrong, or is not found
        refused++;
      }
      // whoever reads all of it is told, and has the result of the chunks
      try {
        TraceReplay.Replayed replayed = TraceReplay.read(file, TraceReplay.Progress.SILENT);
        assertThat(replayed.notice()).isNotEmpty();
        if (!replayed.isCut()) {
          assertThat(ReportBuilder.of(replayed.state()).build().resultHash()).isEqualTo(hash);
        }
      } catch (CorruptTraceException e) {
        assertThat(e).hasMessageContaining("trace.avro");
      }
    }
    assertThat(noticed).isGreaterThan(refused);
  }

  private static String hash(Path trace) throws IOException {
    return ReportBuilder.of(TraceReplay.read(trace, TraceReplay.Progress.SILENT).state())
        .build()
        .resultHash();
  }

  /** Fields changed behind checksums that hold: what cannot be is noticed, all else is bounded. */
  @Test
  void noLyingPyramidDoesHarm() throws Exception {
    List<PyramidCore> cores = new ArrayList<>();
    List<PyramidTiles> tiles = new ArrayList<>();
    List<PyramidPlace> places = new ArrayList<>();
    readPyramid(cores, tiles, places);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int noticed = 0;
    for (int round = 0; round < MUTANTS; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      if (!lie(cores, tiles, places)) {
        continue;
      }
      try (TraceTimeline trace = TraceTimeline.open(file, LateSymbols.NONE);
          TraceTimeline right = TraceTimeline.open(bare, LateSymbols.NONE)) {
        for (TraceIndex.Core core : trace.cores()) {
          Timeline.Question question = question(trace, core);
          TraceTimeline.Answer answer = ask(trace, core, question);
          assertThat(told(answer))
              .as("round %s, %s", round, question)
              .isEqualTo(told(ask(right, core, question)));
          assertThat(answer.timeline().rows().size())
              .isLessThanOrEqualTo(question.width() * question.depth());
        }
        noticed += trace.notices().isEmpty() ? 0 : 1;
      }
      assertThat(wholeIsWrong()).as("round %s", round).isTrue();
      assertThat(threads.getCurrentThreadAllocatedBytes() - before)
          .as("round %s", round)
          .isLessThan(MEMORY_BYTES_MAX);
    }
    assertThat(noticed).isPositive();
    assertThat(hash(file)).isEqualTo(hash(bare));
  }

  /** Whether a comparison of all chunks finds that, or the directory did. */
  private boolean wholeIsWrong() throws IOException {
    try (TraceTimeline trace = TraceTimeline.open(file, LateSymbols.NONE)) {
      trace.compareAll(TraceReplay.Progress.SILENT);
      return !trace.notices().isEmpty() && !trace.hasPyramid();
    }
  }

  @Test
  void aRightPyramidPassesAComparisonOfAll() throws IOException {
    assertThat(wholeIsWrong()).isFalse();
    try (TraceTimeline trace = TraceTimeline.open(file, LateSymbols.NONE)) {
      trace.compareAll(TraceReplay.Progress.SILENT);
      assertThat(trace.notices()).isEmpty();
      for (TraceIndex.Core core : trace.cores()) {
        var _ = ask(trace, core, question(trace, core));
      }
      assertThat(trace.remark()).isEmpty();
    }
  }

  /**
   * Of a long window a part is compared, and a sentence says so: all of it after some questions.
   */
  @Test
  void aLieInALongWindowIsFoundInTime() throws IOException {
    List<PyramidCore> cores = new ArrayList<>();
    List<PyramidTiles> tiles = new ArrayList<>();
    List<PyramidPlace> places = new ArrayList<>();
    readPyramid(cores, tiles, places);
    PyramidTiles first = tiles.getFirst();
    int at = random.nextInt(first.getTileBusy().size());
    first.getTileBusy().set(at, first.getTileBusy().get(at) + 1);
    rewrite(file, cores, tiles);
    try (TraceTimeline trace = TraceTimeline.open(file, LateSymbols.NONE, 500)) {
      TraceIndex.Core core =
          new TraceIndex.Core(cores.getFirst().getSession(), cores.getFirst().getCore());
      Timeline.Question question = new Timeline.Question(0, trace.lastTime(core), 10, 64);
      int asked = 0;
      for (; trace.notices().isEmpty(); asked++) {
        assertThat(trace.remark().isEmpty()).isEqualTo(asked == 0);
        var _ = ask(trace, core, question);
      }
      assertThat(trace.remark()).contains("records were compared with their chunks");
      System.out.println("a wrong tile was found by question " + asked);
    }
  }

  private void readPyramid(
      List<PyramidCore> cores, List<PyramidTiles> tiles, List<PyramidPlace> places)
      throws IOException {
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      TracePyramid pyramid = trace.pyramid().orElseThrow();
      cores.addAll(pyramid.cores());
      for (PyramidCore core : cores) {
        for (PyramidLevel level : core.getLevels()) {
          for (PyramidPlace place : level.getBlocks()) {
            tiles.add(pyramid.read(place));
            places.add(place);
          }
        }
      }
    } catch (TracePyramid.WrongPyramidException e) {
      throw new AssertionError(e);
    }
  }

  /** A call as it stood. */
  private record Placed(Line line, long selfPc, long enter, long exit) {}

  /** All levels agree with each other, and are those of other calls than the chunks tell. */
  @Test
  void noTilesPassThatAreNotThoseOfTheChunks() throws IOException {
    bare = write("bare.avro", List.of(nested()));
    file = Files.copy(bare, dir.resolve("nested.avro"));
    var _ = PyramidPass.write(file, TraceReplay.Progress.SILENT);
    PyramidCore core;
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      core = trace.pyramid().orElseThrow().cores().getFirst();
    } catch (TracePyramid.WrongPyramidException e) {
      throw new AssertionError(e);
    }
    List<Placed> calls = placed();
    List<PyramidTiles> right = tilesOf(core, calls);
    assertThat(core.getLevels()).hasSizeGreaterThan(2);
    assertThat(asked(file, core, true)).as("nothing changed").isEmpty();
    int lies = 0;
    for (int round = 0; round < MUTANTS; round++) {
      List<Placed> others = new ArrayList<>(calls);
      int at = random.nextInt(calls.size());
      Placed call = calls.get(at);
      Placed lie = changed(call);
      if (lie == null) {
        others.remove(at);
      } else {
        others.set(at, lie);
      }
      if (tilesOf(core, others).equals(right)) {
        continue; // what no tile shows is no lie
      }
      lies++;
      String what = "round %d, %s for %s".formatted(round, lie, call);
      assertThat(asked(file, core, true))
          .as(what)
          .singleElement()
          .asString()
          .contains("nested.avro: its pyramid is wrong", "retstack index", "core core, ")
          .containsPattern("expected .*, received ");
      try (TraceTimeline trace = TraceTimeline.open(file, LateSymbols.NONE);
          TraceTimeline chunks = TraceTimeline.open(bare, LateSymbols.NONE)) {
        TraceIndex.Core one = trace.cores().iterator().next();
        Timeline.Question question =
            new Timeline.Question(
                Math.max(0, call.enter() - random.nextInt(5_000)),
                call.exit() + random.nextInt(5_000),
                1 + random.nextInt(40),
                64);
        assertThat(told(ask(trace, one, question)))
            .as("%s, asked for %s", what, question)
            .isEqualTo(told(ask(chunks, one, question)));
      }
    }
    assertThat(lies).isPositive();
  }

  /** Another call in its place; null for none. */
  private Placed changed(Placed call) {
    Line line = call.line();
    long more = 1L + random.nextInt(50);
    return switch (random.nextInt(5)) {
      case 0 -> null;
      case 1 -> new Placed(line, call.selfPc() + 0x40, call.enter(), call.exit());
      case 2 -> new Placed(line, call.selfPc(), Math.max(0, call.enter() - more), call.exit());
      case 3 -> new Placed(line, call.selfPc(), call.enter(), call.exit() + more);
      default ->
          new Placed(
              new Line(line.kind(), line.task(), line.instance(), 0, (line.depth() + 1) % 3),
              call.selfPc(),
              call.enter(),
              call.exit());
    };
  }

  /** Calls in calls, and nothing else. */
  private CoreScript nested() {
    String[] names = {"main", "walk", "leaf", "fib", "last"};
    CoreScript core = new CoreScript(CoreScript.image("id", names), "session", "core");
    core.withKeyframes().enter("main");
    int depth = 1;
    for (int i = 0; i < 4 * STEPS; i++) {
      core.tick(random.nextInt(1, 30));
      if (depth == 1 || (depth < 20 && random.nextBoolean())) {
        core.enter(names[random.nextInt(1, names.length)]);
        depth++;
      } else {
        core.exit();
        depth--;
      }
      if (random.nextInt(400) == 0) {
        core.chunk();
      }
    }
    for (; depth > 0; depth--) {
      core.tick(1).exit();
    }
    return core.end();
  }

  /** All calls of the trace, in the order in which they end. */
  private List<Placed> placed() throws IOException {
    List<Placed> calls = new ArrayList<>();
    GraphState state =
        PyramidPass.state(
            new PyramidPass.Placing() {
              @Override
              public long threshold() {
                return 0;
              }

              @Override
              public boolean places(CoreGraph core, long selfPc) {
                return true;
              }

              @Override
              public void placed(CoreGraph core, Line line, long selfPc, long enter, long exit) {
                calls.add(new Placed(line, selfPc, enter, exit));
              }

              @Override
              public Pyramid pyramid(CoreGraph core) {
                return null;
              }
            });
    var _ = TraceReplay.read(bare, state, 1, TraceReplay.Progress.SILENT);
    assertThat(calls).hasSizeGreaterThan(STEPS);
    return calls;
  }

  /** Writes a pyramid of these calls, in tiles so short that there are some levels. */
  private List<PyramidTiles> tilesOf(PyramidCore core, List<Placed> calls) throws IOException {
    Pyramid pyramid = Pyramid.of(new Pyramid.Room(1 << 18), 3);
    for (Placed call : calls) {
      Line line = call.line();
      pyramid.turnTo(line.task(), line.instance(), line.interrupts());
      pyramid.call(line.depth(), call.selfPc(), call.enter(), call.exit());
    }
    try (TraceClaim claim = TraceClaim.of(file);
        TracePyramidWriter writer = TracePyramidWriter.open(claim)) {
      core.setLines(PyramidBlocks.lines(pyramid.tiles()));
      core.setLevels(PyramidBlocks.write(pyramid.tiles(), writer));
      var _ = writer.finish(List.of(core));
    }
    List<PyramidTiles> tiles = new ArrayList<>();
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      TracePyramid written = trace.pyramid().orElseThrow();
      for (PyramidLevel level : written.cores().getFirst().getLevels()) {
        for (PyramidPlace place : level.getBlocks()) {
          tiles.add(written.read(place));
        }
      }
    } catch (TracePyramid.WrongPyramidException e) {
      throw new AssertionError(e);
    }
    return tiles;
  }

  /** A number changed behind checksums that hold: the levels above and below deny it. */
  @Test
  void aTileIsTheSumOfTheShorterOnesInIt() throws Exception {
    writeManyCalls();
    PyramidCore core;
    List<PyramidTiles> tiles = new ArrayList<>();
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      TracePyramid pyramid = trace.pyramid().orElseThrow();
      core = pyramid.cores().getFirst();
      for (PyramidLevel level : core.getLevels()) {
        for (PyramidPlace place : level.getBlocks()) {
          tiles.add(pyramid.read(place));
        }
      }
    }
    assertThat(core.getLevels()).hasSizeGreaterThan(2);
    assertThat(asked(file, core, false)).as("nothing changed").isEmpty();
    for (int block = 0; block < tiles.size(); block++) {
      PyramidTiles changed = PyramidTiles.newBuilder(tiles.get(block)).build();
      boolean calls = changed.getTileCalls().isEmpty() || random.nextInt(4) == 0;
      List<Long> column =
          calls && !changed.getCallCounts().isEmpty()
              ? changed.getCallCounts()
              : random.nextBoolean() ? changed.getTileCalls() : changed.getTileBusy();
      int at = random.nextInt(column.size());
      column.set(at, column.get(at) + 1 + random.nextInt(9));
      List<PyramidTiles> others = new ArrayList<>(tiles);
      others.set(block, changed);
      rewrite(file, List.of(core), others);
      assertThat(asked(file, core, false))
          .as("block %d of %d, number %d", block, tiles.size(), at)
          .singleElement()
          .asString()
          .contains("trace.avro: its pyramid is wrong", "retstack index", "is not the sum of")
          .containsPattern("expected .*, received ");
    }
  }

  /** A pyramid of several levels for the first core, whose own calls are few. */
  private void writeManyCalls() throws Exception {
    PyramidCore first;
    long last;
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      first = PyramidCore.newBuilder(trace.pyramid().orElseThrow().cores().getFirst()).build();
      TraceIndex.Core core = new TraceIndex.Core(first.getSession(), first.getCore());
      last = trace.index().rangesOf(core).getLast().lastTime();
    }
    Pyramid pyramid = Pyramid.of(new Pyramid.Room(1 << 18), 2);
    for (int i = 0; i < 20_000; i++) {
      long enter = random.nextLong(last);
      long exit = Math.min(last, enter + random.nextLong(1L << random.nextInt(1, 14)));
      pyramid.turnTo(random.nextLong(2), 1, 0);
      pyramid.call(random.nextInt(3), 0x1000 + random.nextInt(50), enter, exit);
    }
    try (TraceClaim claim = TraceClaim.of(file);
        TracePyramidWriter writer = TracePyramidWriter.open(claim)) {
      first.setLines(PyramidBlocks.lines(pyramid.tiles()));
      first.setLevels(PyramidBlocks.write(pyramid.tiles(), writer));
      var _ = writer.finish(List.of(first));
    }
  }

  /** What is noticed where all of a core is asked for, in tiles of any length. */
  private static List<String> asked(Path trace, PyramidCore of, boolean chunks) throws IOException {
    try (TraceTimeline timeline = TraceTimeline.open(trace, LateSymbols.NONE)) {
      TraceIndex.Core core = new TraceIndex.Core(of.getSession(), of.getCore());
      long last = timeline.lastTime(core);
      for (int width = 1; width <= 1 << 16 && timeline.notices().isEmpty(); width *= 16) {
        Timeline.Question question = new Timeline.Question(0, last, width, 64);
        var _ = timeline.answer(core, question, chunks, TraceReplay.Progress.SILENT);
      }
      return timeline.notices();
    }
  }

  private static void rewrite(Path trace, List<PyramidCore> cores, List<PyramidTiles> tiles)
      throws IOException {
    try (TraceClaim claim = TraceClaim.of(trace);
        TracePyramidWriter writer = TracePyramidWriter.open(claim)) {
      List<PyramidCore> written = new ArrayList<>();
      int block = 0;
      for (PyramidCore core : cores) {
        PyramidCore copy = PyramidCore.newBuilder(core).build();
        for (PyramidLevel level : copy.getLevels()) {
          for (int i = 0; i < level.getBlocks().size(); i++, block++) {
            PyramidPlace was = level.getBlocks().get(i);
            level.getBlocks().set(i, writer.write(tiles.get(block), was.getFrom(), was.getTo()));
          }
        }
        written.add(copy);
      }
      var _ = writer.finish(written);
    }
  }

  /** Writes the pyramid with one field changed, if that draws another value. */
  private boolean lie(List<PyramidCore> cores, List<PyramidTiles> tiles, List<PyramidPlace> places)
      throws IOException {
    boolean changed = false;
    int wrong = random.nextInt(tiles.size());
    boolean inBlock = random.nextInt(3) > 0;
    try (TraceClaim claim = TraceClaim.of(file);
        TracePyramidWriter writer = TracePyramidWriter.open(claim)) {
      int block = 0;
      List<PyramidCore> written = new ArrayList<>();
      for (PyramidCore core : cores) {
        PyramidCore copy = PyramidCore.newBuilder(core).build();
        for (PyramidLevel level : copy.getLevels()) {
          for (int i = 0; i < level.getBlocks().size(); i++, block++) {
            PyramidTiles one = PyramidTiles.newBuilder(tiles.get(block)).build();
            if (inBlock && block == wrong) {
              change(one);
              changed = !one.equals(tiles.get(block));
            }
            PyramidPlace was = places.get(block);
            level.getBlocks().set(i, writer.write(one, was.getFrom(), was.getTo()));
          }
        }
        written.add(copy);
      }
      if (!inBlock) {
        String right = written.toString();
        change(written);
        changed = !written.toString().equals(right);
      }
      var _ = writer.finish(written);
    }
    return changed;
  }

  private void change(PyramidTiles tiles) {
    Object column = tiles.get(random.nextInt(13));
    if (column instanceof List<?> any && !any.isEmpty()) {
      @SuppressWarnings("unchecked")
      List<Object> list = (List<Object>) any;
      int at = random.nextInt(list.size());
      if (random.nextInt(5) == 0) {
        list.remove(at);
      } else {
        list.set(at, any.get(at) instanceof Integer ? (Object) (int) number() : (Object) number());
      }
    }
  }

  private void change(List<PyramidCore> cores) {
    PyramidCore core = cores.get(random.nextInt(cores.size()));
    PyramidLevel level = core.getLevels().get(random.nextInt(core.getLevels().size()));
    PyramidPlace place = level.getBlocks().get(random.nextInt(level.getBlocks().size()));
    switch (random.nextInt(9)) {
      case 0 -> place.setBytes((int) number());
      case 1 -> place.setCrc32c(number());
      case 2 -> place.setFrom(number());
      case 3 -> place.setTo(number());
      case 4 -> level.setShift((int) number());
      case 5 -> core.setImage("none");
      case 6 -> core.setUnit("none");
      case 7 -> core.getLines().get(0).setKind((int) number());
      default -> core.setCore(cores.getFirst().getCore());
    }
  }

  private long number() {
    return switch (random.nextInt(5)) {
      case 0 -> random.nextInt(-2, 70);
      case 1 -> Long.MAX_VALUE - random.nextInt(3);
      case 2 -> Long.MIN_VALUE + random.nextInt(3);
      case 3 -> random.nextLong();
      default -> random.nextLong(1 << 20);
    };
  }

  @Test
  void aTraceThatWasCutOffGetsNoPyramid() throws IOException {
    byte[] bytes = Files.readAllBytes(bare);
    Path cut = dir.resolve("cut.avro");
    Files.write(cut, Arrays.copyOf(bytes, bytes.length / 2));
    byte[] before = Files.readAllBytes(cut);
    assertThatThrownBy(() -> PyramidPass.write(cut, TraceReplay.Progress.SILENT))
        .isInstanceOf(CorruptTraceException.class)
        .hasMessageContaining("cut.avro")
        .hasMessageContaining("retstack merge");
    assertThat(Files.readAllBytes(cut)).isEqualTo(before);
    try (TraceTimeline trace = TraceTimeline.open(cut, LateSymbols.NONE)) {
      TraceIndex.Core core = trace.cores().iterator().next();
      assertThat(ask(trace, core, question(trace, core)).timeline().rows()).isNotEmpty();
      assertThat(trace.notices()).anyMatch(notice -> notice.contains("cut off"));
    }
  }
}
