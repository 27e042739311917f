package dev.retstack.fleet.plan;

import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.ChunkCodec;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.time.Duration;
import java.util.UUID;

/**
 * How a fleet runs its cores.
 *
 * @param session name of this start of the fleet; fresh for each
 * @param threads how many cores run at a time
 * @param sliceInstructions instructions after which a core gives way to the next, at most: see
 *     {@link #sliceOf}
 * @param flushInterval a batch that is not full is sent after this time of the host; zero: only
 *     when it is full, so that chunks are the same in each run
 * @param codec of the chunks
 * @param payloadBytesMax a batch whose payload is longer is sent in parts
 * @param progressInterval how often the listener hears of progress
 */
@RecordBuilder
public record FleetOptions(
    String session,
    int threads,
    long sliceInstructions,
    Duration flushInterval,
    ChunkCodec codec,
    int payloadBytesMax,
    Duration progressInterval)
    implements FleetOptionsBuilder.With {

  /** Leaves room for the envelope in Kafka's default of 1 MiB per message. */
  public static final int PAYLOAD_BYTES_MAX = 900 << 10;

  /** About 20 ms of a core. */
  public static final long SLICE_INSTRUCTIONS = 1_000_000;

  /** Up to this number of cores, each takes whole slices. */
  private static final int UNSHARED_CORES = 16;

  /** A slice is not cut to less: to begin one costs as much as some thousand instructions. */
  private static final long SLICE_LEAST = 100_000;

  public FleetOptions {
    if (threads < 1 || sliceInstructions < 1 || payloadBytesMax < 1) {
      throw new IllegalArgumentException(
          "threads %d, slice %d, payload bytes %d: each at least 1"
              .formatted(threads, sliceInstructions, payloadBytesMax));
    }
    if (flushInterval.isNegative() || !progressInterval.isPositive()) {
      throw new IllegalArgumentException(
          "flush interval %s, progress interval %s: not negative, and more than zero"
              .formatted(flushInterval, progressInterval));
    }
  }

  /** A fresh session with a thread per processor. */
  public static FleetOptions standard() {
    return new FleetOptions(
        UUID.randomUUID().toString(),
        Runtime.getRuntime().availableProcessors(),
        SLICE_INSTRUCTIONS,
        Duration.ZERO,
        Codecs.standard(),
        PAYLOAD_BYTES_MAX,
        Duration.ofMillis(500));
  }

  /**
   * Instructions after which a core gives way, if this number of cores take turns. More cores have
   * shorter slices, so that a round of all of them, and the answer to a command, takes no longer.
   */
  public long sliceOf(int cores) {
    long shared = sliceInstructions / Math.max(UNSHARED_CORES, cores) * UNSHARED_CORES;
    return Math.max(shared, Math.min(sliceInstructions, SLICE_LEAST));
  }
}
