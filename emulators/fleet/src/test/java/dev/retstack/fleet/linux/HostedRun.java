package dev.retstack.fleet.linux;

import dev.retstack.fleet.BatchSink;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.record.RecordBatch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What became of a program on one traced core.
 *
 * @param result of the core
 * @param stdout what it wrote
 * @param stderr what it wrote
 * @param records all hijack records, as text, in order
 * @param calls entries by function name
 */
record HostedRun(
    CoreResult result,
    String stdout,
    String stderr,
    List<String> records,
    Map<String, Integer> calls) {

  static HostedRun of(
      Path program,
      List<String> arguments,
      Map<String, String> environment,
      String input,
      long slice)
      throws IOException, InterruptedException {
    LinuxOptions options =
        LinuxOptions.of("prog").withArguments(arguments).withEnvironment(environment);
    return of(program, options, input, CoreOptions.ProbeKind.AUTO, slice);
  }

  static HostedRun of(
      Path program, LinuxOptions linux, String input, CoreOptions.ProbeKind probe, long slice)
      throws IOException, InterruptedException {
    return of(program, CoreOptions.of(linux).withProbe(probe), input, slice);
  }

  static HostedRun of(Path program, CoreOptions core, String input, long slice)
      throws IOException, InterruptedException {
    LoadedImage image = load(program);
    Collector collector = new Collector(image);
    Ended run = run(image, core, input, slice, collector);
    return new HostedRun(
        run.result,
        run.stdout.toString(StandardCharsets.UTF_8),
        run.stderr.toString(StandardCharsets.UTF_8),
        collector.records,
        collector.calls);
  }

  /** What became of a program whose records went elsewhere. */
  record Ended(CoreResult result, ByteArrayOutputStream stdout, ByteArrayOutputStream stderr) {}

  /** Runs a program on one core. */
  static Ended run(LoadedImage image, CoreOptions core, String input, long slice, BatchSink sink)
      throws IOException, InterruptedException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    LinuxOptions options =
        core.linux()
            .withStreams(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)), out, err);
    List<CoreResult> results =
        Fleet.run(
            List.of(new CoreSpec("core-0", image, core.withLinux(options))),
            FleetOptions.standard().withThreads(1).withSliceInstructions(slice),
            sink,
            FleetListener.NONE);
    return new Ended(results.getFirst(), out, err);
  }

  /** A record as text. A format string would take longer than to emulate what it tells of. */
  static String text(RecordBatch batch, int i) {
    return String.join(
        " ",
        Integer.toString(batch.kind[i]),
        Long.toString(batch.time[i]),
        Integer.toString(batch.depth[i]),
        Long.toHexString(batch.selfPc[i]),
        Long.toHexString(batch.fromPc[i]),
        Long.toHexString(batch.retP[i]),
        Long.toHexString(batch.fp[i]));
  }

  /** The last program: most run several times, and to find call sites takes longer than a run. */
  private static LoadedImage load(Path program) throws IOException {
    synchronized (HostedRun.class) {
      FileTime written = Files.getLastModifiedTime(program);
      if (last == null || !last.program.equals(program) || !last.written.equals(written)) {
        last = new Last(program, written, LoadedImage.load(program).requireCallSites());
      }
      return last.image;
    }
  }

  private record Last(Path program, FileTime written, LoadedImage image) {}

  private static Last last;

  /** Keeps what is published. */
  private static final class Collector implements BatchSink {
    private final LoadedImage image;
    private final List<String> records = new ArrayList<>();
    private final Map<String, Integer> calls = new TreeMap<>();

    Collector(LoadedImage image) {
      this.image = image;
    }

    @Override
    public void batch(Chunk chunk, RecordBatch batch) {
      for (int i = 0; i < batch.size(); i++) {
        records.add(text(batch, i));
        if (batch.kind[i] == RecordBatch.ENTRY) {
          String name = image.elf().functionAt(batch.selfPc[i]).orElseThrow().name();
          calls.merge(name, 1, Integer::sum);
        }
      }
    }
  }
}
