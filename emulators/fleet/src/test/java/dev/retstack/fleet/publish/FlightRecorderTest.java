package dev.retstack.fleet.publish;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.TaskName;
import dev.retstack.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FlightRecorderTest {
  private record Rec(byte kind, long time, long selfPc) {}

  @Test
  void followsTheTasksAndInterruptsThatItDrops() {
    TaskPlace place = new TaskPlace();
    FlightRecorder recorder = new FlightRecorder(2, place);
    RecordBatch batch = new RecordBatch(8);
    batch.add(RecordBatch.TASK, 1, 0, 7, TaskEvent.STARTED.code(), 0, 0);
    batch.add(RecordBatch.INTERRUPT_ENTER, 2, 0, 3, 0, 0, 0);
    batch.add(RecordBatch.TASK, 3, 0, 8, TaskEvent.STARTED.code(), 0, 0);
    batch.add(RecordBatch.ENTRY, 4, 0, 1, 2, 3, 4);
    batch.add(RecordBatch.TASK, 5, 0, 7, TaskEvent.SWITCHED.code(), 0, 0);
    recorder.add(batch, 0, 2);
    assertThat(place.task()).isZero();
    recorder.add(batch, 2, 4);
    assertThat(place.task()).isEqualTo(7);
    assertThat(place.interrupts()).isEqualTo(1);
    recorder.add(batch, 4, 5);
    assertThat(place.task()).isEqualTo(8);
    assertThat(place.interrupts()).isZero();
    RecordBatch taken = recorder.take();
    assertThat(place.task()).isEqualTo(8);
    place.pass(taken);
    assertThat(place.task()).isEqualTo(7);
    assertThat(place.interrupts()).isEqualTo(1);
  }

  /** A name that was dropped is told as long as its task may be seen. */
  @Test
  void keepsTheNamesOfTasksThatGoOn() {
    FlightRecorder recorder = new FlightRecorder(2, new TaskPlace());
    RecordBatch batch = new RecordBatch(9);
    TaskName one = new TaskName(1L << 56, 0);
    one.addTo(batch, 1, 7);
    one.addTo(batch, 2, 8);
    new TaskName(2L << 56, 0).addTo(batch, 3, 7);
    batch.add(RecordBatch.TASK, 4, 0, 8, TaskEvent.ENDED.code(), 0, 0);
    for (int time = 5; time < 10; time++) {
      batch.add(RecordBatch.ENTRY, time, 0, time, 2, 3, 4);
    }
    recorder.add(batch, 0, 3);
    assertThat(recorder.lost()).isZero();
    recorder.add(batch, 3, 9);
    assertThat(records(recorder.take()))
        .containsExactly(
            new Rec(RecordBatch.LOST, 7, 6),
            new Rec(RecordBatch.TASK_NAME, 7, 7),
            new Rec(RecordBatch.ENTRY, 8, 8),
            new Rec(RecordBatch.ENTRY, 9, 9));
    assertThat(recorder.lost()).isZero();
  }

  /** Against a list that forgets its first element when it is too long. */
  @Test
  void keepsTheLatestAndCountsTheOthers() {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    for (int round = 0; round < 500; round++) {
      int capacity = 1 + random.nextInt(40);
      FlightRecorder recorder = new FlightRecorder(capacity, new TaskPlace());
      List<Rec> model = new ArrayList<>();
      long lost = 0;
      long lostTime = 0;
      long time = 0;
      for (int step = 0; step < 30; step++) {
        RecordBatch batch = new RecordBatch(random.nextInt(60));
        while (!batch.isFull()) {
          Rec next = draw(random, time++);
          batch.add(next.kind(), next.time(), 1, next.selfPc(), 2, 3, 4);
          if (next.kind() == RecordBatch.LOST) {
            lost += model.size() + next.selfPc();
            lostTime = next.time();
            model.clear();
            continue;
          }
          model.add(next);
          if (model.size() > capacity) {
            lostTime = model.removeFirst().time();
            lost++;
          }
        }
        recorder.add(batch, 0, batch.size());
        if (random.nextInt(4) == 0) {
          while (lost > 0 && !model.isEmpty() && model.getFirst().kind() == RecordBatch.VALUES) {
            lostTime = model.removeFirst().time();
            lost++;
          }
          if (lost > 0) {
            model.addFirst(new Rec(RecordBatch.LOST, lostTime, lost));
          }
          assertThat(records(recorder.take())).as("seed %d", seed).isEqualTo(model);
          assertThat(recorder.size() + recorder.lost()).isZero();
          model.clear();
          lost = 0;
        } else {
          assertThat(recorder.size()).as("seed %d", seed).isEqualTo(model.size());
          assertThat(recorder.lost()).as("seed %d", seed).isEqualTo(lost);
        }
      }
    }
  }

  private static Rec draw(Random random, long time) {
    byte kind =
        switch (random.nextInt(10)) {
          case 0 -> RecordBatch.VALUES;
          case 1 -> random.nextInt(5) == 0 ? RecordBatch.LOST : RecordBatch.MARK;
          case 2, 3, 4 -> RecordBatch.EXIT;
          default -> RecordBatch.ENTRY;
        };
    return new Rec(kind, time, 1 + random.nextInt(100));
  }

  private static List<Rec> records(RecordBatch batch) {
    List<Rec> records = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      records.add(new Rec(batch.kind[i], batch.time[i], batch.selfPc[i]));
    }
    return records;
  }
}
