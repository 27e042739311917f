package dev.retstack.graph.input;

import java.util.Objects;

/**
 * What a chunk says about its records; the meanings are those of {@code Chunk.avsc}.
 *
 * @param sequence number of this chunk of the core, from 0, without gaps
 * @param recordsBefore records in all earlier chunks of the core
 * @param lostBefore records dropped between the previous chunk and this one
 * @param overruns calls untraced because ret_stack was full
 * @param unhijackable calls untraced because their slot held no return address
 * @param abandoned calls forgotten that may return yet
 * @param firstTime time of the first record, else the core's clock
 * @param lastTime time of the last record; in the last chunk the core's clock when it ended
 * @param endDetail exit code or fault in words, in the last chunk
 * @param task at the first record
 * @param interrupts of that task that are open at the first record
 */
public record ChunkMeta(
    long sequence,
    long recordsBefore,
    long lostBefore,
    long overruns,
    long unhijackable,
    long abandoned,
    long firstTime,
    long lastTime,
    ClockUnit unit,
    CoreEnd end,
    String endDetail,
    long task,
    int interrupts) {
  private static final int MAX_DETAIL = 1000;

  /** Keeps no more of the detail than is shown: chunks may be held for long. */
  public ChunkMeta {
    Objects.requireNonNull(unit);
    Objects.requireNonNull(end);
    endDetail = endDetail.substring(0, Math.min(endDetail.length(), MAX_DETAIL));
  }

  /** A chunk that begins in the core's first task, in no interrupt. */
  public ChunkMeta(
      long sequence,
      long recordsBefore,
      long lostBefore,
      long overruns,
      long unhijackable,
      long firstTime,
      long lastTime,
      ClockUnit unit,
      CoreEnd end,
      String endDetail) {
    this(
        sequence,
        recordsBefore,
        lostBefore,
        overruns,
        unhijackable,
        0,
        firstTime,
        lastTime,
        unit,
        end,
        endDetail,
        0,
        0);
  }

  /** This chunk, where it begins in another task or at another depth of interrupts. */
  public ChunkMeta in(long where, int nested) {
    return new ChunkMeta(
        sequence,
        recordsBefore,
        lostBefore,
        overruns,
        unhijackable,
        abandoned,
        firstTime,
        lastTime,
        unit,
        end,
        endDetail,
        where,
        nested);
  }

  /** A chunk of a running core from which nothing was lost. */
  public static ChunkMeta running(
      long sequence, long recordsBefore, long firstTime, long lastTime, ClockUnit unit) {
    return new ChunkMeta(
        sequence, recordsBefore, 0, 0, 0, firstTime, lastTime, unit, CoreEnd.RUNNING, "");
  }

  /** This chunk as the last one of its core. */
  public ChunkMeta ending(CoreEnd reason, String detail, long clock) {
    return new ChunkMeta(
        sequence,
        recordsBefore,
        lostBefore,
        overruns,
        unhijackable,
        abandoned,
        firstTime,
        clock,
        unit,
        reason,
        detail,
        task,
        interrupts);
  }
}
