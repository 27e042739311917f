package dev.retstack.graph.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.ValuesDepth;
import dev.retstack.testing.Seeds;
import it.unimi.dsi.fastutil.longs.LongList;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A packed log is the log that it was, whatever is told of its rows afterwards. */
class PackedTreeTest {
  private static final int LIMIT = 300;
  private final long seed = Seeds.fresh();

  @Test
  void aPackedLogIsTheUnpackedOneRowByRow() throws IOException {
    for (int round = 0; round < 60; round++) {
      SplittableRandom random = new SplittableRandom(seed + round);
      Pair logs = new Pair(random);
      logs.fill();
      logs.packed.seal();
      assertThat(logs.packed.isPacked()).isTrue();
      for (int step = 0; step < 200; step++) {
        logs.change();
        if (random.nextInt(20) == 0) {
          logs.packed.seal();
        }
        if (random.nextInt(20) == 0) {
          logs.packed = written(logs.packed, LIMIT);
        }
      }
      same(round, logs.packed, logs.plain);
    }
  }

  @Test
  void callsThatEndLeaveItPacked() {
    Pair logs = new Pair(new SplittableRandom(seed));
    logs.fill();
    logs.packed.seal();
    for (int row = 0; row < LIMIT; row++) {
      if (logs.wasOpen(row)) {
        int open = row;
        logs.both(log -> log.finish(open, 1 << 20, Ending.TRUNCATED));
        logs.both(log -> log.setTimes(open, 3, 0));
      }
      int bounded = row;
      logs.both(log -> log.bound(bounded, 1 << 21));
    }
    assertThat(logs.packed.isPacked()).isTrue();
    same(0, logs.packed, logs.plain);
  }

  /** Cut off at the first instant, over by the last one. */
  @Test
  void aBoundAtTheEndOfTimeIsReadBack() throws IOException {
    CallTreeLog log = new CallTreeLog(1, StateBudget.UNLIMITED.open(0));
    assertThat(log.isFull()).isFalse();
    int row = log.enter(0x1000, CallTreeLog.NONE, 0);
    log.seal();
    log.finish(row, 0, Ending.TRUNCATED);
    log.bound(row, Long.MAX_VALUE);
    assertThat(log.isPacked()).isTrue();
    assertThat(written(log, 1).deadBy(row)).isEqualTo(Long.MAX_VALUE);
  }

  /** Ten thousand cores that began together did not fit until the first checkpoint packed them. */
  @Test
  void aFullTreeIsPackedWithItsChunkWhereTheBudgetCounts() {
    assertThat(treeOfFullCore(new StateBudget(1 << 20, 0)).isPacked()).isTrue();
    assertThat(treeOfFullCore(StateBudget.UNLIMITED).isPacked()).isFalse();
  }

