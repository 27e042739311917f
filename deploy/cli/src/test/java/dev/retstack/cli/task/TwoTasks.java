package dev.retstack.cli.task;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.cli.HandMade;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.TaskName;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A recorded trace written by hand: main runs from 10 to 80 in the first task of core c0; from 20
 * to 50 the task with the control block {@code blocks+0x40} does, and work in it from 30 to 40;
 * from 60 to 70 interrupt 32 runs on top of main, tick in it from 62 to 65; main calls a from 72 to
 * 75.
 */
public final class TwoTasks {
  /** Id of the second task; above 2^63, as addresses of kernels are. */
  public static final long TASK = 0xffff_8000_0000_9040L;

  private static final long MAIN = 0x1000;
  private static final long A = 0x1100;
  private static final long WORK = 0x1200;
  private static final long TICK = 0x1300;

  private TwoTasks() {}

  /** Writes the whole trace. */
  public static Path write(Path file) throws IOException {
    return write(file, 0);
  }

  /** Writes it with so many records lost from 75 to 79. */
  public static Path write(Path file, long lost) throws IOException {
    return write(file, lost, "");
  }

  /** Writes the whole trace, in which the program gives the second task a name. */
  public static Path named(Path file, String name) throws IOException {
    return write(file, 0, name);
  }

  private static Path write(Path file, long lost, String name) throws IOException {
    RecordBatch batch = new RecordBatch(32);
    HandMade.call(batch, RecordBatch.ENTRY, 10, 0, MAIN, 0x900);
    batch.add(RecordBatch.TASK, 20, 0, TASK, TaskEvent.STARTED.code(), 0x7000, 0);
    if (!name.isEmpty()) {
      TaskName.of(name.getBytes(UTF_8)).addTo(batch, 25, TASK);
    }
    HandMade.call(batch, RecordBatch.ENTRY, 30, 0, WORK, 0x900);
    HandMade.call(batch, RecordBatch.EXIT, 40, 0, WORK, 0x900);
    batch.add(RecordBatch.TASK, 50, 1, 0, TaskEvent.SWITCHED.code(), HandMade.STACK, 0);
    batch.add(RecordBatch.INTERRUPT_ENTER, 60, 1, 32, MAIN + 0x10, HandMade.STACK, 0);
    HandMade.call(batch, RecordBatch.ENTRY, 62, 0, TICK, 0x900);
    HandMade.call(batch, RecordBatch.EXIT, 65, 0, TICK, 0x900);
    batch.add(RecordBatch.INTERRUPT_EXIT, 70, 0, 32, MAIN + 0x10, 0, 0);
    HandMade.call(batch, RecordBatch.ENTRY, 72, 1, A, MAIN + 0x20);
    HandMade.call(batch, RecordBatch.EXIT, 75, 1, A, MAIN + 0x20);
    if (lost > 0) {
      batch.add(RecordBatch.LOST, 79, 0, lost, 0, 0, 0);
    }
    HandMade.call(batch, RecordBatch.EXIT, 80, 0, MAIN, 0x900);
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      writer.write(image());
      writer.write(HandMade.chunk("s", "c0", "feed", batch, 80, CoreEnd.HALTED, "exit code 0"));
    }
    return file;
  }

  private static Image image() {
    return HandMade.image(
            "feed",
            "os.elf",
            List.of(
                new Symbol("main", MAIN, 0x100L),
                new Symbol("a", A, 0x100L),
                new Symbol("work", WORK, 0x100L),
                new Symbol("tick", TICK, 0x100L)))
        .setObjects(List.of(new Symbol("blocks", TASK - 0x40, 0x100L)))
        .build();
  }
}
