package dev.retstack.graph.calls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.retstack.graph.Stream;
import dev.retstack.graph.calls.GraphEvents.FinishedCall;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.CallerPcs;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.tree.Ending;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Reconstruction throws, at any call that it makes: it costs the core, and nobody else. */
class BrokenCoreTest {
  private static final long SEED = Long.getLong("retstack.seed", 20301);
  private static final CoreKey BAD = new CoreKey("s", "bad");
  private static final CoreKey GOOD = new CoreKey("s", "good");
  private static final GraphLimits LIMITS =
      GraphLimits.DEFAULT.but().treeCallsPerCore(40).functions(3).edges(4).build();

  private int calls;
  private int throwAt = Integer.MAX_VALUE;
  private final List<String> told = new ArrayList<>();

  @AfterEach
  void mend() {
    CoreGraph.accountsOf = CallAccounts::new;
  }

  private void plant() {
    CoreGraph.accountsOf =
        (core, callers) ->
            core.key().equals(BAD) ? new Throwing(core, callers) : new CallAccounts(core, callers);
  }

  /** Throws at the chosen one of all calls that reconstruction makes of it. */
  private final class Throwing extends CallAccounts {
    Throwing(CoreGraph core, CallerPcs callers) {
      super(core, callers);
    }

    private void call() {
      if (++calls == throwAt) {
        throw new NoSuchElementException("planted at call " + throwAt);
      }
    }

    @Override
    void entered(ShadowStack on, int slot, int parent, int caller, long selfPc, long time) {
      call();
      super.entered(on, slot, parent, caller, selfPc, time);
    }

    @Override
    void finished(ShadowStack on, int slot, int parent, long time, Ending ending) {
      call();
      super.finished(on, slot, parent, time, ending);
    }

    @Override
    int linked(ShadowStack on, RecordBatch batch, int first, int room) {
      call();
      return super.linked(on, batch, first, room);
    }

    @Override
    void next() {
      call();
      super.next();
    }

    @Override
    void lost(Loss loss) {
      call();
      super.lost(loss);
    }

    @Override
    boolean found(AnomalyKind kind, long selfPc, long place, long time, long count) {
      call();
      return super.found(kind, selfPc, place, time, count);
    }

    @Override
    void anomaly(Anomaly anomaly) {
      call();
      super.anomaly(anomaly);
    }

    @Override
    void count(Stat stat, long amount) {
      call();
      super.count(stat, amount);
    }

    @Override
    void resumed(ShadowStack next) {
      call();
      super.resumed(next);
    }
  }

  /** Random records of a chunk: calls, returns, losses, mismatches, calls that jump. */
  private static RecordBatch chunk(Random random, long from) {
    RecordBatch batch = new RecordBatch(64);
    int depth = 0;
    while (batch.size() < 30) {
      long at = from + batch.size();
      long self = 0x1000 + 0x100L * random.nextInt(4);
      switch (random.nextInt(depth == 0 ? 5 : 10)) {
        case 8 -> batch.add(RecordBatch.LOST, at, 0, 1 + random.nextInt(3), 0, 0, 0);
        case 9 -> depth = Math.max(0, depth - 1 - random.nextInt(2));
        case 5, 6, 7 -> {
          depth--;
          long fp = Stream.fp(depth) + (random.nextInt(4) == 0 ? 16 : 0);
          batch.add(RecordBatch.EXIT, at, depth, self, 0x1000, Stream.slot(depth), fp);
        }
        default -> {
          batch.add(
              RecordBatch.ENTRY, at, depth, self, 0x1000, Stream.slot(depth), Stream.fp(depth));
          depth++;
        }
      }
    }
    return batch;
  }

  private static ChunkMeta meta(long sequence, RecordBatch batch) {
    return ChunkMeta.running(
        sequence, 30 * sequence, batch.time[0], batch.time[0] + 30, ClockUnit.INSTRUCTIONS);
  }

  private GraphState fresh() {
    GraphState state = new GraphState(LIMITS);
    state.image(Stream.IMAGE);
    listen(state);
    return state;
  }

  private void listen(GraphState state) {
    state.events(
        new GraphEvents() {
          @Override
          public long threshold() {
            return 2;
          }

          @Override
          public void finished(FinishedCall call) {
            told.add(call.toString().replaceAll("@\\w+", "")); // no table by its address
          }

          @Override
          public void anomaly(CoreGraph core, Anomaly found) {
            AnomalyRow row = AnomalyRow.of(core, found);
            told.add(row.toString());
          }
        });
  }

  private static void apply(GraphState state, CoreKey core, long sequence, RecordBatch batch) {
    state.apply(meta(sequence, batch), core, Stream.IMAGE_ID, batch);
  }

  private GraphState twoCores(Random random) {
    GraphState state = fresh();
    for (int i = 0; i < 3; i++) {
      apply(state, BAD, i, chunk(random, 1 + 40L * i));
      apply(state, GOOD, i, chunk(random, 1 + 40L * i));
    }
    return state;
  }

