package dev.retstack.simulation;

import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.symbol.SymbolTable.Symbol;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.linux.SystemCallNames;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.TaskName;
import it.unimi.dsi.fastutil.longs.LongList;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * Chunks that no tracer sends: any records that {@link Chunks#decode} accepts, in any order, under
 * any limits. Values come from small pools, so that records meet each other. Some streams follow a
 * ret_stack most of the time, to reach deep states; others are noise.
 */
final class HostileRecords {
  /** Interrupts in a keyframe at most. */
  private static final int MOST_NESTED = 6;

  /** Mappings in a keyframe at most. */
  private static final int MAPS = 4;

  /** Images that cores map; the second is nowhere to be had. */
  private static final List<String> IMAGES = List.of("0ab1e", "0ab1e2");

  /** Any table of names: which one makes no difference. */
  private static final String SYSTEM_CALLS = SystemCallNames.tables().iterator().next();

  private static final long HANDLER = 0xf000;
  private static final String IMAGE_ID = "hostile";

  /** What is done to a state, one after the other. */
  sealed interface Step {}

  /** A chunk comes. */
  record Send(CoreKey core, ChunkMeta meta, RecordBatch batch) implements Step {}

  /** Something else happens. */
  enum Other implements Step {
    /** Writes the state, reads it back, and continues beside it with the copy. */
    SNAPSHOT,
    /** Everything that can be shown is shown. */
    LOOK,
    /** Totals are published. */
    PUBLISH
  }

  /**
   * Steps, and the state that they are done to.
   *
   * @param threshold of who hears of calls, negative where nobody does
   */
  record Case(
      long seed,
      GraphLimits limits,
      TimeRules rules,
      boolean byTask,
      long threshold,
      ImageInfo image,
      List<Step> steps) {
    long records() {
      long sum = 0;
      for (Step step : steps) {
        sum += step instanceof Send send ? send.batch().size() : 0;
      }
      return sum;
    }
  }

  private final SplittableRandom random;
  private final int style;
  private final int maxDepth;
  private final long[] addresses;
  private final long[] tasks;
  private final int mutateOneIn;
  private final int othersOneIn;
  private final boolean wildTimes;

  private HostileRecords(long seed) {
    random = new SplittableRandom(seed);
    style = random.nextInt(4);
    maxDepth = pick(1, 2, 3, 6, 6, 40, 500, 65_536);
    addresses = new long[2 + random.nextInt(6)];
    for (int i = 0; i < addresses.length; i++) {
      addresses[i] =
          random.nextInt(8) == 0
              ? edge()
              : pick(0x1000, 0x1104, 0x1200, 0x1300, HANDLER, HANDLER + 16, 0x8000, 0x7fe0);
    }
    tasks = new long[1 + random.nextInt(4)];
    for (int i = 1; i < tasks.length; i++) {
      tasks[i] = random.nextInt(8) == 0 ? edge() : i;
    }
    mutateOneIn = 1 << random.nextInt(10);
    othersOneIn = 1 + random.nextInt(40);
    wildTimes = random.nextInt(4) == 0;
  }

  /** The case of a seed. */
  static Case of(long seed) {
    HostileRecords one = new HostileRecords(seed);
    GraphLimits limits = one.limits();
    TimeRules rules =
        one.random.nextBoolean()
            ? TimeRules.DEFAULT
            : new TimeRules(
                one.random.nextBoolean(), one.random.nextBoolean(), one.random.nextBoolean());
    boolean byTask = one.random.nextInt(10) == 0;
    long threshold = one.pick(-1, -1, 0, 10, Long.MAX_VALUE);
    ImageInfo image = one.image();
    return new Case(seed, limits, rules, byTask, threshold, image, one.steps());
  }

  private GraphLimits limits() {
    return GraphLimits.DEFAULT
        .but()
        .maxDepth(maxDepth)
        .treeCallsPerCore(pick(0, 1, 2, 5, 20, 200, 1000, 100_000))
        .anomaliesPerKind(pick(1, 2, 5, 100))
        .functions(pick(1, 2, 3, 50, 1 << 18))
        .edges(pick(0, 1, 2, 5, 200, 1 << 20))
        .cores(pick(1, 2, 100))
        .tasks(pick(1, 2, 3, 5, 50, 4096))
        .build();
  }

  /** The one of the images beside their own that is there. */
  static ImageInfo library() {
    return new ImageInfo(
        IMAGES.getFirst(),
        "lib\u001b[2J.so",
        "model",
        new ImageTraits(false, false, 0, 0),
        SymbolTable.of(List.of(new Symbol("one", 0x1000, 0x100), new Symbol("two", 0x8000, 0))));
  }

  private ImageInfo image() {
    long end = random.nextInt(8) == 0 ? edge() : HANDLER + 256;
    LongList copied = random.nextInt(4) == 0 ? LongList.of(addresses) : LongList.of();
    SymbolTable symbols =
        SymbolTable.of(
            List.of(
                new Symbol("main", 0x1000, 0x100),
                new Symbol("a", 0x1100, 0),
                new Symbol("b\u001b[2J", 0x1200, -1)));
    return new ImageInfo(
        IMAGE_ID,
        "prog.elf",
        "model",
        new ImageTraits(random.nextBoolean(), random.nextBoolean(), HANDLER, end, copied),
        symbols,
        random.nextBoolean() ? 4 : 8,
        random.nextBoolean() ? LongList.of() : LongList.of(addresses),
        random.nextBoolean() ? SYSTEM_CALLS : "",
        random.nextBoolean() ? symbols : SymbolTable.EMPTY);
  }

  private int pick(int... from) {
    return from[random.nextInt(from.length)];
  }

  private long pick(long... from) {
    return from[random.nextInt(from.length)];
  }

  private long edge() {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextLong();
      case 1 -> random.nextBoolean() ? Long.MAX_VALUE : Long.MIN_VALUE;
      default -> random.nextInt(-3, 4);
    };
  }

  private List<Step> steps() {
    List<Core> cores = new ArrayList<>();
    for (int i = 0, count = pick(1, 1, 2, 4); i < count; i++) {
      cores.add(new Core(new CoreKey(i < 3 ? "s" : "t", "core" + i)));
    }
    int chunkSize = pick(1, 3, 10, 40, 200, 2000);
    int chunks = 1 + random.nextInt(chunkSize > 100 ? 12 : 60);
    List<Step> steps = new ArrayList<>();
    List<Send> kept = new ArrayList<>();
    for (int i = 0; i < chunks; i++) {
      Send sent = cores.get(random.nextInt(cores.size())).chunk(chunkSize);
      int fate = random.nextInt(20);
      if (fate < 2) {
        kept.add(sent); // comes late, or never
      } else {
        steps.add(sent);
        if (fate == 2) {
          steps.add(sent); // and again
        }
      }
      if (!kept.isEmpty() && random.nextInt(8) == 0) {
        steps.add(kept.remove(random.nextInt(kept.size())));
      }
      if (random.nextInt(12) == 0) {
        Other[] all = Other.values();
        steps.add(all[random.nextInt(all.length)]);
      }
    }
    return steps;
  }

  /** A core that sends. */
  private final class Core {
    private final CoreKey key;
    private final Map<Long, List<long[]>> stacks = new HashMap<>();
    private final List<List<long[]>> interrupts = new ArrayList<>();
    private List<long[]> stack = new ArrayList<>();
    private long task;
    private long sequence;
    private long before;
    private long time;

    Core(CoreKey key) {
      this.key = key;
    }

    Send chunk(int most) {
      int size = random.nextInt(most + 1);
      RecordBatch batch = new RecordBatch(size);
      batch.setImages(random.nextInt(3) == 0 ? IMAGES : List.of());
      if (wildTimes && random.nextInt(10) == 0) {
        time = edge();
      }
      final long first = random.nextInt(100) == 0 ? Math.min(time, edge()) : time;
      final long at = random.nextInt(20) == 0 ? anyTask() : task;
      int open = random.nextInt(20) == 0 ? anyDepth() : interrupts.size();
      while (batch.size() < size) {
        add(batch);
      }
      ChunkMeta meta =
          new ChunkMeta(
              random.nextInt(200) == 0 ? edge() & Long.MAX_VALUE : sequence,
              random.nextInt(100) == 0 ? edge() & (Long.MAX_VALUE >> 1) : before,
              random.nextInt(20) == 0 ? 1 + random.nextInt(5) : 0,
              random.nextInt(40) == 0 ? edge() & Long.MAX_VALUE : 0,
              random.nextInt(40) == 0 ? edge() & Long.MAX_VALUE : 0,
              random.nextInt(40) == 0 ? edge() & Long.MAX_VALUE : 0,
              first,
              random.nextInt(100) == 0 ? Math.max(time, edge()) : time,
              random.nextInt(500) == 0 ? ClockUnit.NANOSECONDS : ClockUnit.INSTRUCTIONS,
              random.nextInt(60) == 0 ? CoreEnd.HALTED : CoreEnd.RUNNING,
              "",
              at,
              Math.clamp(open, 0, Chunks.DEPTH_MAX));
      if (random.nextInt(3) == 0 && first >= 0 && open >= 0 && open <= MOST_NESTED) {
        batch.setKeyframe(lie(first, at, open, batch.images().size()));
      }
      sequence += random.nextInt(40) == 0 ? random.nextInt(5) : 1;
      before += random.nextInt(40) == 0 ? random.nextInt(100) : size;
      return new Send(key, meta, batch);
    }

    /** A keyframe that lies, as far as a reader lets it. */
    private Keyframe lie(long first, long at, int open, int images) {
      Keyframe.Builder to = new Keyframe.Builder();
      if (images > 0) {
        RecordBatch maps = new RecordBatch(MAPS);
        long place = anyAddress() & Long.MAX_VALUE >> 1;
        for (int left = random.nextInt(MAPS + 1); left > 0; left--) {
          int bytes = 1 + random.nextInt(1 << 20);
          maps.add(RecordBatch.MAP, 0, random.nextInt(images), place, bytes, anyLink(), 5);
          place += bytes + random.nextInt(2);
        }
        to.maps(maps);
      }
      RecordBatch names = new RecordBatch(MAPS);
      long named = random.nextBoolean() ? 0 : anyTask();
      for (int left = random.nextInt(MAPS + 1); left > 0; left--) {
        new TaskName(edge(), edge()).addTo(names, 0, named);
        named += named < 0 ? 0 : 1 + random.nextInt(3);
        left = named < 0 ? 1 : left; // ids are in order
      }
      to.names(names);
      for (int other = random.nextInt(3); other > 0; other--) {
        lie(to, RecordBatch.TASK, anyTask(), first);
      }
      to.last();
      lie(to, RecordBatch.TASK, at, first);
      for (int nested = 0; nested < open; nested++) {
        lie(to, RecordBatch.INTERRUPT_ENTER, edge(), first);
      }
      return to.build();
    }

    private void lie(Keyframe.Builder to, byte kind, long name, long first) {
      int frames = random.nextInt(4);
      int live = frames + random.nextInt(3);
      int shown = live + random.nextInt(3);
      if (kind == RecordBatch.TASK) {
        to.task(name, shown, live);
      } else {
        to.interrupt(name, edge(), first, shown, live);
      }
      for (int depth = live - frames; depth < live; depth++) {
        to.frame(depth, first, edge(), edge(), edge(), edge());
      }
    }

    private void add(RecordBatch batch) {
      tick();
      boolean follows = style != 0 && (style == 1 || random.nextInt(mutateOneIn) > 0);
      if (!follows) {
        any(batch);
      } else if (random.nextInt(othersOneIn) == 0) {
        other(batch);
      } else {
        call(batch);
      }
    }

    private void tick() {
      if (random.nextInt(3) > 0) {
        time = Math.max(time, time + random.nextInt(10));
      } else if (wildTimes && random.nextInt(30) == 0) {
        time = Math.max(time, edge());
      }
    }

    private void any(RecordBatch batch) {
      byte kind = (byte) random.nextInt(RecordBatch.KINDS);
      kind = RecordBatch.isKind(kind) ? kind : RecordBatch.LOST;
      long self = kind == RecordBatch.LOST ? lost() : anyAddress();
      long from = kind == RecordBatch.TASK ? random.nextInt(4) : anyAddress();
      if (RecordBatch.isOfMaps(kind)) {
        map(kind, batch);
        return;
      }
      batch.add(kind, time, anyDepth(), self, from, anyAddress(), anyAddress());
    }

    /** As far as a reader lets it: bytes that fit, an image that is named. */
    private void map(byte kind, RecordBatch batch) {
      long start = anyAddress() & Long.MAX_VALUE - (random.nextInt(16) == 0 ? 0 : 0xfff);
      long bytes = 1L + random.nextInt(1 << random.nextInt(1, 24));
      boolean isMap = kind == RecordBatch.MAP && !batch.images().isEmpty();
      batch.add(
          isMap ? RecordBatch.MAP : RecordBatch.UNMAP,
          time,
          isMap ? random.nextInt(batch.images().size()) : 0,
          start,
          bytes,
          isMap ? anyLink() : 0,
          isMap ? random.nextInt(8) : 0);
    }

    private long anyLink() {
      return random.nextInt(8) == 0 ? edge() : random.nextInt(1 << 20);
    }

    private long lost() {
      return random.nextInt(10) == 0 ? Math.max(1, edge()) : 1 + random.nextInt(6);
    }

    private long anyAddress() {
      return style == 3 && random.nextInt(10) == 0
          ? edge()
          : addresses[random.nextInt(addresses.length)];
    }

    private long anyTask() {
      return tasks[random.nextInt(tasks.length)];
    }

    private int anyDepth() {
      return switch (random.nextInt(12)) {
        case 0 -> maxDepth - 1;
        case 1 -> maxDepth;
        case 2 -> random.nextInt(20) == 0 ? Chunks.DEPTH_MAX - 1 : random.nextInt(maxDepth + 2);
        case 3 -> Math.max(0, stack.size() - 1);
        case 4 -> stack.size();
        default -> random.nextInt(6);
      };
    }

    /** An entry or exit as it may follow. */
    private void call(RecordBatch batch) {
      int depth = stack.size();
      boolean deep = depth >= Math.min(maxDepth + 1, 3 + addresses.length * 4);
      if (depth > 0 && (deep || random.nextBoolean())) {
        long[] f = stack.removeLast();
        exit(batch, depth - 1, f);
        return;
      }
      boolean tail = depth > 0 && random.nextInt(10) == 0;
      long slot = 0x8000 - 0x20L * depth;
      long from = tail ? HANDLER + 16 : anyAddress();
      long[] f = {anyAddress(), from, slot, slot + 8};
      stack.add(f);
      batch.add(RecordBatch.ENTRY, time, depth, f[0], f[1], f[2], f[3]);
    }

    private void exit(RecordBatch batch, int depth, long[] f) {
      int wrong = random.nextInt(8 * mutateOneIn);
      batch.add(
          RecordBatch.EXIT,
          time,
          depth,
          wrong == 0 ? anyAddress() : f[0],
          wrong == 1 ? anyAddress() : f[1],
          wrong == 2 ? anyAddress() : f[2],
          wrong == 3 ? anyAddress() : f[3]);
    }

    /** Adds any other record that may come. */
    private void other(RecordBatch batch) {
      int depth = stack.size();
      switch (random.nextInt(12)) {
        case 0 -> batch.add(RecordBatch.LOST, time, 0, lost(), 0, 0, 0);
        case 1 -> {
          int overrun = random.nextInt(4) == 0 ? depth : 0;
          batch.add(RecordBatch.FUNCTION, time, overrun, anyAddress(), anyAddress(), 0, 0);
        }
        case 2, 3 -> values(batch);
        case 4 -> batch.add(RecordBatch.SYS_ENTER, time, depth, pick(1, 2), anyAddress(), 0, 0);
        case 5 -> batch.add(RecordBatch.SYS_EXIT, time, depth, pick(1, 2), edge(), 0, 0);
        case 6 -> batch.add(RecordBatch.MARK, time, 0, anyAddress(), pick(0, 1, 5), 1, 0);
        case 7, 8 -> task(batch);
        case 9 -> {
          batch.add(RecordBatch.INTERRUPT_ENTER, time, depth, pick(32, 33), anyAddress(), 0, 0);
          interrupts.add(stack);
          stack = new ArrayList<>();
        }
        case 10 -> {
          batch.add(RecordBatch.INTERRUPT_EXIT, time, depth, pick(32, 33), anyAddress(), 0, 0);
          stack = interrupts.isEmpty() ? stack : interrupts.removeLast();
        }
        default -> {
          long to = anyAddress();
          batch.add(RecordBatch.SMASHED, time, Math.max(0, depth - 1), anyAddress(), to, 0, to + 1);
          if (depth > 0) {
            stack.removeLast();
          }
        }
      }
    }

    private void values(RecordBatch batch) {
      int format = random.nextBoolean() ? 0x100 + random.nextInt(4) : random.nextInt(1 << 20);
      batch.add(RecordBatch.VALUES, time, format, edge(), edge(), anyAddress(), 0);
    }

    private void task(RecordBatch batch) {
      stacks.put(task, stack);
      interrupts.clear();
      long next = anyTask();
      TaskEvent[] events = TaskEvent.values();
      TaskEvent event = events[random.nextInt(events.length)];
      switch (event) {
        case STARTED -> {
          task = next;
          stack = new ArrayList<>();
        }
        case ENDED -> {
          next = random.nextInt(4) > 0 ? task : next;
          stacks.remove(next);
          task = 0;
          stack = stacks.getOrDefault(0L, new ArrayList<>());
        }
        case SWITCHED -> {
          task = next;
          stack = stacks.computeIfAbsent(next, _ -> new ArrayList<>());
        }
      }
      batch.add(RecordBatch.TASK, time, stack.size(), next, event.code(), 0x7000, 0);
    }
  }

  /** Shorter ones have nothing to change. */
  static final int LEAST_TO_FORGE = 32;

  /** A snapshot in which something is changed, under a checksum that is right. */
  static byte[] forge(byte[] snapshot, SplittableRandom random) {
    ByteBuffer bytes = ByteBuffer.wrap(snapshot.clone());
    int end = snapshot.length - Long.BYTES;
    for (int changes = 1 + random.nextInt(3); changes > 0; changes--) {
      int at = Integer.BYTES + 1 + random.nextInt(end - Integer.BYTES - 1 - Long.BYTES);
      int small = random.nextInt(-2, 6);
      switch (random.nextInt(6)) {
        case 0 -> bytes.put(at, (byte) random.nextInt());
        case 1 -> bytes.put(at, (byte) (bytes.get(at) ^ 1 << random.nextInt(Byte.SIZE)));
        case 2 -> bytes.putInt(at, random.nextBoolean() ? small : Integer.MAX_VALUE - small);
        case 3 -> bytes.putInt(at, bytes.getInt(at) + small);
        case 4 -> bytes.putLong(at, random.nextBoolean() ? small : Long.MAX_VALUE - small);
        default -> bytes.put(at, snapshot, at % (end - 8), Math.min(8, end - at));
      }
    }
    CRC32C crc = new CRC32C();
    crc.update(bytes.array(), 0, end);
    return bytes.putLong(end, crc.getValue()).array();
  }

  /** A step, or one record of the chunk that comes next: the smallest part that can be left out. */
  record Line(Step step, RecordBatch of, int record) {
    @Override
    public String toString() {
      return of == null
          ? step instanceof Send send ? "send " + send.core() + " " + send.meta() : step.toString()
          : "  kind %d time %d depth %d self %#x from %#x retp %#x fp %#x"
              .formatted(
                  of.kind[record],
                  of.time[record],
                  of.depth[record],
                  of.selfPc[record],
                  of.fromPc[record],
                  of.retP[record],
                  of.fp[record]);
    }
  }

  /** All steps with their records, which stand ahead of their chunk. */
  static List<Line> lines(List<Step> steps) {
    List<Line> lines = new ArrayList<>();
    for (Step step : steps) {
      if (step instanceof Send send) {
        for (int i = 0; i < send.batch().size(); i++) {
          lines.add(new Line(null, send.batch(), i));
        }
      }
      lines.add(new Line(step, null, 0));
    }
    return lines;
  }

  /** The steps of these lines: what records there are is in the chunk behind them. */
  static List<Step> steps(List<Line> lines) {
    List<Step> steps = new ArrayList<>();
    RecordBatch batch = new RecordBatch(lines.size());
    for (Line line : lines) {
      if (line.of() != null) {
        batch.addAll(line.of(), line.record(), line.record() + 1);
      } else if (line.step() instanceof Send send) {
        steps.add(new Send(send.core(), send.meta(), batch));
        batch = new RecordBatch(lines.size());
      } else {
        steps.add(line.step());
      }
    }
    return steps;
  }
}
