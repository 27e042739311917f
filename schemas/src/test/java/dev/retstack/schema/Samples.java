package dev.retstack.schema;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskName;
import java.util.List;
import java.util.SplittableRandom;

/** Records, chunks and images as cores would make them, and some that no core would. */
public final class Samples {
  private static final long TEXT = 0x40_0000;
  private static final long STACK = 0x7fff_ffff_e000L;
  private static final long LIBRARY = 0x7f00_0000_0000L;

  /** Images that cores map. */
  private static final List<String> IMAGES = List.of("a1b2c3d4", "0badcafe");

  private static final long[] EXTREMES = {
    0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 63 >>> 1, 0xffff_ffffL, -128, 127, 128, 16384
  };

  private Samples() {}

  /** A walk over a program of some functions, started somewhere in the middle of it. */
  public static RecordBatch callTree(SplittableRandom random, int count, int functions) {
    RecordBatch batch = new RecordBatch(count);
    int opened = random.nextInt(0, 5);
    int size = 0;
    int[] function = new int[count + 1];
    long[][] frame = new long[count + 1][];
    long time = random.nextLong(0, 1L << 40);
    while (!batch.isFull()) {
      time += random.nextInt(0, 8) == 0 ? random.nextInt(0, 2000) : random.nextInt(2, 30);
      int act = random.nextInt(0, 1000);
      if (act == 0) {
        batch.add(RecordBatch.LOST, time, 0, random.nextLong(1, 100), 0, 0, 0);
      } else if (act < 500 && size < 40) {
        int caller = size == 0 ? 0 : function[size - 1];
        int site = random.nextInt(0, 3);
        int callee = (caller * 7 + site * 3 + 1) % functions;
        long parentSlot = size == 0 ? STACK : frame[size - 1][2];
        long[] fields = {
          TEXT + callee * 0x60L,
          TEXT + caller * 0x60L + 0x10 + site * 9L,
          parentSlot - 0x20 - caller % 5 * 16L,
          parentSlot - 8
        };
        function[size] = callee;
        frame[size] = fields;
        batch.add(
            RecordBatch.ENTRY, time, opened + size, fields[0], fields[1], fields[2], fields[3]);
        size++;
      } else if (size > 0) {
        // now and then a longjmp over some frames, or a frame that was damaged
        size -= act == 999 ? random.nextInt(0, size) : 0;
        long[] fields = frame[--size];
        long damage = act == 998 ? random.nextLong() : 0;
        batch.add(
            RecordBatch.EXIT,
            time,
            opened + size,
            fields[0],
            fields[1],
            fields[2],
            fields[3] + damage);
      } else if (opened > 0) {
        opened--;
        batch.add(RecordBatch.EXIT, time, opened, TEXT, TEXT + 5, STACK + opened, STACK);
      }
    }
    return batch;
  }

  /** Any kind, any values, with the extremes of 64 bits often and repeats now and then. */
  public static RecordBatch garbage(SplittableRandom random, int count) {
    RecordBatch batch = new RecordBatch(count);
    boolean others = random.nextBoolean();
    while (!batch.isFull()) {
      int from = batch.size();
      boolean again = from > 0 && random.nextInt(0, 4) == 0;
      int old = again ? random.nextInt(0, from) : 0;
      batch.add(
          others ? kind(random) : (byte) random.nextInt(0, RecordBatch.FUNCTION - 1),
          word(random),
          again ? batch.depth[old] : (int) word(random),
          again ? batch.selfPc[old] : word(random),
          again ? batch.fromPc[old] : word(random),
          again && random.nextBoolean() ? batch.retP[old] : word(random),
          again && random.nextBoolean() ? batch.fp[old] : word(random));
    }
    return batch;
  }

  /** The same records with some of other kinds between them, before one in so many: as cores do. */
  public static RecordBatch withOthers(RecordBatch graph, SplittableRandom random, int oneIn) {
    RecordBatch batch = new RecordBatch(4 * graph.size());
    batch.setImages(IMAGES);
    for (int i = 0; i < graph.size(); i++) {
      if (random.nextInt(0, oneIn) == 0) {
        other(batch, graph.time[i], random);
      }
      batch.addAll(graph, i, i + 1);
    }
    return batch;
  }

