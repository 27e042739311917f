package dev.retstack.fleet.isolate;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.probe.task.TaskOptions;
import dev.retstack.fleet.settings.Setting;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.memory.Ram;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a child runs: one image, its cores, and how. Everything but the programs' streams, which go
 * through frames.
 *
 * @param image absolute path of the ELF file
 * @param buildId which the file must still have
 * @param fleet how the cores are run
 * @param cores in the order of their numbers
 */
record HostJob(String image, String buildId, FleetPart fleet, List<CorePart> cores) {

  /** {@link FleetOptions}, with the codec by its id and durations in nanoseconds. */
  record FleetPart(
      String session,
      int threads,
      long sliceInstructions,
      long flushNanos,
      String codec,
      int payloadBytesMax,
      long progressNanos) {

    static FleetPart of(FleetOptions options, int threads) {
      return new FleetPart(
          options.session(),
          threads,
          options.sliceInstructions(),
          options.flushInterval().toNanos(),
          options.codec().id(),
          options.payloadBytesMax(),
          options.progressInterval().toNanos());
    }

    /** The options again; the codec's id is one that this version knows, since it wrote it. */
    FleetOptions options() throws IOException {
      try {
        return new FleetOptions(
            session,
            threads,
            sliceInstructions,
            Duration.ofNanos(flushNanos),
            Codecs.byId(codec),
            payloadBytesMax,
            Duration.ofNanos(progressNanos));
      } catch (CorruptChunkException e) {
        throw new IOException(e.getMessage(), e);
      }
    }
  }

  /** A core with its {@link CoreOptions} and {@link LinuxOptions}; entry null = the image's own. */
  record CorePart(
      String name,
      Map<String, String> labels,
      boolean traced,
      CoreOptions.Clock clock,
      CoreOptions.ProbeKind probe,
      TracePart trace,
      int retStackLimit,
      boolean checkReturns,
      boolean libraryCalls,
      int recordsPerChunk,
      long instructionLimit,
      Long entry,
      List<Ram> ram,
      List<InterruptTimer> timers,
      TaskOptions tasks,
      Schedule schedule,
      List<String> arguments,
      Map<String, String> environment,
      long seed,
      long stackBytes,
      long memoryBytesMax,
      long outputBytesMax,
      List<String> readable,
      List<String> writable,
      String sysroot) {

    static CorePart of(CoreSpec spec) {
      CoreOptions core = spec.options();
      LinuxOptions linux = core.linux();
      return new CorePart(
          spec.name(),
          spec.labels(),
          core.traced(),
          core.clock(),
          core.probe(),
          TracePart.of(core.trace()),
          core.retStackLimit(),
          core.checkReturns(),
          core.libraryCalls(),
          core.recordsPerChunk(),
          core.instructionLimit(),
          core.entry().isPresent() ? core.entry().getAsLong() : null,
          core.ram(),
          core.timers(),
          core.tasks(),
          core.schedule(),
          linux.arguments(),
          linux.environment(),
          linux.seed(),
          linux.stackBytes(),
          linux.memoryBytesMax(),
          linux.outputBytesMax(),
          linux.readable().stream().map(Path::toString).toList(),
          linux.writable().stream().map(Path::toString).toList(),
          linux.sysroot().map(Path::toString).orElse(null));
    }

    CoreSpec spec(LoadedImage image, InputStream in, OutputStream out, OutputStream err) {
      LinuxOptions linux =
          new LinuxOptions(
              arguments,
              environment,
              in,
              out,
              err,
              seed,
              stackBytes,
              memoryBytesMax,
              outputBytesMax,
              readable.stream().map(Path::of).toList(),
              writable.stream().map(Path::of).toList(),
              Optional.ofNullable(sysroot).map(Path::of));
      return new CoreSpec(
          name,
          image,
          new CoreOptions(
              traced,
              clock,
              probe,
              trace.settings(),
              retStackLimit,
              checkReturns,
              libraryCalls,
              recordsPerChunk,
              instructionLimit,
              entry == null ? OptionalLong.empty() : OptionalLong.of(entry),
              ram,
              timers,
              tasks,
              schedule,
              linux),
          labels);
    }
  }

  /** Loads the image, which must be the one that the parent has seen. */
  LoadedImage load() throws IOException {
    LoadedImage loaded = LoadedImage.load(Path.of(image));
    if (!loaded.elf().buildId().equals(buildId)) {
      throw new ElfFormatException(
          loaded.elf().name(),
          "the build-id",
          loaded.elf().buildId(),
          buildId,
          "leave the file alone while its cores run");
    }
    return loaded;
  }

  /**
   * {@link TraceSettings} of one core on their way to its process.
   *
   * @param on as there
   * @param commands what differs from the standard: names of commands and their texts
   */
  record TracePart(boolean on, Map<String, List<String>> commands) {
    static TracePart of(TraceSettings settings) {
      return new TracePart(settings.on(), Setting.allTexts(settings));
    }

    TraceSettings settings() {
      return Setting.settings(commands).withOn(on);
    }
  }
}
