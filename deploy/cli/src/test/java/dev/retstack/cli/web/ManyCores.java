package dev.retstack.cli.web;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/** A recorded trace of many small cores, written by hand. */
final class ManyCores {
  private static final long STACK = 0x8000;

  private ManyCores() {}

  /**
   * Writes one.
   *
   * @param cores how many; core i has i % 5 calls open and i % 7 calls that end with a wrong fp
   */
  static Path write(Path file, int cores) throws IOException {
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      writer.write(image());
      for (int i = 0; i < cores; i++) {
        RecordBatch batch = new RecordBatch(32);
        long time = 10;
        for (int depth = 0; depth < i % 5; depth++) {
          time += 10;
          batch.add(RecordBatch.ENTRY, time, depth, 0x1000, caller(depth), slot(depth), fp(depth));
        }
        for (int call = 0; call < i % 7; call++) {
          int at = i % 5;
          time += 10;
          batch.add(RecordBatch.ENTRY, time, at, 0x1000, caller(at), slot(at), fp(at));
          time += 10;
          batch.add(RecordBatch.EXIT, time, at, 0x1000, caller(at), slot(at), 0x666);
        }
        Chunk.Builder chunk =
            Chunk.newBuilder()
                .setSession("many")
                .setCore("core-%05d".formatted(i))
                .setIsa("x86_64")
                .setImage("many")
                .setSequence(0)
                .setFirstTime(10)
                .setLastTime(time)
                .setClockUnit(ClockUnit.INSTRUCTIONS)
                .setRecordCount(batch.size())
                .setEnd(CoreEnd.RUNNING)
                .setEndDetail("");
        writer.write(Chunks.seal(chunk, Codecs.standard(), batch));
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

  private static long slot(int depth) {
    return STACK - 0x20L * depth;
  }

  private static long fp(int depth) {
    return slot(depth) + 8;
  }

  private static Image image() {
    return Image.newBuilder()
        .setBuildId("many")
        .setName("many")
        .setIsa("x86_64")
        .setConvention("mcount")
        .setWordBytes(8)
        .setBigEndian(false)
        .setFpCheck(true)
        .setRetpCheck(true)
        .setReturnToHandlerStart(0xf000)
        .setReturnToHandlerEnd(0xff00)
        .setSymbols(List.of(new Symbol("work", 0x1000L, 0x100L)))
        .build();
  }
}
