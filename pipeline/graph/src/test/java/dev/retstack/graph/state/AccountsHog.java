package dev.retstack.graph.state;

import dev.retstack.graph.Stream;
import dev.retstack.graph.calls.LinkedCalls;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.RecordLinks;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.ValuesDepth;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * States of several shapes, each of some cores that do the same. A line for each: the bytes by its
 * accounts, those of the heap that it keeps, and both once it was written and read back.
 */
final class AccountsHog {
  private static final int CORES = 24;

  /** Where not all are asked for. */
  private static final int SOME_CORES = 12;

  /** Of shapes of which each core alone has megabytes. */
  private static final int BIG_CORES = 6;

  private static final int CHUNKS = 12;
  private static final long BUDGET = 1L << 30;

  /** In which most cores rest: quiet ones, and those with full trees. */
  private static final long TIGHT = 256 << 10;

  private static final long TIGHT_TREES = 600 << 10;

  /** What serves all cores while a chunk is taken; STATE.md has its size. */
  private static final Set<Class<?>> SHARED =
      Set.of(RecordLinks.class, LinkedCalls.class, StateBudget.class);

  private final Shape shape;
  private final int cores;
  private final GraphLimits limits;
  private final HeapWalk walk = new HeapWalk(SHARED);
  private final SplittableRandom random = new SplittableRandom(17);
  private final RecordBatch batch = new RecordBatch(1 << 14);
  private long time;

  /** What the cores do. */
  enum Shape {
    QUIET_NO_TREE(0, 40),
    BUSY_NO_TREE(0, 4_000),
    QUIET(10_000, 4),
    CALLS(10_000, 1_000),
    HALF_TREES(10_000, 800),
    FULL_TREES(4_000, 4_000),
    TASKS(10_000, 2_000, BIG_CORES),
    TASKS_NO_TREE(0, 4_000, BIG_CORES),
    TASKS_ENDED(4_000, 4_000, BIG_CORES),
    STACKS(4_000, 4_000, BIG_CORES),
    STACKS_NO_TREE(0, 4_000, BIG_CORES),
    FUNCTIONS(4_000, 4_000),
    INTERRUPTS(4_000, 1_000),
    LOSSES(4_000, 400),
    ANOMALIES(4_000, 400),
    VALUES(4_000, 600),
    SYSTEM_CALLS(4_000, 1_000),
    MARKS(4_000, 400),
    HOLES(4_000, 3_000),
    CALLERS(4_000, 1_000),
    NAMES(4_000, 100),
    IMAGES(4_000, 100),
    RESTING(10_000, 4),
    RESTING_NAMES(10_000, 4),
    RESTING_TREES(4_000, 4_000);

    private final int treeRows;
    private final int records;
    private final int cores;

    Shape(int treeRows, int records) {
      this(treeRows, records, SOME_CORES);
    }

    Shape(int treeRows, int records, int cores) {
      this.treeRows = treeRows;
      this.records = records;
      this.cores = cores;
    }
  }

  private AccountsHog(Shape shape, boolean inFull) {
    this.shape = shape;
    this.cores = inFull ? CORES : shape.cores;
    this.limits = GraphLimits.DEFAULT.withTreeCallsPerCore(shape.treeRows);
  }

  public static void main(String[] arguments) throws Exception {
    boolean inFull = arguments.length > 0 && arguments[0].equals("full");
    String one = arguments.length > (inFull ? 1 : 0) ? arguments[inFull ? 1 : 0] : "";
    for (Shape shape : Shape.values()) {
      if (one.isEmpty() || shape.name().equals(one)) {
        new AccountsHog(shape, inFull).run(!one.isEmpty());
      }
    }
  }

