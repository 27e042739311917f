package dev.retstack.graph.limits;

/**
 * How much is held behind gaps, so that late chunks still count in their place. Beyond the limit
 * the oldest gap is final: it is a loss, even if its chunk comes later.
 *
 * @param chunksPerCore chunks of one core held at a time; 0: every gap is final at once
 * @param bytesPerCore of them, packed
 * @param chunks chunks of all cores of the state that may come while one gap is open
 * @param bytes held of all cores of the state, packed
 */
public record LateLimits(int chunksPerCore, long bytesPerCore, long chunks, long bytes) {
  /** What a held chunk costs beside its packed records. */
  public static final int CHUNK_BYTES = 330;

  /** A gap is a loss at once. */
  public static final LateLimits NONE = new LateLimits(0, 0, 0, 0);

  /** Chunks of one core that come out of order by a few seconds. */
  public static final LateLimits DEFAULT = new LateLimits(64, 8 << 20, 16_384, 32 << 20);

  /** The same with another number of chunks of one core. */
  public LateLimits withChunksPerCore(int most) {
    return new LateLimits(most, bytesPerCore, chunks, bytes);
  }

  /** The same with another number of bytes of all cores; one core has a quarter of them. */
  public LateLimits withBytes(long most) {
    return new LateLimits(chunksPerCore, most / 4, chunks, most);
  }
}
