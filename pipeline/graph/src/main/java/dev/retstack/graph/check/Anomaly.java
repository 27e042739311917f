package dev.retstack.graph.check;

import it.unimi.dsi.fastutil.longs.LongImmutableList;
import it.unimi.dsi.fastutil.longs.LongList;

/**
 * A finding in raw numbers; names are found when it is shown. What {@code expected}, {@code
 * received} and {@code target} hold depends on the kind:
 *
 * <ul>
 *   <li>FRAME_POINTER_MISMATCH, RETURN_ADDRESS_MISMATCH: the value noted at entry, the value found
 *       at exit, the address returned to
 *   <li>MISSED_EXIT: selfPc returned unseen; {@code expected} the address it returns to, {@code
 *       received} the function whose record came instead, 0 where the interrupt ended that it was
 *       called in, {@code target} the slot that was hijacked
 *   <li>STACK_SMASHED: selfPc returned; {@code expected} the address noted at entry, {@code
 *       received} where it went, {@code target} its slot
 *   <li>MISPLACED_EXIT: selfPc exits; {@code expected} the function open there or 0, {@code
 *       received} selfPc, {@code target} the address returned to
 *   <li>KEYFRAME_MISMATCH: selfPc is the function that is open there by the records, 0 where none
 *       is; {@code expected} what the core has, {@code received} what the records say, {@code
 *       target} the depth; the variant says of what
 *   <li>FAULTED: selfPc is the innermost open call, {@code target} where the core stood, 0 = not
 *       known
 *   <li>SEQUENCE_GAP: the chunk number that should have come and the one that came
 * </ul>
 *
 * @param variant distinguishes two findings of one kind: see {@link AnomalyMessage}
 * @param selfPc function concerned, 0 = none
 * @param count frames, calls or records concerned
 * @param stack selfPc of the open calls at that moment, innermost first
 * @param task in which it was found; of findings about records, in which the core was
 * @param instance which of the tasks of that id, from 1
 */
public record Anomaly(
    AnomalyKind kind,
    Variant variant,
    long time,
    long selfPc,
    long expected,
    long received,
    long target,
    long count,
    LongList stack,
    long task,
    int instance) {

  /** Open calls kept in {@link #stack} at most. */
  public static final int MAX_STACK = 64;

  /** Which of the values differed. */
  public enum Variant {
    PLAIN,
    /** The slot was another one; of RETURN_ADDRESS_MISMATCH: not what it held. */
    SLOT,
    /** KEYFRAME_MISMATCH: where a function returns to differs. */
    FROM_PC,
    /** KEYFRAME_MISMATCH: the frame pointer at entry differs. */
    FP,
    /** KEYFRAME_MISMATCH: the time of entry differs. */
    TIME
  }

  private static final LongList NO_STACK = LongImmutableList.of();

  /** A finding in the core's first task. */
  public Anomaly(
      AnomalyKind kind,
      Variant variant,
      long time,
      long selfPc,
      long expected,
      long received,
      long target,
      long count,
      LongList stack) {
    this(kind, variant, time, selfPc, expected, received, target, count, stack, 0, 1);
  }

  /** A code address that distinguishes findings of one kind in one function; 0 = it has none. */
  public long place() {
    return place(kind, variant, expected, received, target);
  }

  /** The {@link #place()} of such an anomaly. */
  public static long place(
      AnomalyKind kind, Variant variant, long expected, long received, long target) {
    return switch (kind) {
      case FAULTED, FRAME_POINTER_MISMATCH, MISPLACED_EXIT -> target;
      case RETURN_ADDRESS_MISMATCH -> variant == Variant.SLOT ? target : expected;
      case MISSED_EXIT, STACK_SMASHED -> expected;
      case KEYFRAME_MISMATCH, OVERRUN, LOST, SEQUENCE_GAP, TRUNCATED, CUT_TRACE -> 0;
    };
  }

  /** Whether expected and received are addresses of code. */
  public boolean isOfCode() {
    return switch (kind) {
      case RETURN_ADDRESS_MISMATCH -> variant != Variant.SLOT;
      case MISSED_EXIT, STACK_SMASHED, MISPLACED_EXIT -> true;
      case KEYFRAME_MISMATCH -> variant == Variant.PLAIN || variant == Variant.FROM_PC;
      default -> false;
    };
  }

  /** This finding in another task. */
  public Anomaly in(long where, int which) {
    return new Anomaly(
        kind, variant, time, selfPc, expected, received, target, count, stack, where, which);
  }

  /** A finding about records rather than about a function. */
  public static Anomaly ofRecords(AnomalyKind kind, long time, long count) {
    return new Anomaly(kind, Variant.PLAIN, time, 0, 0, 0, 0, count, NO_STACK);
  }

  /** Chunks {@code expected} up to, without, {@code received} are missing. */
  public static Anomaly ofGap(long time, long expected, long received, long records) {
    return new Anomaly(
        AnomalyKind.SEQUENCE_GAP, Variant.PLAIN, time, 0, expected, received, 0, records, NO_STACK);
  }
}
