package dev.retstack.fleet.publish;

import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;

/**
 * Where a stream of records is: in which task, and how many interrupts of that task are open. A
 * reader who begins in the middle cannot know.
 */
public final class TaskPlace {
  private final Long2IntOpenHashMap open = new Long2IntOpenHashMap();
  private long task;

  /** The task of the next record. */
  public long task() {
    return task;
  }

  /** Interrupts of that task that are open there. */
  public int interrupts() {
    return open.get(task);
  }

  /** Records go by. */
  public void pass(RecordBatch records) {
    for (int i = 0; i < records.size(); i++) {
      pass(records, i);
    }
  }

  /** One record goes by. */
  public void pass(RecordBatch records, int i) {
    if (RecordBatch.isOfContexts(records.kind[i])) {
      follow(records, i);
    }
  }

  private void follow(RecordBatch records, int i) {
    long id = records.selfPc[i];
    switch (records.kind[i]) {
      case RecordBatch.INTERRUPT_ENTER -> open.addTo(task, 1);
      case RecordBatch.INTERRUPT_EXIT -> open.put(task, Math.max(0, open.get(task) - 1));
      default -> {
        boolean isEnd = records.fromPc[i] == TaskEvent.ENDED.code();
        if (records.fromPc[i] != TaskEvent.SWITCHED.code()) {
          open.remove(id);
        }
        task = isEnd ? 0 : id;
      }
    }
  }
}
