package dev.retstack.benchmarks.stages;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.List;

/**
 * A core that calls without an emulator, for loads of a size that is asked for: as many functions,
 * cores and records as wanted, sound in every record. The walk goes through a window of the image's
 * functions, one after the other, up and down a stack, so that every function of the window is
 * called once before the first is called again; times between records are random. Not safe for use
 * by several threads at once.
 */
public final class SyntheticCore {
  private static final long CODE = 0x400000;
  private static final long FUNCTION_BYTES = 0x40;
  private static final long HANDLER = 0xffff0000L;
  private static final long STACK = 0x7fff0000L;
  private static final int DEPTH_MAX = 16;

  private final Image image;
  private final String session;
  private final String name;
  private final int first;
  private final int window;
  private final int[] stack = new int[DEPTH_MAX];
  private final long[] from = new long[DEPTH_MAX];
  private int depth;
  private long calls;
  private long random;
  private long time;
  private long sequence;
  private long records;

  /**
   * A core that has done nothing yet.
   *
   * @param first number of the first function of its window
   * @param window functions that it calls; the window begins anew behind the image's last function
   */
  public SyntheticCore(Image image, String session, String name, int first, int window) {
    this.image = image;
    this.session = session;
    this.name = name;
    this.first = first;
    this.window = window;
    this.random = name.hashCode() * 0x9e3779b97f4a7c15L | 1;
  }

  /** An image with this many functions, named {@code f0}, {@code f1} and so on. */
  public static Image image(String buildId, int functions) {
    List<Symbol> symbols = new ArrayList<>(functions);
    for (int i = 0; i < functions; i++) {
      symbols.add(new Symbol("f" + i, address(i), FUNCTION_BYTES));
    }
    return Image.newBuilder()
        .setBuildId(buildId)
        .setName(buildId + ".elf")
        .setIsa("synthetic")
        .setConvention("mcount")
        .setWordBytes(8)
        .setBigEndian(false)
        .setFpCheck(true)
        .setRetpCheck(true)
        .setReturnToHandlerStart(HANDLER)
        .setReturnToHandlerEnd(HANDLER + 0x1000)
        .setSymbols(symbols)
        .build();
  }

  /** Records sent so far. */
  public long records() {
    return records;
  }

  /** The next chunk; its records are as many as {@code batch} holds, which is written over. */
  public Chunk next(RecordBatch batch) {
    batch.clear();
    while (!batch.isFull()) {
      step(batch);
    }
    return seal(batch, CoreEnd.RUNNING, "");
  }

  /** The last chunk: the calls that are open return, and the core halts. */
  public Chunk end() {
    RecordBatch batch = new RecordBatch(DEPTH_MAX);
    while (depth > 0) {
      exit(batch);
    }
    return seal(batch, CoreEnd.HALTED, "exit code 0");
  }

  private void step(RecordBatch batch) {
    // which way it goes depends on the place in the window, so that edges repeat as well
    long place = calls % window * 0x9e3779b97f4a7c15L;
    boolean deeper = (place >>> 62) != 0;
    if (depth == 0 || (deeper && depth < DEPTH_MAX)) {
      enter(batch);
    } else {
      exit(batch);
      if (!batch.isFull()) {
        enter(batch);
      }
    }
  }

  private int next() {
    return (first + (int) (calls % window)) % image.getSymbols().size();
  }

  private void enter(RecordBatch batch) {
    int function = next();
    calls++;
    stack[depth] = function;
    from[depth] = depth == 0 ? CODE - 0x10 : address(stack[depth - 1]) + 0x20;
    add(batch, RecordBatch.ENTRY);
    depth++;
  }

  private void exit(RecordBatch batch) {
    depth--;
    add(batch, RecordBatch.EXIT);
  }

  private void add(RecordBatch batch, byte kind) {
    random = random * 0x5851f42d4c957f2dL + 0x14057b7ef767814fL;
    time += 1 + (random >>> 60);
    long slot = STACK - 16L * depth;
    batch.add(kind, time, depth, address(stack[depth]), from[depth], slot, slot + 0x100);
  }

  private Chunk seal(RecordBatch batch, CoreEnd end, String detail) {
    Chunk.Builder chunk =
        Chunk.newBuilder()
            .setSession(session)
            .setCore(name)
            .setIsa(image.getIsa())
            .setImage(image.getBuildId())
            .setSequence(sequence++)
            .setClockUnit(ClockUnit.INSTRUCTIONS)
            .setRecordsBefore(records)
            .setLostBefore(0)
            .setEnd(end)
            .setEndDetail(detail)
            .setLastTime(time);
    if (batch.size() == 0) {
      chunk.setFirstTime(time);
    }
    records += batch.size();
    return Chunks.seal(chunk, Codecs.standard(), batch);
  }

  private static long address(int function) {
    return CODE + function * FUNCTION_BYTES;
  }
}
