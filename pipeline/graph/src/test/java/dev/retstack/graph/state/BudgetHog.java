package dev.retstack.graph.state;

import dev.retstack.graph.Stream;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.totals.CallTotals;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.graph.tree.CallTreeLog;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.ValuesDepth;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Cores that make a state grow, each in one way, beside a few good ones; under a budget, in a small
 * heap. What it prints is a line for each way: chunks sent and refused, what the accounts say, and
 * what the heap holds.
 */
final class BudgetHog {
  private static final int GOOD_CORES = 6;

  /**
   * Good cores that need no more than each is promised: the columns of a tree of 609 rows. The
   * others fill more.
   */
  private static final int SMALL_CORES = 3;

  /** What cannot be left out may be beyond the budget by so much. */
  private static final int SLACK = 256 << 10;

  private static final int GOOD_ROUNDS = 40;
  private static final GraphLimits LIMITS = GraphLimits.DEFAULT.withTreeCallsPerCore(4_000);

  /** Ways to grow. */
  enum Way {
    TASKS(5_000),
    CORES(4, 30),
    SESSIONS(4),
    STACKS(16_384),
    FUNCTIONS(4_000),
    TREES(8_000, 2),
    INTERRUPTS(4_000, 10),
    ANOMALIES(2_000),
    LOSSES(1_000),
    VALUES(4_000, 3),
    SYSTEM_CALLS(4_000),
    IMAGES(4),
    BIG_IMAGES(4),
    NAMES(4, 30);

    private final int records;

    /** Chunks for each of the others: small cores rest, and many of them have room. */
    private final int times;

    Way(int records) {
      this(records, 1);
    }

    Way(int records, int times) {
      this.records = records;
      this.times = times;
    }

    /** Names of cores, in each of seven sessions: as many as a member has no room for. */
    private int names() {
      return this == INTERRUPTS ? 6_000 : 1_500; // 2 KB at rest: 80 MiB hold 30,000
    }

    /** The least budget in which its growth is seen beside all that a state has at first. */
    private long mebibytes() {
      return switch (this) {
        case SESSIONS, IMAGES, BIG_IMAGES -> 16;
        default -> 8;
      };
    }
  }

  private final Way way;
  private final SplittableRandom random;
  private final StateBudget budget;
  private final GraphState truth = new GraphState(LIMITS);
  private final Map<CoreKey, long[]> sent = new HashMap<>();
  private final RecordBatch batch = new RecordBatch(1 << 15);
  private GraphState state;

  /** Symbols of the next image: those of one that was refused are not made again. */
  private SymbolTable spare;

  private long time;
  private int depth;
  private int refused;

  private BudgetHog(Way way, long seed, long bytes) {
    this.way = way;
    this.budget = new StateBudget(bytes, 1 << 20);
    this.state = new GraphState(LIMITS, TimeRules.DEFAULT, budget);
    this.random = new SplittableRandom(seed);
  }

  /**
   * Arguments: the seed, chunks of each way, MiB of the budget, and how many refused chunks of a
   * way are enough of it.
   */
  public static void main(String[] arguments) throws IOException {
    long seed = Long.parseLong(arguments[0]);
    int chunks = Integer.parseInt(arguments[1]);
    long mebibytes = Long.parseLong(arguments[2]);
    int enough = Integer.parseInt(arguments[3]);
    List<Way> ways =
        arguments.length > 4 ? List.of(Way.valueOf(arguments[4])) : List.of(Way.values());
    for (Way way : ways) {
      long bytes = Math.max(way.mebibytes(), mebibytes) << 20;
      new BudgetHog(way, seed, bytes).run(way.times * chunks, enough);
    }
  }

  private void run(int most, int enough) throws IOException {
    int chunks = most;
    final long start = System.nanoTime();
    long peak = 0;
    truth.image(Stream.IMAGE);
    require(state.image(Stream.IMAGE), "the image of the good cores");
    final long before = heap(); // not before the libraries that a state needs are open
    for (int i = 0; i < chunks; i++) {
      if (i % Math.max(1, most / GOOD_ROUNDS) == 0) {
        good();
      }
      hostile(i);
      chunks = refused < enough ? chunks : i + 1;
      if (i % Math.max(1, most / 4) == 0) {
        read();
        peak = Math.max(peak, heap());
      }
    }
    good();
    read();
    spare = null; // the table that was refused last is this test's own
    final long held = heap() - before;
    peak = Math.max(peak, heap());
    final long used = state.bytes();
    long stat = state.stats().get(Stat.STATE_FULL);
    for (CoreSummary core : state.summaries()) {
      stat += core.stats().get(Stat.STATE_FULL);
    }
    right("among hostile ones");
    System.out.printf(
        "%s %d %d %d %d %d %d %d %d%n",
        way,
        chunks,
        refused,
        stat,
        state.summaries().size(),
        used >> 10,
        held >> 10,
        peak >> 10,
        (System.nanoTime() - start) / 1_000_000_000);
    restart();
    good();
    right("after a restart");
    state.close();
    require(budget.held() == 0, "left behind: " + budget.held());
    require(budget.reserved() == 0, "still promised: " + budget.reserved());
  }

