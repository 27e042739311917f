package dev.retstack.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A sink that keeps what it is given. */
public class MemorySink implements ChunkSink {
  /** By build-id. */
  public final Map<String, Image> images = new ConcurrentHashMap<>();

  /** By core, in the order in which they came. */
  public final Map<String, List<Chunk>> chunks = new ConcurrentHashMap<>();

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

  /** Checks that chunks are a whole stream; returns its records. */
  public static RecordBatch stream(List<Chunk> chunks) throws Exception {
    RecordBatch all = new RecordBatch(chunks.stream().mapToInt(Chunk::getRecordCount).sum());
    for (int i = 0; i < chunks.size(); i++) {
      Chunk chunk = chunks.get(i);
      assertThat(chunk.getSequence()).isEqualTo(i);
      assertThat(chunk.getRecordsBefore()).isEqualTo(all.size());
      assertThat(chunk.getEnd() != CoreEnd.RUNNING).isEqualTo(i == chunks.size() - 1);
      RecordBatch batch = Chunks.decode(chunk);
      all.addAll(batch, 0, batch.size());
    }
    for (int i = 1; i < all.size(); i++) {
      if (all.time[i] < all.time[i - 1]) {
        throw new AssertionError("time falls at record " + i);
      }
    }
    return all;
  }
}
