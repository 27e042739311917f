package dev.retstack.benchmarks.stages;

import dev.retstack.answers.replay.PyramidPass;
import dev.retstack.answers.replay.TraceReplay;
import dev.retstack.answers.replay.TraceTimeline;
import dev.retstack.benchmarks.measure.CpuTime;
import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.benchmarks.measure.Rounds;
import dev.retstack.cli.command.Terminal;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.state.GraphState;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.file.TraceIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The pyramid of a stored trace: what it costs to make, beside a replay of the same trace in one
 * thread, how large it is, and how long random questions take. Each question opens the trace anew,
 * so that nothing but the operating system's cache helps it.
 */
public final class PyramidBench {
  private static final int WIDTH = 1000;
  private static final int DEPTH = 64;

  /** Shortest window; up to the whole trace, each power of two is as likely. */
  private static final long WINDOW_MIN = 1 << 10;

  private PyramidBench() {}

  /**
   * Measures {@code w200} on one core.
   *
   * @param file where the trace is put; replaced
   */
  public static List<Measure> run(
      LoadedImage image, long w200, int rounds, int questions, Path file, Terminal terminal)
      throws IOException, InterruptedException {
    long records = ReplayBench.record(image, w200, file, terminal);
    String subject = "%s w200, %,d records".formatted(image.elf().name(), records);
    List<Measure> measures = new ArrayList<>(build(subject, rounds, file));
    var _ = ask(file, new SplittableRandom(1), questions / 10 + 1); // warms up
    long seed = 2;
    measures.addAll(ask(file, new SplittableRandom(seed), questions).measures(subject));
    return measures;
  }

  /** The two in turn, so that both meet the same machine. */
  private static List<Measure> build(String subject, int rounds, Path file) throws IOException {
    Rounds with = new Rounds(rounds);
    Rounds without = new Rounds(rounds);
    PyramidPass.Written written = null;
    for (int round = -1; round < rounds; round++) { // the first one warms up
      long before = CpuTime.ofThisProcess();
      GraphState state = new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(0));
      var _ = TraceReplay.read(file, state, 1, TraceReplay.Progress.SILENT);
      long between = CpuTime.ofThisProcess();
      written = PyramidPass.write(file, TraceReplay.Progress.SILENT);
      long after = CpuTime.ofThisProcess();
      if (round >= 0) {
        without.add((between - before) / (double) written.records());
        with.add((after - between) / (double) written.records());
      }
    }
    double calls = written.records() / 2.0;
    return List.of(
        new Measure("pyramid", subject, "replayCpuNsPerRecord", without.median()),
        new Measure("pyramid", subject, "buildCpuNsPerRecord", with.median()),
        new Measure("pyramid", subject, "bytesPerMillionCalls", written.bytes() / calls * 1e6),
        new Measure(
            "pyramid", subject, "shareOfFile", written.bytes() / (double) Files.size(file)));
  }

  /** How long all answers took, the fastest first, and what they were. */
  private static final class Asked {
    private final double[] millis;
    private final double cpuMillis;
    private final double fromChunks;
    private final double rows;

    Asked(double[] millis, double cpuMillis, double fromChunks, double rows) {
      this.millis = millis;
      this.cpuMillis = cpuMillis;
      this.fromChunks = fromChunks;
      this.rows = rows;
    }

    List<Measure> measures(String subject) {
      return List.of(
          new Measure("pyramid", subject, "questions", millis.length),
          new Measure("pyramid", subject, "p50Ms", at(0.5)),
          new Measure("pyramid", subject, "p95Ms", at(0.95)),
          new Measure("pyramid", subject, "p99Ms", at(0.99)),
          new Measure("pyramid", subject, "maxMs", millis[millis.length - 1]),
          new Measure("pyramid", subject, "cpuMsPerQuestion", cpuMillis),
          new Measure("pyramid", subject, "shareFromChunks", fromChunks),
          new Measure("pyramid", subject, "rowsPerAnswer", rows));
    }

    private double at(double share) {
      return millis[(int) Math.ceil(share * millis.length) - 1];
    }
  }

  private static Asked ask(Path file, SplittableRandom random, int questions) throws IOException {
    double[] millis = new double[questions];
    long fromChunks = 0;
    long rows = 0;
    long last;
    try (TraceTimeline trace = TraceTimeline.open(file, LateSymbols.NONE)) {
      last = trace.lastTime(trace.cores().iterator().next());
    }
    long cpu = CpuTime.ofThisProcess();
    for (int i = 0; i < questions; i++) {
      double power = random.nextDouble() * Math.log((double) Math.max(2, last / WINDOW_MIN));
      long window = Math.min(last, (long) (WINDOW_MIN * Math.exp(power)));
      long from = random.nextLong(last - window + 1);
      long start = System.nanoTime();
      try (TraceTimeline trace = TraceTimeline.open(file, LateSymbols.NONE)) {
        TraceIndex.Core core = trace.cores().iterator().next();
        TraceTimeline.Answer answer =
            trace.answer(
                core,
                new Timeline.Question(from, from + window, WIDTH, DEPTH),
                true,
                TraceReplay.Progress.SILENT);
        if (!trace.notices().isEmpty() || answer.timeline().rows().isEmpty()) {
          throw new IllegalStateException("no answer: " + trace.notices());
        }
        fromChunks += answer.detail() == TraceTimeline.Detail.CHUNKS ? 1 : 0;
        rows += answer.timeline().rows().size();
      }
      millis[i] = (System.nanoTime() - start) / 1e6;
    }
    double cpuMillis = (CpuTime.ofThisProcess() - cpu) / 1e6 / questions;
    Arrays.sort(millis);
    return new Asked(millis, cpuMillis, fromChunks / (double) questions, rows / (double) questions);
  }
}