  /** Whoever asks for all that is shown of it makes it no larger than it may be. */
  private void read() {
    state.profiles((key, _) -> require(state.hasImage(key.imageId()), "the image of " + key));
    require(state.cores().size() == state.summaries().size(), "cores are missing");
    require(
        budget.held() <= budget.limit() + SLACK,
        "after a read %d of %d KiB are held".formatted(budget.held() >> 10, budget.limit() >> 10));
  }

  /** What is restored in a budget of half the size is there, and nothing new is taken. */
  private void restart() throws IOException {
    byte[] bytes = state.copy();
    state.close();
    state = null;
    require(budget.held() == 0, "left behind: " + budget.held());
    require(budget.reserved() == 0, "still promised: " + budget.reserved());
    state = GraphState.ofCopy(bytes, LIMITS, budget);
  }

  private static void require(boolean what, String sentence) {
    if (!what) {
      throw new AssertionError(sentence);
    }
  }

  private static long heap() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  // good cores

  private void good() {
    for (int core = 0; core < GOOD_CORES; core++) {
      CoreKey key = new CoreKey("good", "good" + core);
      long[] at = sent.computeIfAbsent(key, _ -> new long[3]);
      batch.clear();
      long now = at[2];
      for (int i = 0; i < (core < SMALL_CORES ? 3 : 20); i++) {
        int calls = 1 + random.nextInt(6);
        for (int d = 0; d < calls; d++) {
          batch.add(RecordBatch.ENTRY, ++now, d, goodFunction(d), 0x900 + d, 0, 0);
        }
        for (int d = calls - 1; d >= 0; d--) {
          batch.add(RecordBatch.EXIT, ++now, d, goodFunction(d), 0x900 + d, 0, 0);
        }
      }
      at[2] = now;
      ChunkMeta meta = ChunkMeta.running(at[0], at[1], batch.time[0], now, ClockUnit.INSTRUCTIONS);
      at[0]++;
      at[1] += batch.size();
      truth.apply(meta, key, Stream.IMAGE_ID, batch);
      ApplyResult result = state.apply(meta, key, Stream.IMAGE_ID, batch);
      require(result == ApplyResult.APPLIED, "a chunk of a good core is " + result);
    }
  }

  private static long goodFunction(int depth) {
    return 0x1000 + 0x100L * depth;
  }

  /**
   * A good core within what it was promised is what it would be alone. A larger one may lack rows
   * of its tree, the last ones, and counts them.
   */
  private void right(String when) {
    Map<CoreKey, CoreGraph> alone = good(truth);
    Map<CoreKey, CoreGraph> cores = good(state);
    require(cores.keySet().equals(alone.keySet()), "good cores are missing " + when);
    for (CoreKey key : alone.keySet()) {
      CallTreeLog tree = cores.get(key).tree();
      int all = alone.get(key).tree().size();
      long cut = cores.get(key).stats().get(Stat.TREE_CALLS_NOT_KEPT);
      boolean small = Integer.parseInt(key.core().substring("good".length())) < SMALL_CORES;
      require(tree.size() + cut == all, "%s %s: %d of %d rows".formatted(key, when, cut, all));
      require(!small || cut == 0, "%s %s lacks %d rows".formatted(key, when, cut));
      List<String> lines = text(cores.get(key), tree.size());
      List<String> expected = text(alone.get(key), tree.size());
      for (int i = 0; i < lines.size(); i++) {
        String alike = expected.get(i);
        String line = lines.get(i);
        if (!line.equals(alike)) { // a sentence for each line would cost more than the cores do
          throw new AssertionError("%s %s: %s, alone %s".formatted(key, when, line, alike));
        }
      }
    }
    require(totals(state).equals(totals(truth)), "totals of good cores " + when);
  }

