package dev.retstack.schema.record;

/**
 * The calls of a core that are open where a batch begins, as the probe's own ret_stacks have them.
 * A reader that begins there knows them by it. One that comes from before proves its own by it.
 *
 * <p>It is written in records: for each stack a head and the frames, the outermost first. The
 * stacks of a task follow each other: its own, then those of its open interrupts, the outermost
 * first. The task in which the batch begins is the last one.
 *
 * <pre>
 *   record           selfPc   fromPc           retP    fp     depth   time
 *   TASK             its id   SWITCHED         open    0      shown   0
 *   INTERRUPT_ENTER  number   where it came    open    0      shown   when it was entered
 *   ENTRY            as the entry's record was, its time included
 * </pre>
 *
 * <ul>
 *   <li>{@code open}: frames in the stack. Frames without an entry record are not among them; they
 *       are always the topmost ones.
 *   <li>ENTRY records are those of the topmost frames, at most {@link #FRAMES_MOST}; so the others,
 *       the lowest ones, are left out.
 *   <li>{@code shown}: frames that are open by the records, at least {@code open}. What is more was
 *       given up by a longjmp or an exception, and the next record of the stack will tell.
 *   <li>Most cores have one stack, that of task 0. Where nothing of it was given up, and the last
 *       frame is among the records, a chunk leaves out the head: {@link #written}.
 * </ul>
 */
public final class Keyframe {
  /** Frames of a stack at most. */
  public static final int FRAMES_MOST = 1024;

  /** Frames of all stacks at most. */
  public static final int FRAMES_IN_ALL = 16_384;

  /** Stacks at most. */
  public static final int STACKS_MOST = 2048;

  /** Records at most. */
  public static final int RECORDS_MOST = FRAMES_IN_ALL + STACKS_MOST;

  private final RecordBatch records;

  private Keyframe(RecordBatch records) {
    this.records = records;
  }

  /** The records; not to be changed. */
  public RecordBatch records() {
    return records;
  }

  /** The records as a chunk holds them: without the head where that says nothing new. */
  public RecordBatch written() {
    if (records.size() == 0 || records.kind[0] != RecordBatch.TASK || end(0) < records.size()) {
      return records;
    }
    RecordBatch frames = new RecordBatch(records.size() - 1);
    frames.addAll(records, 1, records.size());
    return read(frames).equals(records) ? frames : records;
  }

  /** The records of a keyframe, with the head that {@link #written} may have left out. */
  public static RecordBatch read(RecordBatch written) {
    int size = written.size();
    if (size > 0 && written.kind[0] != RecordBatch.ENTRY) {
      return written;
    }
    int open = size == 0 ? 0 : written.depth[size - 1] + 1;
    RecordBatch records = new RecordBatch(size + 1);
    records.add(RecordBatch.TASK, 0, open, 0, TaskEvent.SWITCHED.code(), open, 0);
    records.addAll(written, 0, size);
    return records;
  }

  /** Whether there is a stack with this head. */
  public boolean isHead(int record) {
    return records.kind[record] != RecordBatch.ENTRY;
  }

  /** Frames that are open on the stack of this head. */
  public int open(int head) {
    return (int) records.retP[head];
  }

  /** Frames that are open there by the records. */
  public int shown(int head) {
    return records.depth[head];
  }

  /** Index of the record behind the last frame of the stack of this head. */
  public int end(int head) {
    int end = head + 1;
    while (end < records.size() && !isHead(end)) {
      end++;
    }
    return end;
  }

  /** Frames of the stack of this head that are left out: the lowest. */
  public int leftOut(int head) {
    return open(head) - (end(head) - head - 1);
  }

  /** A keyframe of these records, which {@link #fault} has nothing to say about. */
  public static Keyframe of(RecordBatch records) {
    return new Keyframe(records);
  }

