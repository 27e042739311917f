package dev.retstack.fleet.publish;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import java.io.IOException;
import java.time.Duration;

/**
 * Where images and chunks go. Safe for use by several threads; the chunks of one core come in
 * sequence. A call that waits is backpressure: the core stands still meanwhile.
 */
public interface ChunkSink extends AutoCloseable {
  /** Takes an image; comes before the first chunk that names it. */
  void image(Image image) throws IOException, InterruptedException;

  /**
   * Takes a chunk. When this or a later call for the same core throws, the core's stream is broken
   * and no further chunk of it may be sent.
   */
  void chunk(Chunk chunk) throws IOException, InterruptedException;

  /** How much cores had to wait for this sink so far. */
  default SinkWaits waits() {
    return SinkWaits.NONE;
  }

  /** For how long it has not answered, although something is on its way; zero where it does. */
  default Duration silence() {
    return Duration.ZERO;
  }

  /** Where it sends to, in words; empty where that is this process. */
  default String address() {
    return "";
  }

  /**
   * Waits until everything taken is kept safe, then lets go of it.
   *
   * @throws IOException where something taken was not kept: which cores', and why
   */
  @Override
  void close() throws IOException;
}
