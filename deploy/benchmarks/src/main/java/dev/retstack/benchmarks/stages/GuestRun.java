package dev.retstack.benchmarks.stages;

import dev.retstack.benchmarks.measure.CpuTime;
import dev.retstack.cli.command.CommandException;
import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.record.RecordBatch;
import java.util.List;
import java.util.function.Consumer;

/**
 * A run of a program on one core in this thread, with nothing behind the probe.
 *
 * @param cpuNanos CPU time of the thread, without the first instructions, in which the engine
 *     translates the program
 * @param share of the run that was measured, by instructions; more than 0
 * @param instructions of the whole run
 */
record GuestRun(long cpuNanos, double share, long instructions) {
  /** More instructions than any program of the zoo executes. */
  private static final long SLICE = 1L << 40;

  /** Not measured. */
  private static final long FIRST = 1_000_000;

  /**
   * Runs it to its end.
   *
   * @param options which probe, if any, on what clock
   * @param prepare may change the core before it starts
   * @param records sees each batch before it is used again
   * @throws IllegalStateException where the program did not end by itself with exit code 0
   */
  static GuestRun of(
      LoadedImage image,
      List<String> argv,
      CoreOptions options,
      Consumer<Core> prepare,
      Consumer<RecordBatch> records) {
    LinuxOptions linux = LinuxOptions.of(argv.getFirst()).withArguments(argv);
    try (Core core = Core.open(image, options.withLinux(linux))) {
      prepare.accept(core);
      while (core.instructions() < FIRST && step(core, FIRST, records)) {
        // translates
      }
      long instructions = core.instructions();
      long start = CpuTime.ofThisThread();
      while (core.ending().isEmpty() && step(core, SLICE, records)) {
        // measured
      }
      final long nanos = CpuTime.ofThisThread() - start;
      CoreEnding ending = core.ending().orElseThrow();
      if (ending.end() != CoreEnd.HALTED || ending.exitCode() != 0) {
        throw new IllegalStateException(argv + " ended: " + ending.detail());
      }
      if (instructions == core.instructions()) {
        throw CommandException.badInput(
            "%s is over after %,d instructions, before anything is measured: give more --calls"
                .formatted(argv, instructions));
      }
      double share = 1 - (double) instructions / core.instructions();
      return new GuestRun(nanos, share, core.instructions());
    }
  }

  /** Nanoseconds per call, where the whole program makes this many calls. */
  double perCall(long calls) {
    return cpuNanos / (calls * share);
  }

  private static boolean step(Core core, long instructions, Consumer<RecordBatch> records) {
    Core.Slice slice = core.run(instructions);
    records.accept(core.probe().batch());
    core.probe().clear();
    return slice != Core.Slice.ENDED;
  }
}