  @Test
  void onACopyFirstItTouchesNothing() throws Exception {
    Random random = new Random(SEED);
    plant();
    GraphState state = twoCores(random);
    state.careful(true);
    RecordBatch next = chunk(random, 200);
    byte[] before = state.copy();
    List<String> pending = List.copyOf(told);

    int n = 0;
    while (true) {
      calls = 0;
      throwAt = ++n;
      BrokenCoreException thrown =
          catchThrowableOfType(BrokenCoreException.class, () -> apply(state, BAD, 3, next));
      if (thrown == null || !thrown.clean()) {
        break; // it makes fewer calls than that
      }
      assertThat(state.copy()).as("seed %d, call %d", SEED, n).isEqualTo(before);
      assertThat(told).isEqualTo(pending);
    }
    assertThat(n).isGreaterThan(60);
  }

  /** What the state was before comes back, and all that is left out is the chunk and its core. */
  @Test
  void goingBackLosesNothingElse() throws Exception {
    Random random = new Random(SEED + 1);
    plant();
    byte[] checkpoint = twoCores(random).copy();
    List<RecordBatch> good = List.of(chunk(random, 200), chunk(random, 240));
    RecordBatch bad = chunk(random, 200);
    GraphState expected = read(checkpoint);
    apply(expected, GOOD, 3, good.getFirst());
    byte[] before = expected.copy();
    apply(expected, GOOD, 4, good.getLast());

    int n = 0;
    while (true) {
      GraphState state = read(checkpoint);
      apply(state, GOOD, 3, good.getFirst());
      calls = 0;
      throwAt = ++n;
      BrokenCoreException thrown =
          catchThrowableOfType(BrokenCoreException.class, () -> apply(state, BAD, 3, bad));
      if (thrown == null) {
        break; // it makes fewer calls than that
      }
      assertThat(thrown.clean()).isFalse();
      assertThat(thrown.key()).isEqualTo(BAD);
      assertThat(thrown.sequence()).isEqualTo(3);
      assertThat(thrown).hasMessageContaining("core bad").hasMessageContaining("planted");

      // one that goes back, and one that never met it nor was written down
      told.clear();
      GraphState again = read(checkpoint);
      apply(again, GOOD, 3, good.getFirst());
      assertThat(again.copy()).as("seed %d, call %d", SEED, n).isEqualTo(before);
      leaveOut(again, bad, thrown);
      apply(again, GOOD, 4, good.getLast());
      List<String> toldAgain = List.copyOf(told);
      GraphState never = twoCores(new Random(SEED + 1));
      told.clear();
      apply(never, GOOD, 3, good.getFirst());
      leaveOut(never, bad, thrown);
      apply(never, GOOD, 4, good.getLast());
      assertThat(toldAgain).isEqualTo(told);
      assertThat(again.copy()).as("seed %d, call %d", SEED, n).isEqualTo(never.copy());

      assertThat(ReportBuilder.of(again).build().functions())
          .isEqualTo(ReportBuilder.of(expected).build().functions());
      assertThat(ReportBuilder.of(again).build().edges())
          .isEqualTo(ReportBuilder.of(expected).build().edges());
      assertThat(ReportBuilder.of(again).trees()).hasSameSizeAs(ReportBuilder.of(expected).trees());
      CoreGraph broken = again.core(BAD).orElseThrow();
      assertThat(broken.progress().end()).isEqualTo(CoreEnd.BROKEN);
      assertThat(broken.progress().endDetail()).contains("chunk 3", "planted");
      assertThat(broken.stats().get(Stat.BROKEN_CHUNKS)).isEqualTo(2);
      assertThat(read(again.copy()).core(BAD).orElseThrow().progress().end())
          .isEqualTo(CoreEnd.BROKEN);
    }
    assertThat(n).isGreaterThan(60);
  }

  private static void leaveOut(GraphState state, RecordBatch bad, BrokenCoreException thrown) {
    state.breakCore(BAD, Stream.IMAGE_ID, ClockUnit.INSTRUCTIONS, thrown);
    assertThat(refusedTwice(state, bad)).isEqualTo(60);
  }

  /** Records that are lost by it; one that comes twice is lost once. */
  private static long refusedTwice(GraphState state, RecordBatch bad) {
    long before = state.core(BAD).orElseThrow().progress().lost();
    for (long sequence : new long[] {3, 4}) {
      assertThat(state.apply(meta(sequence, bad), BAD, Stream.IMAGE_ID, bad))
          .isEqualTo(ApplyResult.REFUSED);
    }
    CoreGraph core = state.core(BAD).orElseThrow();
    assertThat(core.losses().rows().stream().mapToLong(loss -> loss.records()).sum())
        .isEqualTo(core.progress().lost());
    return core.progress().lost() - before;
  }

  private GraphState read(byte[] bytes) throws IOException {
    GraphState state = GraphState.ofCopy(bytes, LIMITS, StateBudget.UNLIMITED);
    listen(state);
    return state;
  }
}