  private static void other(RecordBatch batch, long time, SplittableRandom random) {
    long number = random.nextInt(0, 400);
    int depth = random.nextInt(0, 20);
    long place = LIBRARY + number * 0x1000;
    switch (random.nextInt(0, 10)) {
      case 7 -> batch.add(RecordBatch.MAP, time, (int) number & 1, place, 0x800, number, 5);
      case 8 -> batch.add(RecordBatch.UNMAP, time, 0, place, 0x1000, 0, 0);
      case 9 -> batch.add(RecordBatch.TASK_NAME, time, 0, number, word(random), word(random), 0);
      case 4 -> batch.add(RecordBatch.TASK, time, depth, number, 1 + number % 3, STACK, 0);
      case 5 -> {
        batch.add(RecordBatch.INTERRUPT_ENTER, time, depth, number, TEXT, STACK, 0);
        batch.add(RecordBatch.INTERRUPT_EXIT, time, 0, number, TEXT + number, 0, 0);
      }
      case 6 -> batch.add(RecordBatch.SMASHED, time, depth, TEXT, word(random), STACK, TEXT + 4);
      case 0 -> {
        batch.add(RecordBatch.SYS_ENTER, time, depth, number, TEXT + number, 0, 0);
        batch.add(RecordBatch.VALUES, time, 0, 1, word(random), STACK + number, number);
        batch.add(RecordBatch.VALUES, time, 4, word(random), word(random), 0, 0);
      }
      case 1 -> batch.add(RecordBatch.SYS_EXIT, time, depth, number, -number, 0, 0);
      case 2 -> batch.add(RecordBatch.MARK, time, 0, TEXT, random.nextInt(1, 6), number, 0);
      default -> batch.add(RecordBatch.VALUES, time, 0, word(random), number, STACK, 0);
    }
  }

  /** What the tracer that hijacks no return makes of a call tree: its entries. */
  public static RecordBatch functions(RecordBatch graph) {
    RecordBatch batch = new RecordBatch(graph.size());
    for (int i = 0; i < graph.size(); i++) {
      if (graph.kind[i] == RecordBatch.ENTRY) {
        batch.add(RecordBatch.FUNCTION, graph.time[i], 0, graph.selfPc[i], graph.fromPc[i], 0, 0);
      }
    }
    return batch;
  }

  /** Changes single fields of a batch, one in so many records: to small or to any other values. */
  public static void damage(RecordBatch batch, SplittableRandom random, int oneIn) {
    for (int i = random.nextInt(0, oneIn); i < batch.size(); i += random.nextInt(1, 2 * oneIn)) {
      long value = word(random);
      boolean near = random.nextBoolean();
      switch (random.nextInt(0, 7)) {
        case 0 -> batch.kind[i] = kind(random);
        case 1 -> batch.time[i] = near ? batch.time[i] + random.nextInt(0, 100_000) : value;
        case 2 -> batch.depth[i] = near ? batch.depth[i] + random.nextInt(-4, 5) : (int) value;
        case 3 -> batch.selfPc[i] = near ? batch.selfPc[random.nextInt(0, i + 1)] : value;
        case 4 -> batch.fromPc[i] = near ? batch.fromPc[random.nextInt(0, i + 1)] : value;
        case 5 -> batch.retP[i] = near ? batch.retP[i] + 16L * random.nextInt(-4, 5) : value;
        default -> batch.fp[i] = near ? batch.fp[i] + 16L * random.nextInt(-4, 5) : value;
      }
    }
  }

  private static byte kind(SplittableRandom random) {
    while (true) {
      int kind = random.nextInt(0, RecordBatch.KINDS);
      if (RecordBatch.isKind(kind)) {
        return (byte) kind;
      }
    }
  }

  private static long word(SplittableRandom random) {
    return switch (random.nextInt(0, 4)) {
      case 0 -> EXTREMES[random.nextInt(0, EXTREMES.length)];
      case 1 -> random.nextLong();
      case 2 -> random.nextLong() >> random.nextInt(0, 64);
      default -> random.nextInt(0, 8);
    };
  }

