package dev.retstack.fleet.publish;

import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.TaskName;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Keeps the latest records of a core and counts those that it had to drop: overwrite mode. What is
 * taken out begins with a LOST record where records are missing since the last time, with their
 * exact number.
 */
final class FlightRecorder {
  private final RecordBatch ring;

  /** Where the first record is that it holds. */
  private final TaskPlace place;

  private int first;
  private int size;
  private long lost;
  private long lostTime;

  /** Mappings that were dropped: the records behind them need them. */
  private RecordBatch maps = new RecordBatch(0);

  /** The last names that were dropped, of tasks whose end was not, by id. */
  private final SortedMap<Long, TaskName> names = new TreeMap<>();

  /**
   * An empty one.
   *
   * @param capacity records that it keeps, at least 1
   * @param place where its first record will be: records that are dropped are passed
   */
  FlightRecorder(int capacity, TaskPlace place) {
    this.place = place;
    ring = new RecordBatch(capacity);
    ring.setSize(capacity);
  }

  /** Records that it holds. */
  int size() {
    return size;
  }

  /** Records dropped since the last {@link #take}. */
  long lost() {
    return lost;
  }

  /** Takes records in; the oldest give way. */
  void add(RecordBatch records, int from, int end) {
    for (int i = from; i < end; i++) {
      add(records, i);
    }
  }

  private void add(RecordBatch records, int i) {
    if (records.kind[i] == RecordBatch.LOST) {
      drop(size); // what is older is of no use to a reader who cannot get across the loss
      lost += records.selfPc[i];
      lostTime = records.time[i];
      return;
    }
    if (size == ring.capacity()) {
      drop(1);
    }
    int at = index(size);
    ring.kind[at] = records.kind[i];
    ring.time[at] = records.time[i];
    ring.depth[at] = records.depth[i];
    ring.selfPc[at] = records.selfPc[i];
    ring.fromPc[at] = records.fromPc[i];
    ring.retP[at] = records.retP[i];
    ring.fp[at] = records.fp[i];
    size++;
  }

  private int index(int place) {
    long index = (long) first + place;
    return (int) (index < ring.capacity() ? index : index - ring.capacity());
  }

  private void drop(int count) {
    if (count > 0) {
      lostTime = ring.time[index(count - 1)];
      for (int i = 0; i < count; i++) {
        place.pass(ring, index(i));
        if (RecordBatch.isOfMaps(ring.kind[index(i)])) {
          keep(index(i));
        }
        followName(index(i));
      }
      first = index(count);
      size -= count;
      lost += count;
    }
  }

  private void keep(int index) {
    if (maps.isFull()) {
      RecordBatch more = new RecordBatch(2 * maps.size() + 1);
      more.addAll(maps, 0, maps.size());
      maps = more;
    }
    maps.addAll(ring, index, index + 1);
    lost--;
  }

  private void followName(int index) {
    long task = ring.selfPc[index];
    if (ring.kind[index] == RecordBatch.TASK_NAME) {
      lost -= names.put(task, TaskName.of(ring, index)) == null ? 1 : 0;
    } else if (ring.kind[index] == RecordBatch.TASK
        && ring.fromPc[index] == TaskEvent.ENDED.code()) {
      lost += names.remove(task) == null ? 0 : 1;
    }
  }

  /** Everything it holds, the oldest first, behind a LOST record if need be; empty afterwards. */
  RecordBatch take() {
    int cut = 0;
    while (lost > 0 && cut < size && ring.kind[index(cut)] == RecordBatch.VALUES) {
      cut++; // the record that they belong to is gone
    }
    drop(cut);
    RecordBatch taken = new RecordBatch(size + 1 + maps.size() + names.size());
    if (lost > 0) {
      taken.add(RecordBatch.LOST, lostTime, 0, lost, 0, 0, 0);
    }
    for (int i = 0; i < maps.size(); i++) {
      taken.addAll(maps, i, i + 1);
      taken.time[taken.size() - 1] = lostTime;
    }
    maps.clear();
    names.forEach((task, name) -> name.addTo(taken, lostTime, task));
    names.clear();
    int untilWrap = Math.min(size, ring.capacity() - first);
    taken.addAll(ring, first, first + untilWrap);
    taken.addAll(ring, 0, size - untilWrap);
    first = 0;
    size = 0;
    lost = 0;
    return taken;
  }
}