  private void run(boolean told) throws Exception {
    StateBudget budget =
        new StateBudget(
            switch (shape) {
              case RESTING, RESTING_NAMES -> TIGHT;
              case RESTING_TREES -> TIGHT_TREES;
              default -> BUDGET;
            },
            0);
    GraphState state = new GraphState(limits, TimeRules.DEFAULT, budget);
    final long nothing = walk.bytes(state);
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
      for (int core = 0; core < cores; core++) {
        send(state, chunk, core);
      }
    }
    final long held = walk.bytes(state) - nothing;
    if (told) {
      walk.byClass().entrySet().stream()
          .sorted(Map.Entry.<Class<?>, Long>comparingByValue().reversed())
          .limit(40)
          .forEach(e -> System.out.printf("%8d %s%n", e.getValue() / cores, e.getKey()));
    }
    final long accounts = budget.held();
    GraphState read = restart(state, budget);
    System.out.printf(
        "%s %d %d %d %d%n", shape, accounts, held, budget.held(), walk.bytes(read) - nothing);
    read.close();
    if (budget.held() != 0) {
      throw new AssertionError(shape + " leaves behind " + budget.held());
    }
  }

  private GraphState restart(GraphState state, StateBudget budget) throws IOException {
    byte[] copy = state.copy();
    state.close();
    return GraphState.ofCopy(copy, limits, budget);
  }

  private void send(GraphState state, int chunk, int core) {
    String name = "core" + core;
    CoreKey key = new CoreKey("session", isNamed() ? name.repeat(400) : name);
    String image = shape == Shape.IMAGES ? "image" + core : Stream.IMAGE_ID;
    if (!state.hasImage(image)) {
      state.image(image(image));
    }
    batch.clear();
    time = 1_000_000L * chunk;
    for (int depth = 0; batch.size() < shape.records; depth++) {
      time++;
      record(depth, chunk);
    }
    long before = (long) chunk * batch.size();
    ChunkMeta meta = ChunkMeta.running(chunk, before, batch.time[0], time, ClockUnit.INSTRUCTIONS);
    ApplyResult result = state.apply(meta, key, image, batch);
    if (result != ApplyResult.APPLIED) {
      throw new AssertionError(shape + ": a chunk is " + result);
    }
  }

  private boolean isNamed() {
    return shape == Shape.NAMES || shape == Shape.RESTING_NAMES;
  }

  private ImageInfo image(String id) {
    List<SymbolTable.Symbol> symbols = new ArrayList<>();
    LongArrayList sites = new LongArrayList();
    for (int i = 0; i < (shape == Shape.IMAGES ? 2_000 : 64); i++) {
      symbols.add(new SymbolTable.Symbol(id + "_function_" + i, 0x1000 + 0x10L * i, 0x10));
      sites.add(0x1000 + 0x10L * i);
    }
    SymbolTable table = SymbolTable.of(symbols);
    sites.trim();
    return new ImageInfo(id, id, "x86_64", Stream.IMAGE.traits(), table, Long.BYTES, sites, "");
  }

  private void record(int depth, int chunk) {
    switch (shape) {
      case TASKS, TASKS_NO_TREE -> {
        add(RecordBatch.TASK, 0, batch.size() / 2, TaskEvent.SWITCHED.code());
        add(RecordBatch.ENTRY, chunk, Stream.A, 0x900);
      }
      case TASKS_ENDED -> {
        add(RecordBatch.TASK, 0, batch.size(), TaskEvent.STARTED.code());
        add(RecordBatch.TASK, 0, batch.size() - 1, TaskEvent.SWITCHED.code());
        add(RecordBatch.ENTRY, 0, Stream.A, 0x900);
        add(RecordBatch.TASK, 0, batch.size() - 3, TaskEvent.ENDED.code());
      }
      case STACKS, STACKS_NO_TREE ->
          add(RecordBatch.ENTRY, chunk * shape.records + depth, Stream.A, 0x900);
      case FUNCTIONS -> pair(0x10_0000L + 16L * random.nextInt(100_000));
      case INTERRUPTS -> {
        add(RecordBatch.INTERRUPT_ENTER, 0, random.nextInt(10_000), 0x10);
        pair(function());
      }
      case LOSSES -> {
        add(RecordBatch.ENTRY, depth, function(), 0x900);
        add(RecordBatch.LOST, 0, 1 + random.nextInt(9), 0);
      }
      case HOLES -> {
        for (int d = 0; d < 500; d++) {
          add(RecordBatch.ENTRY, d, function(), 0x900);
        }
        for (int d = 500; d < 700; d += 2) {
          add(RecordBatch.LOST, 0, 1, 0);
          add(RecordBatch.ENTRY, d, function(), 0x900);
        }
      }
      case CALLERS -> add(RecordBatch.FUNCTION, 0, function(), 0x1000 + random.nextInt(1 << 20));
      case ANOMALIES -> {
        add(RecordBatch.ENTRY, depth % 60, function(), 0x900);
        add(RecordBatch.EXIT, random.nextInt(60), function(), 0x900);
      }
      case VALUES -> {
        add(RecordBatch.ENTRY, 0, function(), 0x900);
        for (int index = 0; index < 5; index++) {
          add(RecordBatch.VALUES, ValuesDepth.of(4 * index, 4, 0), 1, 2);
        }
      }
      case SYSTEM_CALLS -> {
        long number = random.nextInt(10_000);
        add(RecordBatch.SYS_ENTER, 0, number, 1);
        time += random.nextInt(9);
        add(RecordBatch.SYS_EXIT, 0, number, 1);
      }
      case MARKS -> {
        add(RecordBatch.ENTRY, depth % 60, function(), 0x900);
        add(RecordBatch.MARK, 0, function(), 1);
      }
      default -> pair(Stream.A);
    }
  }

  private void pair(long function) {
    add(RecordBatch.ENTRY, 0, function, 0x900);
    add(RecordBatch.EXIT, 0, function, 0x900);
  }

  private long function() {
    return 0x10_0000L + 16L * random.nextInt(64);
  }

  private void add(byte kind, int at, long self, long from) {
    batch.add(kind, time, at, self, from, 0, 0);
  }
}