  /** A keyframe with two mappings in force, of the images that {@link #withOthers} names. */
  public static Keyframe mapped(Keyframe stacks) {
    RecordBatch maps = new RecordBatch(2);
    maps.add(RecordBatch.MAP, 0, 1, LIBRARY, 0x3000, 0x1000, 5);
    maps.add(RecordBatch.MAP, 0, 0, LIBRARY + 0x3000, 0x1000, 0, 4);
    return stacks.withMaps(maps);
  }

  /** A keyframe in which two tasks have names. */
  public static Keyframe named(Keyframe stacks) {
    RecordBatch names = new RecordBatch(2);
    TaskName.of("main".getBytes(UTF_8)).addTo(names, 0, 0);
    TaskName.of("worker of the 16".getBytes(UTF_8)).addTo(names, 0, 7);
    return stacks.withNames(names);
  }

  /** What may be open before a time: a task in an interrupt, last or alone that of a chunk. */
  public static Keyframe keyframe(SplittableRandom random, long before, boolean alone) {
    Keyframe.Builder to = new Keyframe.Builder();
    if (!alone) {
      to.task(7, 3, 2);
      frames(to, random, before, 0, 2);
      to.interrupt(33, TEXT + 0x44, before / 2, 1, 1);
      frames(to, random, before, 0, 1);
    }
    to.last();
    int open = random.nextInt(1, 6);
    to.task(0, open + random.nextInt(0, 2), open);
    frames(to, random, before, random.nextInt(0, open), open);
    return to.build();
  }

  private static void frames(
      Keyframe.Builder to, SplittableRandom random, long before, int from, int end) {
    for (int depth = from; depth < end; depth++) {
      long time = before - 1000L * (end - depth) - random.nextInt(0, 900);
      int function = random.nextInt(0, 5);
      to.frame(
          depth,
          Math.max(0, time),
          TEXT + function * 0x60L,
          TEXT + function * 0x60L + 0x15,
          STACK - depth * 0x30L,
          STACK - depth * 0x30L + 0x10);
    }
  }

  /** A sealed chunk that is not the last of its core. */
  public static Chunk chunk(String core, long sequence, ChunkCodec codec, RecordBatch batch) {
    return Chunks.seal(
        Chunk.newBuilder()
            .setSession("session-1")
            .setCore(core)
            .setIsa("x86_64")
            .setImage("00ff00ff")
            .setSequence(sequence)
            .setClockUnit(ClockUnit.INSTRUCTIONS)
            .setRecordsBefore(sequence * batch.size()),
        codec,
        batch);
  }

  /** The last, empty chunk of a core. */
  public static Chunk lastChunk(String core, long sequence, ChunkCodec codec, long clock) {
    return Chunks.seal(
        Chunk.newBuilder()
            .setSession("session-1")
            .setCore(core)
            .setIsa("x86_64")
            .setImage("00ff00ff")
            .setSequence(sequence)
            .setClockUnit(ClockUnit.INSTRUCTIONS)
            .setFirstTime(clock)
            .setLastTime(clock)
            .setEnd(CoreEnd.HALTED)
            .setEndDetail("exit code 0"),
        codec,
        new RecordBatch(0));
  }

  /** A small image with a name beyond ASCII. */
  public static Image image() {
    return Image.newBuilder()
        .setBuildId("00ff00ff")
        .setName("größe.elf")
        .setIsa("x86_64")
        .setConvention("fentry")
        .setWordBytes(8)
        .setBigEndian(false)
        .setFpCheck(true)
        .setRetpCheck(true)
        .setReturnToHandlerStart(0x7000_0000L)
        .setReturnToHandlerEnd(0x7000_0400L)
        .setSymbols(List.of(new Symbol("main", TEXT, 0x60L), new Symbol("fib", TEXT + 0x60, 0x60L)))
        .setMcountLoc(List.of(TEXT, TEXT + 0x60))
        .setFiles(List.of("src/größe.c"))
        .setLines(List.of(new SourceLine(1, 0, 12)))
        .setOtherNames(
            List.of(
                new OtherName(0, "größe_main"),
                new OtherName(1, "fibonacci"),
                new OtherName(1, "folded")))
        .build();
  }
}
