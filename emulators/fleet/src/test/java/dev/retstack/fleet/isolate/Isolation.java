package dev.retstack.fleet.isolate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.FleetProgress;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.linux.LinuxOptions;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.codec.Chunks;
import dev.retstack.schema.codec.RecordBatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** What tests of isolated fleets need: a sink, a listener, signals, programs of the zoo. */
final class Isolation {
  private Isolation() {}

  /** Keeps what it is given, and may do something at a core's first chunk. */
  static class MemorySink implements ChunkSink {
    final Map<String, Image> images = new ConcurrentHashMap<>();
    final Map<String, List<Chunk>> chunks = new ConcurrentHashMap<>();

    @Override
    public void image(Image image) {
      assertThat(images.put(image.getBuildId(), image)).isNull();
    }

    @Override
    public void chunk(Chunk chunk) throws IOException, InterruptedException {
      chunks.computeIfAbsent(chunk.getCore(), _ -> new CopyOnWriteArrayList<>()).add(chunk);
    }

    @Override
    public void close() {}
  }

  static final class Told implements IsolateListener {
    final Map<String, Long> pids = new ConcurrentHashMap<>();
    final List<ProcessDeath> deaths = new CopyOnWriteArrayList<>();
    volatile FleetProgress progress;

    @Override
    public void processStarted(long pid, String image) {
      pids.put(image, pid);
    }

    @Override
    public void processDied(ProcessDeath death) {
      deaths.add(death);
    }

    @Override
    public void progress(FleetProgress now) {
      progress = now;
    }
  }

  static CoreOptions program(String... arguments) {
    List<String> argv = new ArrayList<>(List.of("zoo"));
    argv.addAll(List.of(arguments));
    return CoreOptions.of(LinuxOptions.of("zoo").withArguments(argv)).withRecordsPerChunk(1_000);
  }

  static LoadedImage zoo(int number) {
    return Zoo.images().get(number);
  }

  /** Checks that chunks are a whole stream; returns its records. */
  static RecordBatch stream(List<Chunk> chunks) throws Exception {
    RecordBatch all = new RecordBatch(chunks.stream().mapToInt(Chunk::getRecordCount).sum());
    for (int i = 0; i < chunks.size(); i++) {
      Chunk chunk = chunks.get(i);
      assertThat(chunk.getSequence()).isEqualTo(i);
      assertThat(chunk.getRecordsBefore()).isEqualTo(all.size());
      assertThat(chunk.getEnd() != CoreEnd.RUNNING).isEqualTo(i == chunks.size() - 1);
      RecordBatch batch = Chunks.decode(chunk);
      for (int r = 0; r < batch.size(); r++) {
        all.add(
            batch.kind[r],
            batch.time[r],
            batch.depth[r],
            batch.selfPc[r],
            batch.fromPc[r],
            batch.retP[r],
            batch.fp[r]);
      }
    }
    return all;
  }

  static void signal(String name, long pid) {
    try {
      assertThat(new ProcessBuilder("kill", "-" + name, String.valueOf(pid)).start().waitFor())
          .isZero();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
