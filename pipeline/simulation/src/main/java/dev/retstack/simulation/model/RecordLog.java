package dev.retstack.simulation.model;

import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * The records of a core in columns: kind, time, depth, selfpc, frompc, retp, fp. Three more say
 * where the core was before the record: task, open interrupts, frames in the ret_stack.
 */
public final class RecordLog {
  public static final int TASK = 7;
  public static final int INTERRUPTS = 8;
  public static final int FRAMES = 9;

  final List<long[]> records = new ArrayList<>();

  /** Entries refused because ret_stack was full. */
  long overruns;

  /** Where the core is: the task, interrupts open in it, frames in the ret_stack. */
  long task;

  int interrupts;
  int frames;

  /** What was open ahead of a record, of some of them. */
  private final IdentityHashMap<long[], Keyframe> keyframes = new IdentityHashMap<>();

  /** What is open ahead of the next record; null where nobody noted it. */
  private Keyframe open;

  void add(int kind, long time, int depth, long self, long from, long retP, long fp) {
    long[] record = {kind, time, depth, self, from, retP, fp, task, interrupts, frames};
    records.add(record);
    if (open != null) {
      keyframes.put(record, open);
      open = null;
    }
  }

  /** This is open ahead of the next record. */
  void open(Keyframe now) {
    open = now;
  }

  /** What was open ahead of a record; null where it is not known. */
  Keyframe keyframe(long[] record) {
    return keyframes.get(record);
  }

  /** Records were lost here, and a TASK record says where the core is if it is elsewhere by now. */
  public static void lost(List<long[]> kept, List<long[]> records, int from, int to) {
    long time = records.get(to - 1)[1];
    long[] before = records.get(from);
    long count = (long) to - from;
    kept.add(
        new long[] {
          RecordBatch.LOST, time, 0, count, 0, 0, 0, before[TASK], before[INTERRUPTS], 0
        });
    if (to < records.size()) {
      long[] now = records.get(to);
      if (now[TASK] != before[TASK] || now[INTERRUPTS] != before[INTERRUPTS]) {
        kept.add(
            new long[] {
              RecordBatch.TASK,
              time,
              now[FRAMES],
              now[TASK],
              TaskEvent.SWITCHED.code(),
              0,
              0,
              now[TASK],
              now[INTERRUPTS],
              now[FRAMES]
            });
      }
    }
  }
}
