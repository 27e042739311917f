package dev.retstack.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.SourceLine;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.record.Mark;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.TaskName;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A recorded trace written by hand of which a stranger chose every name: two tasks, an interrupt, a
 * system call, a mark, a wrong frame pointer, a loss, and calls that stay open.
 */
public final class HostileTrace {
  /** Records of {@link #write}, without the loss. */
  public static final long RECORDS = 18;

  private static final long TASK = 0xffff_8000_0000_9040L;

  private HostileTrace() {}

  /**
   * Writes it.
   *
   * @param name of its session, core, image, object, and of how it ended
   * @param functions names of at least four functions, and of the files in which they begin
   */
  public static Path write(Path file, String name, List<String> functions) throws IOException {
    RecordBatch batch = new RecordBatch(64);
    call(batch, RecordBatch.ENTRY, 10, 0, 0x1000);
    TaskName.of("=E\u001b[2J\r\nFORGED;,".getBytes(UTF_8)).addTo(batch, 10, 0);
    batch.add(RecordBatch.MARK, 11, 0, 0x1000, Mark.STACKTRACE.code(), 1, 0);
    batch.add(RecordBatch.FUNCTION, 12, 0, 0x1100, 0x1000, 0, 0);
    batch.add(RecordBatch.SYS_ENTER, 13, 1, 1, 0x1000, 0, 0);
    batch.add(RecordBatch.SYS_EXIT, 14, 1, 1, 0, 0, 0);
    batch.add(RecordBatch.TASK, 20, 0, TASK, TaskEvent.STARTED.code(), 0x7000, 0);
    call(batch, RecordBatch.ENTRY, 30, 0, 0x1200);
    call(batch, RecordBatch.EXIT, 40, 0, 0x1200);
    batch.add(RecordBatch.TASK, 50, 1, 0, TaskEvent.SWITCHED.code(), HandMade.STACK, 0);
    batch.add(RecordBatch.INTERRUPT_ENTER, 60, 1, 32, 0x1010, HandMade.STACK, 0);
    call(batch, RecordBatch.ENTRY, 62, 0, 0x1300);
    call(batch, RecordBatch.EXIT, 65, 0, 0x1300);
    batch.add(RecordBatch.INTERRUPT_EXIT, 70, 0, 32, 0x1010, 0, 0);
    call(batch, RecordBatch.ENTRY, 72, 1, 0x1100);
    batch.add(RecordBatch.EXIT, 75, 1, 0x1100, 0x1020, HandMade.STACK - 0x20, 0x666); // a wrong fp
    call(batch, RecordBatch.ENTRY, 76, 1, 0x1100);
    batch.add(RecordBatch.LOST, 79, 0, 3, 0, 0, 0);
    call(batch, RecordBatch.ENTRY, 90, 1, 0x1100);
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      writer.write(image(name, functions));
      writer.write(HandMade.chunk(name, name, name, batch, 100, CoreEnd.FAULTED, name));
    }
    return file;
  }

  private static Image image(String name, List<String> functions) {
    List<Symbol> symbols = new ArrayList<>();
    List<String> files = new ArrayList<>();
    List<SourceLine> lines = new ArrayList<>();
    for (int i = 0; i < functions.size(); i++) {
      String function = functions.get(i);
      symbols.add(new Symbol(function, 0x1000L + 0x100L * i, 0x100L));
      files.add(function.substring(0, Math.min(function.length(), Chunks.FILE_MAX)));
      lines.add(new SourceLine(i, i, i + 1));
    }
    return HandMade.image(name, name, symbols)
        .setFiles(files)
        .setLines(lines)
        .setObjects(List.of(new Symbol(name, TASK - 0x40, 0x100L)))
        .build();
  }

  private static void call(RecordBatch batch, byte kind, long time, int depth, long self) {
    HandMade.call(batch, kind, time, depth, self, depth == 0 ? 0x900 : 0x1020);
  }
}