  private static Map<CoreKey, CoreGraph> good(GraphState of) {
    Map<CoreKey, CoreGraph> cores = new HashMap<>();
    of.summaries().stream()
        .map(CoreSummary::key)
        .filter(key -> key.session().equals("good"))
        .forEach(key -> cores.put(key, of.core(key).orElseThrow()));
    return cores;
  }

  private static List<String> text(CoreGraph core, int rows) {
    List<String> lines = new ArrayList<>();
    lines.add(core.progress() + " " + core.digest());
    for (Stat stat : Stat.values()) {
      if (stat != Stat.STATE_FULL && stat != Stat.TREE_CALLS_NOT_KEPT) {
        lines.add(core.stats().get(stat) + " " + stat);
      }
    }
    for (int row = 0; row < rows; row++) {
      lines.add(core.tree().selfPc(row) + " " + core.tree().exit(row));
    }
    return lines;
  }

  private static List<String> totals(GraphState of) {
    List<String> lines = new ArrayList<>();
    of.profiles(
        (key, profile) -> {
          CallTotals functions = profile.functions();
          for (int i = 0; key.session().equals("good") && i < profile.functionCount(); i++) {
            lines.add(
                "%d %d %d".formatted(functions.calls(i), functions.total(i), functions.self(i)));
          }
        });
    return lines;
  }

  // hostile ones

  private void hostile(int i) {
    batch.clear();
    depth = 0;
    time = 1_000_000L * i;
    CoreKey key = new CoreKey("hostile" + i % 7, "core" + i % way.names());
    String image = Stream.IMAGE_ID;
    switch (way) {
      case CORES -> key = new CoreKey("hostile", "core" + i);
      case SESSIONS -> key = new CoreKey("hostile" + i, "core");
      case NAMES -> key = new CoreKey("hostile", ("core" + i).repeat(100));
      case IMAGES, BIG_IMAGES -> {
        image = "image" + i;
        key = new CoreKey("hostile", "core" + i);
        spare = spare == null ? symbols(image, way == Way.IMAGES ? 200 : 20_000) : spare;
        if (!state.image(new ImageInfo(image, image, "x86_64", Stream.IMAGE.traits(), spare))) {
          refused++;
          return;
        }
        spare = null;
      }
      default -> {}
    }
    while (batch.size() < way.records) {
      time++;
      record();
    }
    long[] at = sent.computeIfAbsent(key, _ -> new long[3]);
    ChunkMeta meta = ChunkMeta.running(at[0], at[1], batch.time[0], time, ClockUnit.INSTRUCTIONS);
    at[0]++;
    at[1] += batch.size();
    ApplyResult result = state.apply(meta, key, image, batch);
    if (result == ApplyResult.NO_ROOM) {
      refused++;
      sent.remove(key);
    }
  }

  private static SymbolTable symbols(String image, int count) {
    List<SymbolTable.Symbol> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(new SymbolTable.Symbol(image + "_function_" + i, 0x1000 + 0x10L * i, 0x10));
    }
    return SymbolTable.of(all);
  }

  private void record() {
    switch (way) {
      case TASKS -> {
        add(RecordBatch.TASK, 0, batch.size() / 2, TaskEvent.SWITCHED.code());
        add(RecordBatch.ENTRY, 0, Stream.A, 0x900);
      }
      case STACKS -> add(RecordBatch.ENTRY, depth++, Stream.A, 0x900);
      case FUNCTIONS -> {
        long function = random.nextLong() >>> 20 << 4;
        add(RecordBatch.ENTRY, 0, function, 0x900);
        add(RecordBatch.EXIT, 0, function, 0x900);
      }
      case INTERRUPTS -> add(RecordBatch.INTERRUPT_ENTER, 0, random.nextInt(10_000), 0x10);
      case ANOMALIES -> {
        add(RecordBatch.ENTRY, depth++ % 60, function(), 0x900);
        add(RecordBatch.EXIT, random.nextInt(60), function(), 0x900);
      }
      case LOSSES -> {
        add(RecordBatch.ENTRY, depth++, function(), 0x900);
        add(RecordBatch.LOST, 0, 1 + random.nextInt(9), 0);
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
        add(RecordBatch.SYS_EXIT, 0, number, 1);
      }
      default -> {
        add(RecordBatch.ENTRY, 0, Stream.A, 0x900);
        add(RecordBatch.EXIT, 0, Stream.A, 0x900);
      }
    }
  }

  private long function() {
    return 0x10_0000L + 16L * random.nextInt(64);
  }

  private void add(byte kind, int at, long self, long from) {
    batch.add(kind, time, at, self, from, 0, 0);
  }
}
