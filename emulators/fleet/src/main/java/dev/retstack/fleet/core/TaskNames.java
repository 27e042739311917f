package dev.retstack.fleet.core;

import dev.retstack.fleet.probe.Probe;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskName;
import java.util.Comparator;
import java.util.List;

/**
 * The names that a program gives its threads. Each becomes a TASK_NAME record; those of the threads
 * that are there go into keyframes.
 */
final class TaskNames {
  private final Threads threads;

  TaskNames(Threads threads, Probe probe) {
    this.threads = threads;
    threads.whenNamed(thread -> probe.note(records(List.of(thread))));
  }

  /** A keyframe with the names; null where it is null. */
  Keyframe with(Keyframe stacks) {
    List<GuestThread> named =
        threads.all().stream()
            .filter(GuestThread::isNamed)
            .sorted(Comparator.comparingLong(GuestThread::task))
            .toList();
    return stacks == null || named.isEmpty() ? stacks : stacks.withNames(records(named));
  }

  private static RecordBatch records(List<GuestThread> named) {
    RecordBatch records = new RecordBatch(named.size());
    named.forEach(thread -> TaskName.of(thread.name()).addTo(records, 0, thread.task()));
    return records;
  }
}
