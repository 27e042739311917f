package dev.retstack.schema.record;

import dev.retstack.schema.codec.ChunkCodec;
import java.util.Arrays;
import java.util.List;

/**
 * Hijack records of one core as primitive columns, in the order in which they happened. It is the
 * ring that a probe fills, the input of a {@link ChunkCodec}, and the input of the reconstruction.
 * The fields mean what {@code TraceRecord.avsc} says; addresses are unsigned.
 *
 * <p>The columns are public on purpose: every stage of the path touches each record once, in its
 * innermost loop. Not safe for use by several threads at once.
 */
public final class RecordBatch {
  /** A counting function was called and the return address hijacked. */
  public static final byte ENTRY = 0;

  /** A hijacked return reached {@code return_to_handler}. */
  public static final byte EXIT = 1;

  /** Records were dropped here; {@code selfPc} holds how many. All other fields but time are 0. */
  public static final byte LOST = 2;

  /**
   * A function was called and its return not hijacked: {@code selfPc}, {@code fromPc} and time; all
   * other fields are 0, but for {@code depth} where ret_stack was full: its limit.
   */
  public static final byte FUNCTION = 4;

  /**
   * Up to four values of the record ahead (ENTRY: arguments; EXIT: what it returned; SYS_ENTER: the
   * call's arguments), raw from registers, in {@code selfPc, fromPc, retP, fp}; what is not used is
   * 0. {@code depth} says which and how many they are ({@link ValuesDepth}), the time is that of
   * the record ahead.
   */
  public static final byte VALUES = 5;

  /**
   * A system call begins: {@code selfPc} its number, {@code fromPc} where it was made, {@code
   * depth} the size of ret_stack. VALUES with its arguments follow.
   */
  public static final byte SYS_ENTER = 6;

  /** A system call ends: {@code selfPc} its number, {@code fromPc} the result, {@code depth}. */
  public static final byte SYS_EXIT = 7;

  /**
   * The tracing itself changed: {@code fromPc} says what happened, {@code selfPc} in which function
   * (0: in none), {@code retP} by which command.
   */
  public static final byte MARK = 8;

  /**
   * From here on records are of another task: {@code selfPc} its id, {@code fromPc} why ({@link
   * TaskEvent}), {@code retP} the stack pointer, {@code depth} the size of its ret_stack.
   */
  public static final byte TASK = 9;

  /**
   * An interrupt begins, on a separate ret_stack: {@code selfPc} its number, {@code fromPc} where
   * the task was, {@code retP} the stack pointer, {@code depth} the size of the ret_stack left.
   */
  public static final byte INTERRUPT_ENTER = 10;

  /**
   * An interrupt ends: {@code selfPc} its number, {@code fromPc} where the core continues, {@code
   * depth} the frames that were still on its ret_stack.
   */
  public static final byte INTERRUPT_EXIT = 11;

  /**
   * A function returned to an address that had overwritten its own: {@code selfPc} the function,
   * {@code fromPc} where it went, {@code retP} the slot, {@code fp} the return address noted at
   * entry, {@code depth} the index of its frame.
   */
  public static final byte SMASHED = 12;

  /**
   * Code of another image stands here from now on: {@code depth} its index in {@link #images},
   * {@code selfPc} the first address, {@code fromPc} the bytes, {@code retP} the address that the
   * first byte has in the image, {@code fp} the protection: 1 read, 2 write, 4 execute.
   */
  public static final byte MAP = 13;

  /** No image stands here any more: {@code selfPc} the first address, {@code fromPc} the bytes. */
  public static final byte UNMAP = 14;

  /**
   * The program calls a task so from here on: {@code selfPc} its id, {@code fromPc} and {@code
   * retP} the name ({@link TaskName}). It may come before the task does.
   */
  public static final byte TASK_NAME = 15;

  /** A kind is below this. Kinds are numbered as in {@code TraceRecord.avsc}. */
  public static final int KINDS = 16;

  /** Up to this many records are copied faster one by one than column by column. */
  private static final int FEW = 8;

  /** The number of UNKNOWN there, which no batch holds. */
  private static final int UNKNOWN = 3;

  /** Bits of a linked entry that hold the number of its call site; its function's lie above. */
  public static final int LINK_SITE_BITS = 12;

  /** In {@link #links()}: nothing is known. */
  public static final int UNLINKED = -1;

  public final byte[] kind;
  public final long[] time;
  public final int[] depth;
  public final long[] selfPc;
  public final long[] fromPc;
  public final long[] retP;
  public final long[] fp;
  private int[] links;
  private boolean linked;
  private int size;
  private Keyframe keyframe;
  private List<String> images = List.of();

  /** An empty batch that holds up to {@code capacity} records. */
  public RecordBatch(int capacity) {
    kind = new byte[capacity];
    time = new long[capacity];
    depth = new int[capacity];
    selfPc = new long[capacity];
    fromPc = new long[capacity];
    retP = new long[capacity];
    fp = new long[capacity];
  }

  /** Whether there is a record kind of this number. */
  public static boolean isKind(long number) {
    return number >= 0 && number < KINDS && number != UNKNOWN;
  }

