package dev.retstack.service.support;

import dev.retstack.answers.support.CoreScript;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.ValuesDepth;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Chunks that are right one by one, and of which many make a state grow. The records of each way
 * are made a few times and sent again under other names and numbers.
 */
public final class HostileChunks {
  private static final int VARIANTS = 6;
  private static final int CORES = 400;
  private static final String IMAGE = "hostile-image";
  private static final long CODE = 0x401000;

  /** Ways to make a state grow, and records of a chunk of each. */
  private enum Way {
    TASKS(10_000),
    CORES(4),
    SESSIONS(4),
    NAMES(4),
    TREES(3_000),
    HALF_TREES(300),
    STACKS(4_000),
    FUNCTIONS(4_000),
    LOSSES(400),
    ANOMALIES(1_000),
    INTERRUPTS(1_000),
    SYSTEM_CALLS(2_000),
    VALUES(1_500),
    MARKS(500),
    IMAGES(4);

    private final int records;

    Way(int records) {
      this.records = records;
    }
  }

  private final SplittableRandom random;
  private final Map<Way, List<Chunk>> made = new HashMap<>();
  private final Map<String, long[]> sent = new HashMap<>();
  private final List<Image> images = new ArrayList<>();
  private long chunks;
  private long records;

  /** The chunks of this seed. */
  public HostileChunks(long seed) {
    random = new SplittableRandom(seed);
    for (Way way : Way.values()) {
      List<Chunk> variants = new ArrayList<>();
      for (int i = 0; i < VARIANTS; i++) {
        variants.add(make(way));
      }
      made.put(way, variants);
    }
    images.add(CoreScript.image(IMAGE, "a", "b", "c"));
  }

  /** Images that must be known before the chunk that was given last; each is given once. */
  public List<Image> takeImages() {
    List<Image> all = List.copyOf(images);
    images.clear();
    return all;
  }

  /** Trace records given so far. */
  public long records() {
    return records;
  }

  /** One more. */
  public Chunk next() {
    Way[] ways = Way.values();
    Way way = ways[random.nextInt(ways.length)];
    long number = chunks++;
    String session = "hostile";
    String core = way + "-" + random.nextInt(CORES);
    String image = IMAGE;
    switch (way) {
      case CORES -> core = "core-" + number;
      case SESSIONS -> session = "hostile-" + number;
      case NAMES -> core = ("name-" + number + "-").repeat(60);
      case IMAGES -> {
        image = "hostile-image-" + number;
        core = "core-" + image;
        images.add(CoreScript.image(image, names(500)));
      }
      default -> {}
    }
    Chunk of = made.get(way).get(random.nextInt(VARIANTS));
    long[] at = {0, 0};
    if (way != Way.CORES && way != Way.NAMES && way != Way.IMAGES) {
      at = sent.computeIfAbsent(session + " " + core, _ -> new long[2]);
    }
    Chunk chunk =
        Chunk.newBuilder(of)
            .setSession(session)
            .setCore(core)
            .setImage(image)
            .setSequence(at[0]++)
            .setRecordsBefore(at[1])
            .build();
    at[1] += of.getRecordCount();
    records += of.getRecordCount();
    return Chunks.seal(chunk);
  }

  private static String[] names(int count) {
    String[] names = new String[count];
    for (int i = 0; i < count; i++) {
      names[i] = "function_" + i;
    }
    return names;
  }

  private Chunk make(Way way) {
    RecordBatch batch = new RecordBatch(way.records + 64);
    for (int depth = 0; batch.size() < way.records; depth++) {
      record(batch, way, depth);
    }
    Chunk.Builder chunk =
        Chunk.newBuilder()
            .setSession("")
            .setCore("")
            .setIsa("x86_64")
            .setImage(IMAGE)
            .setSequence(0)
            .setClockUnit(ClockUnit.INSTRUCTIONS)
            .setRecordsBefore(0)
            .setLostBefore(0)
            .setOverruns(0)
            .setUnhijackable(0)
            .setEnd(CoreEnd.RUNNING)
            .setEndDetail("");
    try {
      return Chunks.seal(chunk, Codecs.byId(List.copyOf(Codecs.ids()).getLast()), batch);
    } catch (CorruptChunkException e) {
      throw new AssertionError("a codec that is listed is known", e);
    }
  }

  private void record(RecordBatch batch, Way way, int depth) {
    switch (way) {
      case TASKS -> {
        long task = random.nextInt(1 << 20);
        add(batch, RecordBatch.TASK, 0, task, TaskEvent.SWITCHED.code());
        add(batch, RecordBatch.ENTRY, 0, function(3), CODE);
      }
      case STACKS -> add(batch, RecordBatch.ENTRY, depth, function(3), CODE);
      case FUNCTIONS -> pair(batch, function(1 << 20));
      case LOSSES -> {
        add(batch, RecordBatch.ENTRY, depth, function(64), CODE);
        add(batch, RecordBatch.LOST, 0, 1 + random.nextInt(9), 0);
      }
      case ANOMALIES -> {
        add(batch, RecordBatch.ENTRY, depth % 60, function(64), CODE);
        add(batch, RecordBatch.EXIT, random.nextInt(60), function(64), CODE);
      }
      case INTERRUPTS -> {
        add(batch, RecordBatch.INTERRUPT_ENTER, 0, random.nextInt(10_000), CODE);
        add(batch, RecordBatch.ENTRY, 0, function(64), CODE);
      }
      case SYSTEM_CALLS -> {
        long number = random.nextInt(10_000);
        add(batch, RecordBatch.SYS_ENTER, 0, number, 1);
        add(batch, RecordBatch.SYS_EXIT, 0, number, 1);
      }
      case VALUES -> {
        add(batch, RecordBatch.ENTRY, 0, function(64), CODE);
        for (int index = 0; index < 5; index++) {
          add(batch, RecordBatch.VALUES, ValuesDepth.of(4 * index, 4, 0), 1, 2);
        }
      }
      case MARKS -> add(batch, RecordBatch.MARK, 0, function(64), 1);
      default -> pair(batch, function(3));
    }
  }

  private void pair(RecordBatch batch, long function) {
    add(batch, RecordBatch.ENTRY, 0, function, CODE);
    add(batch, RecordBatch.EXIT, 0, function, CODE);
  }

  private long function(int count) {
    return CODE + 0x40L * random.nextInt(count);
  }

  private static void add(RecordBatch batch, byte kind, int depth, long self, long from) {
    batch.add(kind, 10L + batch.size(), depth, self, from, 0, 0);
  }
}
