package dev.retstack.answers.http;

import java.util.Optional;

/**
 * The bytes of partitions that all questions of a member may hold at once, of this member's
 * partitions and of others, until they are answered. Safe for use by several threads.
 */
public final class HeapRoom {
  private final long most;
  private long taken;

  /**
   * Nothing is held so far.
   *
   * @param most bytes at once
   */
  public HeapRoom(long most) {
    this.most = most;
  }

  /** What one question holds: nothing so far. */
  public Share share() {
    return new Share();
  }

  /** Bytes that may be held at once. */
  public long most() {
    return most;
  }

  /** Bytes that are held now. */
  public synchronized long held() {
    return taken;
  }

  /** What one question holds. Closed when it is answered: then it gets no more. */
  public final class Share implements AutoCloseable {
    private long own;
    private int weight = 1;
    private boolean crowded;
    private boolean closed;

    private Share() {}

    /** Each byte of its parts counts so often: what is made of them takes room as well. */
    public void weigh(int times) {
      weight = times;
    }

    /**
     * Takes room for a part, or for more of it.
     *
     * @return why there is none; empty where it is taken
     */
    public Optional<String> take(int partition, long partBytes) {
      long bytes = weight * partBytes;
      synchronized (HeapRoom.this) {
        if (!closed && taken + bytes <= most) {
          taken += bytes;
          own += bytes;
          return Optional.empty();
        }
        crowded |= !closed && own + bytes <= most;
        return Optional.of(
            "partition %d takes %d bytes, and of %d that questions may hold at once at this member %d are held: %s"
                .formatted(
                    partition,
                    bytes,
                    most,
                    taken,
                    own + bytes <= most // it would fit alone
                        ? "ask again in a moment"
                        : "give it more heap, or use more partitions and members"));
      }
    }

    /** Gives room back. */
    public void giveBack(long partBytes) {
      synchronized (HeapRoom.this) {
        long back = Math.min(weight * partBytes, own);
        own -= back;
        taken -= back;
      }
    }

    /**
     * Returns where each part that was refused would have been refused to this question alone, too.
     *
     * @throws BadRequestException 429 where other questions took the room
     */
    public void requireAlone() {
      synchronized (HeapRoom.this) {
        if (crowded) {
          throw new BadRequestException(
              429,
              "other questions hold %d of the %d bytes that all may hold at once"
                  .formatted(taken - own, most),
              "ask again in a moment, or /top, which needs little");
        }
      }
    }

    @Override
    public void close() {
      synchronized (HeapRoom.this) {
        closed = true;
        taken -= own;
        own = 0;
      }
    }
  }
}
