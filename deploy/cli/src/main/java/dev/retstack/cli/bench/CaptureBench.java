package dev.retstack.cli.bench;

import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.schema.codec.RecordBatch;
import java.util.List;
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
  public static List<Measure> run(LoadedImage image, String program, long argument, int rounds) {
    List<String> argv = List.of("zoo", program, String.valueOf(argument));
    LongAdder entries = new LongAdder();
    GuestRun.nanos(image, argv, true, batch -> entries.add(entries(batch)));
    GuestRun.nanos(image, argv, false, _ -> {});
    Rounds perCall = new Rounds(rounds);
    Rounds ratio = new Rounds(rounds);
    for (int round = 0; round < rounds; round++) {
      long bare = GuestRun.nanos(image, argv, false, _ -> {});
      long traced = GuestRun.nanos(image, argv, true, _ -> {});
      perCall.add((double) traced / entries.sum());
      ratio.add((double) traced / bare);
    }
    String subject = image.elf().name() + " " + program;
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
