package dev.retstack.answers.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.RandomFleet;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.PyramidLevel;
import dev.retstack.schema.PyramidPlace;
import dev.retstack.schema.file.IndexedTrace;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.file.TraceIndex;
import dev.retstack.schema.file.TracePyramid;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Blocks that are held: which, how many, and for whom. */
class PyramidBlockTest {
  @TempDir private Path dir;
  private Path file;
  private SplittableRandom random;

  @BeforeEach
  void record() throws Exception {
    long seed = Seeds.fresh();
    System.out.println("PyramidBlockTest: -Dretstack.seed=" + seed);
    random = new SplittableRandom(seed);
    file = dir.resolve("trace.avro");
    List<CoreScript> fleet = RandomFleet.of(random.nextLong(), 4, 5_000);
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      for (CoreScript core : fleet) {
        writer.write(core.image());
      }
      for (CoreScript core : fleet) {
        for (var chunk : core.chunks()) {
          writer.write(chunk);
        }
      }
    }
    var _ = PyramidPass.write(file, TraceReplay.Progress.SILENT);
  }

  @Test
  void itHoldsNoMoreThanItMayAndThatWasAskedForLast() throws Exception {
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      TracePyramid pyramid = trace.pyramid().orElseThrow();
      List<PyramidPlace> places = new ArrayList<>();
      List<PyramidBlock> blocks = new ArrayList<>();
      for (PyramidCore core : pyramid.cores()) {
        for (PyramidLevel level : core.getLevels()) {
          for (PyramidPlace place : level.getBlocks()) {
            places.add(place);
            blocks.add(
                PyramidBlock.of(
                    pyramid, place, pyramid.read(place), level.getShift(), core.getLines().size()));
          }
        }
      }
      long all = blocks.stream().mapToLong(PyramidBlock::bytes).sum();
      long largest = blocks.stream().mapToLong(PyramidBlock::bytes).max().orElseThrow();
      PyramidBlock.Cache few = new PyramidBlock.Cache(Math.max(largest, all / 3));
      PyramidBlock.Cache none = new PyramidBlock.Cache(blocks.getFirst().bytes() - 1);
      none.put(places.getFirst(), blocks.getFirst());
      assertThat(none.get(places.getFirst())).isNull();
      assertThat(none.bytes()).isZero();
      for (int i = 0; i < 10 * places.size(); i++) {
        int at = random.nextInt(places.size());
        few.put(places.get(at), blocks.get(at));
        assertThat(few.get(places.get(at))).isSameAs(blocks.get(at));
        long held =
            IntStream.range(0, places.size())
                .filter(one -> few.get(places.get(one)) != null)
                .mapToLong(one -> blocks.get(one).bytes())
                .sum();
        assertThat(few.bytes()).isEqualTo(held).isLessThanOrEqualTo(Math.max(largest, all / 3));
      }
      assertThat(few.get(PyramidPlace.newBuilder(places.getFirst()).build()))
          .as("the same words of another core")
          .isNull();
    }
  }

  /** Cores that are drawn at the same time are drawn as each alone. */
  @Test
  void severalThreadsGetTheSameAnswers() throws Exception {
    try (TraceTimeline shared = TraceTimeline.open(file, LateSymbols.NONE);
        TraceTimeline alone = TraceTimeline.open(file, LateSymbols.NONE)) {
      List<TraceIndex.Core> cores = List.copyOf(shared.cores());
      List<Timeline.Question> questions = new ArrayList<>();
      List<Timeline> expected = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        TraceIndex.Core core = cores.get(i % cores.size());
        long last = alone.lastTime(core);
        long from = random.nextLong(last);
        Timeline.Question question =
            new Timeline.Question(
                from, from + 1 + random.nextLong(last), 1 + random.nextInt(200), 64);
        questions.add(question);
        expected.add(
            alone.answer(core, question, i % 2 == 0, TraceReplay.Progress.SILENT).timeline());
      }
      List<Timeline> got =
          IntStream.range(0, 40)
              .parallel()
              .mapToObj(
                  i -> {
                    try {
                      return shared
                          .answer(
                              cores.get(i % cores.size()),
                              questions.get(i),
                              i % 2 == 0,
                              TraceReplay.Progress.SILENT)
                          .timeline();
                    } catch (IOException e) {
                      throw new UncheckedIOException(e);
                    }
                  })
              .toList();
      assertThat(got).isEqualTo(expected);
      assertThat(shared.notices()).isEmpty();
    }
  }
}
