package dev.retstack.cli.web;

import dev.retstack.cli.HandMade;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/** A recorded trace of many small cores, written by hand. */
final class ManyCores {
  private ManyCores() {}

  /**
   * Writes one.
   *
   * @param cores how many; core i has i % 5 calls open and i % 7 calls that end with a wrong fp
   */
  static Path write(Path file, int cores) throws IOException {
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      Symbol work = new Symbol("work", 0x1000L, 0x100L);
      writer.write(HandMade.image("many", "many", List.of(work)).build());
      for (int i = 0; i < cores; i++) {
        RecordBatch batch = new RecordBatch(32);
        long time = 10;
        for (int depth = 0; depth < i % 5; depth++) {
          time += 10;
          HandMade.call(batch, RecordBatch.ENTRY, time, depth, 0x1000, caller(depth));
        }
        for (int call = 0; call < i % 7; call++) {
          int at = i % 5;
          time += 10;
          HandMade.call(batch, RecordBatch.ENTRY, time, at, 0x1000, caller(at));
          time += 10;
          batch.add(RecordBatch.EXIT, time, at, 0x1000, caller(at), HandMade.slot(at), 0x666);
        }
        String core = "core-%05d".formatted(i);
        writer.write(HandMade.chunk("many", core, "many", batch, time, CoreEnd.RUNNING, ""));
      }
    }
    return file;
  }

  /** Records of all of them. */
  static long records(int cores) {
    return IntStream.range(0, cores).mapToLong(i -> i % 5 + 2L * (i % 7)).sum();
  }

  private static long caller(int depth) {
    return depth == 0 ? 0x900 : 0x1020;
  }
}