  /** Whether records of this kind describe the ret_stack: ENTRY, EXIT and LOST. */
  public static boolean isOfGraph(int kind) {
    return kind <= LOST;
  }

  /** Whether another ret_stack counts from a record of this kind on. */
  public static boolean isOfContexts(int kind) {
    return kind >= TASK && kind <= INTERRUPT_EXIT;
  }

  /** Whether all records here describe the ret_stack. */
  public boolean isOfGraph() {
    int bits = 0;
    for (int i = 0; i < size; i++) {
      bits |= kind[i];
    }
    return bits <= UNKNOWN;
  }

  public int size() {
    return size;
  }

  public int capacity() {
    return kind.length;
  }

  public boolean isFull() {
    return size == kind.length;
  }

  /** Forgets the records, the keyframe and the images; the capacity stays. */
  public void clear() {
    size = 0;
    linked = false;
    keyframe = null;
    images = List.of();
  }

  /** What is open where the batch begins; null where it does not say. */
  public Keyframe keyframe() {
    return keyframe;
  }

  /** Says what is open where the batch begins; null where that is not known. */
  public void setKeyframe(Keyframe open) {
    keyframe = open;
  }

  /** Build-ids of the images that MAP records name by their index, the keyframe's included. */
  public List<String> images() {
    return images;
  }

  /** Says which images MAP records name. */
  public void setImages(List<String> buildIds) {
    images = buildIds;
  }

  /** Whether a record of this kind changes which image stands where. */
  public static boolean isOfMaps(int kind) {
    return kind == MAP || kind == UNMAP;
  }

  /**
   * Links between the records, by record; valid only where {@link #isLinked} says so.
   *
   * <ul>
   *   <li>An entry right above the frame that the record before left on top of the ret_stack:
   *       {@code function << LINK_SITE_BITS | site}, two numbers from 1 on. In one batch equal
   *       numbers are equal addresses, and the other way round.
   *   <li>An exit of the frame that is on top, opened in this batch with no LOST since, which
   *       agrees with its entry in every field but time: the index of that entry.
   *   <li>Any other record: {@link #UNLINKED}.
   * </ul>
   *
   * A decoder of a predictive codec knows the links; {@link RecordLinks} computes them.
   */
  public int[] links() {
    if (links == null) {
      links = new int[kind.length];
    }
    return links;
  }

  /** Whether {@link #links()} describes the records that are here now. */
  public boolean isLinked() {
    return linked;
  }

  /** Says that {@link #links()} is filled in. */
  public void setLinked() {
    linked = true;
  }

  /**
   * Appends records of another batch. The caller has made sure that there is room.
   *
   * @param first index of the first of them
   * @param end index behind the last
   */
  public void addAll(RecordBatch from, int first, int end) {
    int count = end - first;
    if (count <= FEW) {
      for (int i = first; i < end; i++) {
        add(
            from.kind[i],
            from.time[i],
            from.depth[i],
            from.selfPc[i],
            from.fromPc[i],
            from.retP[i],
            from.fp[i]);
      }
      return;
    }
    System.arraycopy(from.kind, first, kind, size, count);
    System.arraycopy(from.time, first, time, size, count);
    System.arraycopy(from.depth, first, depth, size, count);
    System.arraycopy(from.selfPc, first, selfPc, size, count);
    System.arraycopy(from.fromPc, first, fromPc, size, count);
    System.arraycopy(from.retP, first, retP, size, count);
    System.arraycopy(from.fp, first, fp, size, count);
    size += count;
    linked = false;
  }

  /** Says how many records the columns hold, by who filled them in; at most the capacity. */
  public void setSize(int records) {
    if (records < 0 || records > kind.length) {
      throw new IllegalArgumentException(
          records + " records in a batch of " + kind.length + ": at most its capacity");
    }
    size = records;
    linked = false;
  }

  /** Appends one record. The caller has checked {@link #isFull()}. */
  public void add(
      byte recordKind, long at, int frame, long self, long from, long slot, long framePointer) {
    int i = size;
    kind[i] = recordKind;
    time[i] = at;
    depth[i] = frame;
    selfPc[i] = self;
    fromPc[i] = from;
    retP[i] = slot;
    fp[i] = framePointer;
    size = i + 1;
    linked = false;
  }

  /** Equal records in equal order; capacities and keyframes may differ. */
  @Override
  public boolean equals(Object other) {
    return other instanceof RecordBatch that
        && size == that.size
        && Arrays.equals(kind, 0, size, that.kind, 0, size)
        && Arrays.equals(time, 0, size, that.time, 0, size)
        && Arrays.equals(depth, 0, size, that.depth, 0, size)
        && Arrays.equals(selfPc, 0, size, that.selfPc, 0, size)
        && Arrays.equals(fromPc, 0, size, that.fromPc, 0, size)
        && Arrays.equals(retP, 0, size, that.retP, 0, size)
        && Arrays.equals(fp, 0, size, that.fp, 0, size);
  }

  @Override
  public int hashCode() {
    int hash = size;
    for (int i = 0; i < size; i++) {
      hash = 31 * hash + Long.hashCode(time[i] * 31 + selfPc[i]);
    }
    return hash;
  }

  @Override
  public String toString() {
    return "RecordBatch[" + size + " of " + kind.length + "]";
  }
}
