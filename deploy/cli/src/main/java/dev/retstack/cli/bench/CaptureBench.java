package dev.retstack.cli.bench;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.linux.LinuxOptions;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.schema.codec.RecordBatch;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;

/**
 * What tracing costs: the time of a traced run against that of the same image whose counting
 * function returns at once, both in the same round.
 */
public final class CaptureBench {
  private CaptureBench() {}

  /**
   * Measures one program of the zoo.
   *
   * @param argument what makes the program run long enough to be measured
   */
  public static List<Measure> run(
      LoadedImage image, String program, long argument, int rounds, ProbeKind probe) {
    CoreOptions traced = CoreOptions.of(LinuxOptions.of(program)).withProbe(probe);
    CoreOptions untraced = traced.withTraced(false);
    List<String> argv = List.of("zoo", program, String.valueOf(argument));
    LongAdder entries = new LongAdder();
    GuestRun.nanos(image, argv, traced, batch -> entries.add(entries(batch)));
    GuestRun.nanos(image, argv, untraced, _ -> {});
    Rounds perCall = new Rounds(rounds);
    Rounds ratio = new Rounds(rounds);
    for (int round = 0; round < rounds; round++) {
      long bare = GuestRun.nanos(image, argv, untraced, _ -> {});
      long nanos = GuestRun.nanos(image, argv, traced, _ -> {});
      perCall.add((double) nanos / entries.sum());
      ratio.add((double) nanos / bare);
    }
    String subject =
        "%s %s %s".formatted(image.elf().name(), program, probe.name().toLowerCase(Locale.ROOT));
    return List.of(
        new Measure("capture", subject, "nsPerCall", perCall.median()),
        new Measure("capture", subject, "timesUntraced", ratio.median()));
  }

  private static long entries(RecordBatch batch) {
    long entries = 0;
    for (int i = 0; i < batch.size(); i++) {
      entries += batch.kind[i] == RecordBatch.ENTRY ? 1 : 0;
    }
    return entries;
  }
}
