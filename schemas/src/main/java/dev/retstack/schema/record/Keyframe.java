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
 *   MAP              for each mapping in force, by address            0
 *   TASK_NAME        for each task that the program named, by id      0
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
 *       given up by a longjmp or an exception, or gave way to a function that has returned. The
 *       next record of the stack shows which.
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

  /** Mappings at most. */
  public static final int MAPS_MOST = 4096;

  /** Records at most. */
  public static final int RECORDS_MOST = FRAMES_IN_ALL + 2 * STACKS_MOST + MAPS_MOST;

  private static final RecordBatch NONE = new RecordBatch(0);

  private final RecordBatch maps;
  private final RecordBatch names;
  private final RecordBatch records;

  private Keyframe(RecordBatch maps, RecordBatch names, RecordBatch records) {
    this.maps = maps;
    this.names = names;
    this.records = records;
  }

  /** MAP records of the mappings in force, by address; not to be changed. */
  public RecordBatch maps() {
    return maps;
  }

  /** TASK_NAME records of the tasks that have a name, by id; not to be changed. */
  public RecordBatch names() {
    return names;
  }

  /** The records of the stacks; not to be changed. */
  public RecordBatch records() {
    return records;
  }

  /** The records as a chunk holds them: without the head where that says nothing new. */
  public RecordBatch written() {
    RecordBatch written = new RecordBatch(maps.size() + names.size() + records.size());
    written.addAll(maps, 0, maps.size());
    written.addAll(names, 0, names.size());
    int ahead = written.size();
    boolean isOneStack =
        records.size() > 0 && records.kind[0] == RecordBatch.TASK && end(0) == records.size();
    if (isOneStack) {
      written.addAll(records, 1, records.size());
      if (read(written).records.equals(records)) {
        return written;
      }
      written.setSize(ahead);
    }
    written.addAll(records, 0, records.size());
    return written;
  }

  /**
   * The keyframe of the records that a chunk holds, with the head that {@link #written} may have
   * left out. {@link #fault} says whether it is one.
   */
  public static Keyframe read(RecordBatch written) {
    int size = written.size();
    RecordBatch maps = run(written, 0, RecordBatch.MAP);
    RecordBatch names = run(written, maps.size(), RecordBatch.TASK_NAME);
    int first = maps.size() + names.size();
    boolean hasHead = first < size && written.kind[first] != RecordBatch.ENTRY;
    if (hasHead && first == 0) {
      return new Keyframe(maps, names, written);
    }
    RecordBatch records = new RecordBatch(size - first + 1);
    if (!hasHead) {
      int open = first == size ? 0 : written.depth[size - 1] + 1;
      records.add(RecordBatch.TASK, 0, open, 0, TaskEvent.SWITCHED.code(), open, 0);
    }
    records.addAll(written, first, size);
    return new Keyframe(maps, names, records);
  }

  /** The records of one kind from a place on. */
  private static RecordBatch run(RecordBatch written, int first, byte kind) {
    int end = first;
    while (end < written.size() && written.kind[end] == kind) {
      end++;
    }
    if (end == first) {
      return NONE;
    }
    RecordBatch run = new RecordBatch(end - first);
    run.addAll(written, first, end);
    return run;
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

  /** A keyframe of these stacks alone, which {@link #fault} has nothing to say about. */
  public static Keyframe of(RecordBatch stacks) {
    return new Keyframe(NONE, NONE, stacks);
  }

  /** This keyframe with these mappings, which {@link #fault} accepts. */
  public Keyframe withMaps(RecordBatch inForce) {
    return new Keyframe(inForce, names, records);
  }

  /** This keyframe with these names of tasks, which {@link #fault} accepts. */
  public Keyframe withNames(RecordBatch ofTasks) {
    return new Keyframe(maps, ofTasks, records);
  }

  /** This keyframe with these stacks, which {@link #fault} accepts. */
  public Keyframe withStacks(RecordBatch stacks) {
    return new Keyframe(maps, names, stacks);
  }

  /**
   * Finds what is wrong with a keyframe of unknown origin.
   *
   * @param images number of images that the batch names
   * @param firstTime the first record of the batch is no earlier
   * @param task in which the batch begins
   * @param interrupts of the task that are open there
   * @param depthMax depths are below this
   * @return one sentence; empty = nothing
   */
  public String fault(int images, long firstTime, long task, int interrupts, int depthMax) {
    String fault = mapsFault(images);
    fault = fault.isEmpty() ? namesFault() : fault;
    if (!fault.isEmpty()) {
      return fault;
    }
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

  private String mapsFault(int images) {
    if (maps.size() > MAPS_MOST) {
      return "%,d mappings: at most %,d".formatted(maps.size(), MAPS_MOST);
    }
    for (int i = 0; i < maps.size(); i++) {
      String fault = mapFault(maps, i, images);
      if (fault.isEmpty() && maps.time[i] != 0) {
        fault = "a mapping in force has time " + maps.time[i];
      } else if (fault.isEmpty() && i > 0) {
        long end = maps.selfPc[i - 1] + maps.fromPc[i - 1];
        boolean isBehind = end != 0 && Long.compareUnsigned(maps.selfPc[i], end) >= 0;
        fault = isBehind ? "" : "mapping %d overlaps the one before".formatted(i);
      }
      if (!fault.isEmpty()) {
        return fault;
      }
    }
    return "";
  }

  private String namesFault() {
    if (names.size() > STACKS_MOST) {
      return "%,d names of tasks: at most %,d".formatted(names.size(), STACKS_MOST);
    }
    for (int i = 0; i < names.size(); i++) {
      if (names.time[i] != 0) {
        return "the name of a task has time " + names.time[i];
      }
      if (i > 0 && Long.compareUnsigned(names.selfPc[i - 1], names.selfPc[i]) >= 0) {
        return "the name of task %x comes behind that of task %x"
            .formatted(names.selfPc[i], names.selfPc[i - 1]);
      }
    }
    return "";
  }

  /**
   * Finds what is wrong with a MAP or UNMAP record.
   *
   * @param images number of images that its batch names
   * @return one sentence; empty = nothing
   */
  public static String mapFault(RecordBatch batch, int i, int images) {
    long start = batch.selfPc[i];
    long bytes = batch.fromPc[i];
    if (bytes <= 0 || Long.compareUnsigned(start + bytes - 1, start) < 0) {
      return "record %d maps %d bytes at %x".formatted(i, bytes, start);
    }
    if (batch.kind[i] == RecordBatch.MAP && batch.depth[i] >= images) {
      return "record %d maps image %d of %d".formatted(i, batch.depth[i], images);
    }
    return "";
  }

  /** Collects the stacks of a core, those of the task in which the batch begins last. */
  public static final class Builder {
    private RecordBatch records = new RecordBatch(16);
    private RecordBatch maps = NONE;
    private RecordBatch names = NONE;
    private int stacks;

    /** Frames that are still allowed, in all. */
    private int left = FRAMES_IN_ALL;

    /** Leaves room for the frames of the task in which the batch begins, which come last. */
    private int kept = FRAMES_MOST;

    /** These mappings are in force: MAP records, by address. */
    public void maps(RecordBatch inForce) {
      maps = inForce;
    }

    /** These tasks have names: TASK_NAME records, by id. */
    public void names(RecordBatch ofTasks) {
      names = ofTasks;
    }

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

    /** How many of a stack's {@code frames} frames fit; they are the topmost. */
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
      return stacks > STACKS_MOST ? null : new Keyframe(maps, names, records);
    }
  }
}