  private static CallTreeLog treeOfFullCore(StateBudget budget) {
    GraphState state =
        new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(2), TimeRules.DEFAULT, budget);
    state.image(
        new ImageInfo(
            "feed",
            "os.elf",
            "x86_64",
            new ImageTraits(true, true, 0xf000, 0xff00),
            SymbolTable.of(List.of(new SymbolTable.Symbol("main", 0x1000, 0x100))),
            Long.BYTES,
            LongList.of(),
            "",
            SymbolTable.of(List.of())));
    RecordBatch batch = new RecordBatch(6);
    for (int call = 0; call < 3; call++) {
      batch.add(RecordBatch.ENTRY, 10L * call, 0, 0x1000, 0x900, 0x8000, 0x40);
      batch.add(RecordBatch.EXIT, 10L * call + 5, 0, 0x1000, 0x900, 0x8000, 0x40);
    }
    state.apply(
        ChunkMeta.running(0, 0, 0, 25, ClockUnit.INSTRUCTIONS),
        new CoreKey("s", "core0"),
        "feed",
        batch);
    CallTreeLog tree = state.cores().iterator().next().tree();
    assertThat(tree.isFull()).isTrue();
    return tree;
  }

  @Test
  void aHigherLimitGoesOnWithIt() throws IOException {
    Pair logs = new Pair(new SplittableRandom(seed));
    logs.fill();
    logs.packed.seal();
    CallTreeLog higher = written(logs.packed, LIMIT + 1);
    assertThat(higher.isPacked()).isTrue();
    assertThat(higher.isFull()).isFalse();
    assertThat(higher.isPacked()).isFalse();
    assertThat(higher.enter(0x1000, CallTreeLog.NONE, 1 << 20)).isEqualTo(LIMIT);
    assertThatThrownBy(() -> written(logs.packed, LIMIT - 1)).isInstanceOf(IOException.class);
  }

  /** Snapshots have a checksum; who makes them on purpose meets this. */
  @Test
  void hostileBytesAreRefusedOrASoundTree() throws IOException {
    Pair logs = new Pair(new SplittableRandom(seed));
    logs.fill();
    logs.packed.seal();
    byte[] good = bytes(logs.packed);
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 3_000; i++) {
      byte[] bad = i % 4 == 0 ? Arrays.copyOf(good, random.nextInt(good.length)) : good.clone();
      for (int flips = random.nextInt(3); flips >= 0 && bad.length > 0; flips--) {
        bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      }
      CallTreeLog log = new CallTreeLog(LIMIT, StateBudget.UNLIMITED.open(0));
      try {
        ByteInput in = new ByteInput(bad);
        log.readFrom(in, in);
      } catch (IOException e) {
        continue;
      }
      assertThat(log.size()).isLessThanOrEqualTo(LIMIT);
      for (int row = 0; row < log.size(); row++) {
        assertThat(text(log, row)).as("seed %d", seed).isNotEmpty();
        assertThat(log.parent(row)).isLessThan(row);
      }
    }
  }

  private static byte[] bytes(CallTreeLog log) throws IOException {
    ByteOutput out = new ByteOutput(0);
    log.writeTo(out);
    log.writeOpenTo(out);
    return out.take();
  }

  private static CallTreeLog written(CallTreeLog log, int limit) throws IOException {
    CallTreeLog read = new CallTreeLog(limit, StateBudget.UNLIMITED.open(0));
    ByteInput in = new ByteInput(bytes(log));
    read.readFrom(in, in);
    assertThat(in.remaining()).isZero();
    return read;
  }

  private void same(int round, CallTreeLog packed, CallTreeLog plain) {
    assertThat(packed.size()).isEqualTo(plain.size());
    for (int row = 0; row < plain.size(); row++) {
      assertThat(text(packed, row))
          .as("-Dretstack.seed=%d, round %d, row %d", seed, round, row)
          .isEqualTo(text(plain, row));
    }
    int last = plain.size() - 1; // as many values as room is left for
    assertThat(packed.argumentsOf(last).size()).isEqualTo(plain.argumentsOf(last).size());
    assertThat(packed.resultsOf(last).size()).isEqualTo(plain.resultsOf(last).size());
  }

  private static String text(CallTreeLog log, int row) {
    return "%s %x in %d, %d to %d %s, dead by %d, task %d/%d, not run %d, left out %d, %s %s"
        .formatted(
            log.kind(row),
            log.selfPc(row),
            log.parent(row),
            log.enter(row),
            log.exit(row),
            log.ending(row),
            log.deadBy(row),
            log.task(row),
            log.instance(row),
            log.notRun(row),
            log.leftOut(row),
            log.arguments(row),
            log.results(row));
  }

  /** The same log twice; one of them is packed now and then. */
  private static final class Pair {
    private static final LongList LOSS = LongList.of(0, 1, 2, 3, 4, 5, 6);
    final CallTreeLog plain = new CallTreeLog(LIMIT, StateBudget.UNLIMITED.open(0));
    CallTreeLog packed = new CallTreeLog(LIMIT, StateBudget.UNLIMITED.open(0));
    private final SplittableRandom random;
    private final boolean[] open = new boolean[LIMIT];
    private long time;

    Pair(SplittableRandom random) {
      this.random = random;
    }

    boolean wasOpen(int row) {
      return open[row];
    }

    void both(Consumer<CallTreeLog> change) {
      change.accept(packed);
      change.accept(plain);
    }

    void fill() {
      for (int row = 0; row < LIMIT; row++) {
        time += random.nextInt(5);
        int parent = random.nextInt(row + 1) - 1;
        TreeKind kind =
            random.nextInt(4) == 0 ? TreeKind.of(random.nextInt(TreeKind.count())) : TreeKind.CALL;
        long selfPc = 0x1000L + 0x10L * random.nextInt(50);
        long task = random.nextInt(3);
        int instance = 1 + random.nextInt(2);
        int it = row;
        both(
            log -> {
              assertThat(log.enter(kind, selfPc, parent, time)).isEqualTo(it);
              if (parent < 0) {
                log.setTask(it, task, instance);
              }
              if (kind == TreeKind.LOSS) {
                log.argumentsOf(it).set(it, 0, LOSS);
              }
            });
        open[row] = random.nextInt(8) == 0;
        if (!open[row]) {
          change(row);
        }
      }
    }

    void change() {
      change(random.nextInt(LIMIT));
    }

    private void change(int row) {
      time += random.nextInt(5);
      long now = time;
      long elsewhere = random.nextInt(3);
      switch (random.nextInt(6)) {
        case 0 -> both(log -> log.bound(row, now));
        case 1 -> both(log -> log.setTimes(row, elsewhere, 2 * elsewhere));
        case 2 -> {
          int parent = row - 1 - random.nextInt(row + 1);
          both(log -> log.setParent(row, parent));
        }
        case 3 -> {
          int depth = ValuesDepth.of(random.nextInt(6), 1 + random.nextInt(4), 0);
          long[] more = {random.nextInt(9), random.nextInt(9), 7, 0};
          if (plain.kind(row) != TreeKind.LOSS) {
            both(log -> log.argumentsOf(row).add(row, depth, more));
          }
          both(log -> log.resultsOf(row).add(row, depth, more));
        }
        default -> {
          Ending ending = Ending.of(1 + random.nextInt(Ending.count() - 1));
          if (plain.deadBy(row) == CallTreeLog.UNKNOWN) {
            both(log -> log.finish(row, now, ending));
          }
        }
      }
    }
  }
}