  /**
   * What is wrong with records that claim to be a keyframe.
   *
   * @param firstTime the first record of the batch is no earlier
   * @param task in which the batch begins
   * @param interrupts of the task that are open there
   * @param depthMax depths are below this
   * @return one sentence; empty = nothing
   */
  public static String fault(
      RecordBatch records, long firstTime, long task, int interrupts, int depthMax) {
    if (records.size() == 0 || records.kind[0] != RecordBatch.TASK) {
      return "it does not begin with a task";
    }
    int stacks = 0;
    int frames = 0;
    long last = 0;
    int nested = 0;
    int head = 0;
    for (int i = 0; i < records.size(); i++) {
      if (records.time[i] < 0 || records.time[i] > firstTime) {
        return "record %d has time %d, outside 0 to %d".formatted(i, records.time[i], firstTime);
      }
      switch (records.kind[i]) {
        case RecordBatch.TASK, RecordBatch.INTERRUPT_ENTER -> {
          boolean isTask = records.kind[i] == RecordBatch.TASK;
          nested = isTask ? 0 : nested + 1;
          last = isTask ? records.selfPc[i] : last;
          head = i;
          stacks++;
          boolean inOrder =
              records.retP[i] >= 0
                  && records.retP[i] <= records.depth[i]
                  && records.depth[i] <= depthMax;
          if (!inOrder) {
            return "stack %d has %d frames of %d".formatted(i, records.retP[i], records.depth[i]);
          }
        }
        case RecordBatch.ENTRY -> {
          frames++;
          int count = i - head;
          boolean isNext = count == 1 || records.depth[i] == records.depth[i - 1] + 1;
          boolean isLast = i + 1 == records.size() || records.kind[i + 1] != RecordBatch.ENTRY;
          if (!isNext || (isLast && records.depth[i] != records.retP[head] - 1)) {
            return "frame %d has depth %d".formatted(i, records.depth[i]);
          }
          if (count > FRAMES_MOST) {
            return "a stack has more than %,d frames".formatted(FRAMES_MOST);
          }
          if (count > 1 && records.time[i] < records.time[i - 1]) {
            return "frame %d was entered before its caller".formatted(i);
          }
        }
        default -> {
          return "record %d is of kind %d".formatted(i, records.kind[i]);
        }
      }
    }
    if (stacks > STACKS_MOST || frames > FRAMES_IN_ALL) {
      return "%,d frames in %,d stacks: at most %,d in %,d"
          .formatted(frames, stacks, FRAMES_IN_ALL, STACKS_MOST);
    }
    if (last != task || nested != interrupts) {
      return "it ends in task %d and %d interrupts, the chunk begins in task %d and %d"
          .formatted(last, nested, task, interrupts);
    }
    return "";
  }

  /** Collects the stacks of a core, those of the task in which the batch begins last. */
  public static final class Builder {
    private RecordBatch records = new RecordBatch(16);
    private int stacks;

    /** Frames that are still allowed, in all. */
    private int left = FRAMES_IN_ALL;

    /** Leaves room for the frames of the task in which the batch begins, which come last. */
    private int kept = FRAMES_MOST;

    /** The stack of a task follows. */
    public void task(long id, int shown, int open) {
      add(RecordBatch.TASK, 0, shown, id, TaskEvent.SWITCHED.code(), open, 0);
      stacks++;
    }

    /** The stack of an interrupt follows. */
    public void interrupt(long number, long pc, long time, int shown, int open) {
      add(RecordBatch.INTERRUPT_ENTER, time, shown, number, pc, open, 0);
      stacks++;
    }

    /** The stacks that follow are those of the task in which the batch begins. */
    public void last() {
      kept = 0;
    }

    /** How many of so many frames of a stack are to be added: the topmost. */
    public int room(int frames) {
      return Math.max(0, Math.min(Math.min(frames, FRAMES_MOST), left - kept));
    }

    /** A frame, by what its entry's record said. */
    public void frame(int depth, long time, long selfPc, long fromPc, long retP, long fp) {
      add(RecordBatch.ENTRY, time, depth, selfPc, fromPc, retP, fp);
      left--;
    }

    private void add(
        byte kind, long time, int depth, long selfPc, long fromPc, long retP, long fp) {
      if (records.isFull()) {
        RecordBatch more = new RecordBatch(2 * records.size());
        more.addAll(records, 0, records.size());
        records = more;
      }
      records.add(kind, time, depth, selfPc, fromPc, retP, fp);
    }

    /** The keyframe; null where there are more stacks than it may have. */
    public Keyframe build() {
      return stacks > STACKS_MOST ? null : new Keyframe(records);
    }
  }
}
