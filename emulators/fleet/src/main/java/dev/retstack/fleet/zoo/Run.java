package dev.retstack.fleet.zoo;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.ImageLayout;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import it.unimi.dsi.fastutil.HashCommon;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * A program run to its end on one core, with all its records where they were kept.
 *
 * @param keyframes a sum of what was open where each batch but the first began; 0 where that is not
 *     known; none where nobody asked
 */
public record Run(
    LoadedImage image,
    CoreEnding ending,
    RecordBatch records,
    String output,
    long instructions,
    long overruns,
    long unhijackable,
    long abandoned,
    int batches,
    LongList keyframes) {

  /** What is kept of a run, beside numbers. */
  private enum Kept {
    NOTHING,
    RECORDS,
    /** records and keyframes */
    ALL
  }

  /** Runs a program with default options in long slices. */
  public static Run of(LoadedImage image, String... arguments) {
    return of(image, options(), 1_000_000, core -> {}, arguments);
  }

  /** Options without limits. */
  public static CoreOptions options() {
    return CoreOptions.of(LinuxOptions.of("zoo"));
  }

  /** Runs a program. */
  public static Run of(
      LoadedImage image,
      CoreOptions options,
      long slice,
      Consumer<Core> beforeStart,
      String... arguments) {
    boolean[] started = {false};
    return of(
        image,
        options,
        core -> {
          if (!started[0]) {
            started[0] = true;
            beforeStart.accept(core);
          }
          return slice;
        },
        arguments);
  }

  /**
   * Runs a program.
   *
   * @param slices says before each run how many instructions it shall take
   */
  public static Run of(
      LoadedImage image, CoreOptions options, ToLongFunction<Core> slices, String... arguments) {
    return of(image, options, slices, Kept.ALL, arguments);
  }

  /**
   * Runs a program without a look at the frames that are open where a batch begins: each look costs
   * as much as there are, in a deep recursion with small batches more than all else.
   */
  public static Run withoutKeyframes(
      LoadedImage image, CoreOptions options, ToLongFunction<Core> slices, String... arguments) {
    return of(image, options, slices, Kept.RECORDS, arguments);
  }

  /** Runs a program in long slices and forgets its records, so that it may leave any number. */
  public static Run withoutRecords(LoadedImage image, CoreOptions options, String... arguments) {
    return of(image, options, core -> 1_000_000, Kept.NOTHING, arguments);
  }

  private static Run of(
      LoadedImage image,
      CoreOptions options,
      ToLongFunction<Core> slices,
      Kept kept,
      String... arguments) {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    String[] argv = new String[arguments.length + 1];
    argv[0] = "zoo";
    System.arraycopy(arguments, 0, argv, 1, arguments.length);
    LinuxOptions linux =
        LinuxOptions.of("zoo")
            .withArguments(List.of(argv))
            .withStreams(InputStream.nullInputStream(), output, output);
    Collected all = new Collected();
    try (Core core = Core.open(image, options.withLinux(linux))) {
      Core.Slice how;
      do {
        how = core.run(slices.applyAsLong(core));
        if (how != Core.Slice.DEADLINE) {
          all.overruns += core.probe().overruns();
          all.unhijackable += core.probe().unhijackable();
          all.abandoned += core.probe().abandoned();
          all.batches++;
          if (kept != Kept.NOTHING) {
            all.append(core.probe().batch());
          }
          core.probe().clear();
          if (kept == Kept.ALL && how != Core.Slice.ENDED) {
            all.keyframes.add(sum(core.probe().keyframe()));
          }
        }
      } while (how != Core.Slice.ENDED);
      return new Run(
          image,
          core.ending().orElseThrow(),
          all.records,
          output.toString(StandardCharsets.UTF_8),
          core.instructions(),
          all.overruns,
          all.unhijackable,
          all.abandoned,
          all.batches,
          all.keyframes);
    }
  }

  private static long sum(Keyframe keyframe) {
    if (keyframe == null) {
      return 0;
    }
    RecordBatch records = keyframe.records();
    long sum = records.size();
    for (int i = 0; i < records.size(); i++) {
      long[] fields = {
        records.kind[i],
        records.time[i],
        records.depth[i],
        records.selfPc[i],
        records.fromPc[i],
        records.retP[i],
        records.fp[i]
      };
      for (long field : fields) {
        sum = HashCommon.mix(sum * 31 + field);
      }
    }
    return sum;
  }

  /** The call tree of the records. */
  public TreeText tree() {
    long start = ImageLayout.landingPage(image.elf());
    long end = LandingPage.endOf(start, image.isa());
    return TreeText.of(records, image.elf(), address -> address >= start && address < end);
  }

  /** Entries per function name. */
  public Map<String, Long> counts() {
    Map<String, Long> counts = new TreeMap<>();
    for (int i = 0; i < records.size(); i++) {
      if (records.kind[i] == RecordBatch.ENTRY) {
        String name = image.elf().functionAt(records.selfPc[i]).orElseThrow().name();
        counts.merge(name, 1L, Long::sum);
      }
    }
    return counts;
  }

  private static final class Collected {
    RecordBatch records = new RecordBatch(1 << 10);
    long overruns;
    long unhijackable;
    long abandoned;
    int batches;
    final LongArrayList keyframes = new LongArrayList();

    void append(RecordBatch more) {
      if (records.size() + more.size() > records.capacity()) {
        RecordBatch bigger =
            new RecordBatch(Math.max(records.capacity() * 2, records.size() + more.size()));
        bigger.addAll(records, 0, records.size());
        records = bigger;
      }
      records.addAll(more, 0, more.size());
    }
  }
}
