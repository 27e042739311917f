package dev.retstack.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Every benchmark runs, so that none rots; measured, and printed, only where that is asked for. */
class BenchmarksTest {
  /** A pattern of names: those benchmarks are measured. */
  private static final String WANTED = System.getProperty("retstack.jmh", "");

  private static final String ALL = "dev\\.retstack\\..*";

  @Test
  void everyBenchmarkRunsOnEveryWorkload() throws RunnerException {
    if (!WANTED.isEmpty()) {
      assertThat(run(measured())).as("benchmarks like " + WANTED).isNotEmpty();
      return;
    }
    Collection<RunResult> results = run(inThisProcess(ALL));
    Set<String> ran = new TreeSet<>();
    for (RunResult result : results) {
      String name = result.getParams().getBenchmark();
      ran.add(name.substring(name.lastIndexOf('.') + 1));
      assertThat(result.getPrimaryResult().getScore()).as(name).isPositive();
    }
    assertThat(ran).containsExactly("apply", "decode", "decodeAndApply", "encode");
    // of each workload: two of the graph with three things beside, two of the codecs, of which
    // there are two
    assertThat(results).hasSize(2 * (2 * 3 + 2 * 2));
  }

  /** The canary: a benchmark that throws is not passed over. */
  @Test
  void aBenchmarkThatFailsIsFoundOut() {
    ChainedOptionsBuilder options = inThisProcess(CodecBenchmark.class.getName() + ".encode");
    options.param("codec", "packed9").param("workload", "fib");
    List<Throwable> thrown = new ArrayList<>();
    try {
      run(options);
    } catch (RunnerException e) {
      thrown.add(e);
      thrown.addAll(List.of(e.getSuppressed()));
    }
    assertThat(thrown).isNotEmpty();
  }

  private static ChainedOptionsBuilder measured() {
    ChainedOptionsBuilder options = new OptionsBuilder();
    return options
        .include(WANTED)
        .forks(2)
        .warmupIterations(5)
        .warmupTime(TimeValue.seconds(1))
        .measurementIterations(5)
        .measurementTime(TimeValue.seconds(1))
        .jvmArgsAppend("-Xmx1g", "-Dretstack.root=" + System.getProperty("retstack.root", ""));
  }

  private static ChainedOptionsBuilder inThisProcess(String names) {
    ChainedOptionsBuilder options = new OptionsBuilder();
    return options
        .include(names)
        .forks(0)
        .warmupIterations(0)
        .measurementIterations(1)
        .measurementTime(TimeValue.milliseconds(1))
        .shouldFailOnError(true)
        .verbosity(VerboseMode.SILENT);
  }

  private static Collection<RunResult> run(ChainedOptionsBuilder options) throws RunnerException {
    return new Runner(options.build()).run();
  }
}
