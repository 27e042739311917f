package dev.retstack.cli;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.record.RecordBatch;
import java.util.List;

/** Parts of traces that tests write by hand, of cores of x86_64. */
public final class HandMade {
  /** Where the stack of a task without calls ends. */
  public static final long STACK = 0x8000;

  private HandMade() {}

  /** An image without lines and objects. */
  public static Image.Builder image(String buildId, String name, List<Symbol> functions) {
    return Image.newBuilder()
        .setBuildId(buildId)
        .setName(name)
        .setIsa("x86_64")
        .setConvention("mcount")
        .setWordBytes(8)
        .setBigEndian(false)
        .setFpCheck(true)
        .setRetpCheck(true)
        .setReturnToHandlerStart(0xf000)
        .setReturnToHandlerEnd(0xff00)
        .setSymbols(functions);
  }

  /** The only chunk of a core, from time 10 on. */
  public static Chunk chunk(
      String session,
      String core,
      String image,
      RecordBatch batch,
      long lastTime,
      CoreEnd end,
      String detail) {
    Chunk.Builder chunk =
        Chunk.newBuilder()
            .setSession(session)
            .setCore(core)
            .setIsa("x86_64")
            .setImage(image)
            .setSequence(0)
            .setFirstTime(10)
            .setLastTime(lastTime)
            .setClockUnit(ClockUnit.INSTRUCTIONS)
            .setRecordCount(batch.size())
            .setEnd(end)
            .setEndDetail(detail);
    return Chunks.seal(chunk, Codecs.standard(), batch);
  }

  /** An entry, or an exit at which nothing is wrong, of a call at a depth of the stack. */
  public static void call(
      RecordBatch batch, byte kind, long time, int depth, long self, long from) {
    batch.add(kind, time, depth, self, from, slot(depth), slot(depth) + 8);
  }

  /** Where the return address of a call at that depth is. */
  public static long slot(int depth) {
    return STACK - 0x20L * depth;
  }
}
