package dev.retstack.cli;

import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.fleet.publish.FileChunkSink;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.chunk.Codecs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** A trace of a program of the zoo in some dozens of chunks, and what there was of it earlier. */
public final class SmallChunks {
  private static final int RECORDS = 1_000;

  private SmallChunks() {}

  /**
   * Records 300 rounds of w200 on the core {@code IMAGE-0}.
   *
   * @param image of the zoo
   */
  public static Path record(Path file, String image) throws Exception {
    LinuxOptions w200 = LinuxOptions.of("zoo").withArguments(List.of("zoo", "w200", "300"));
    CoreSpec core =
        new CoreSpec(
            image + "-0",
            LoadedImage.load(GuestImages.resolve(image)),
            CoreOptions.of(w200).withRecordsPerChunk(RECORDS));
    FleetOptions options = FleetOptions.standard().withCodec(Codecs.byId("records"));
    try (FileChunkSink sink = FileChunkSink.open(file)) {
      Fleet.run(List.of(core), options, sink, FleetListener.NONE);
    }
    return file;
  }

  /** So many thirds of a trace, or a little less: whole blocks are read. */
  public static Path thirds(Path whole, int thirds, Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(whole);
    return Files.write(file, Arrays.copyOf(bytes, bytes.length / 3 * thirds));
  }
}
