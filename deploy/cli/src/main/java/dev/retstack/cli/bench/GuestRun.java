package dev.retstack.cli.bench;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.linux.LinuxOptions;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.codec.RecordBatch;
import java.util.List;
import java.util.function.Consumer;

/** One run of a program on one core in this thread, with nothing behind the probe. */
final class GuestRun {
  /** More instructions than any program of the zoo executes. */
  private static final long SLICE = 1L << 40;

  private GuestRun() {}

  /**
   * Runs it to its end.
   *
   * @param options which probe, if any, on what clock
   * @param records sees each batch before it is used again
   * @return nanoseconds from the first instruction to the last
   * @throws IllegalStateException where the program did not end by itself with exit code 0
   */
  static long nanos(
      LoadedImage image, List<String> argv, CoreOptions options, Consumer<RecordBatch> records) {
    LinuxOptions linux = LinuxOptions.of(argv.getFirst()).withArguments(argv);
    try (Core core = Core.open(image, options.withLinux(linux))) {
      long start = System.nanoTime();
      Core.Slice slice;
      do {
        slice = core.run(SLICE);
        records.accept(core.probe().batch());
        core.probe().clear();
      } while (slice != Core.Slice.ENDED);
      final long nanos = System.nanoTime() - start;
      CoreEnding ending = core.ending().orElseThrow();
      if (ending.end() != CoreEnd.HALTED || ending.exitCode() != 0) {
        throw new IllegalStateException(argv + " ended: " + ending.detail());
      }
      return nanos;
    }
  }
}
