package dev.retstack.graph.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.Stream;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * Input that no tracer writes: nothing is thrown, nothing grows beyond its limit. Any records at
 * all are {@code HostileRecordsTest} of the simulation.
 */
class HostileInputTest {
  private static final GraphLimits TIGHT =
      GraphLimits.DEFAULT
          .but()
          .maxDepth(500)
          .treeCallsPerCore(1000)
          .functions(50)
          .edges(200)
          .cores(3)
          .build();

  @Test
  void aSumOfLossesThatIsTooLargeIsOfItsOwnTask() {
    Stream s = new Stream().enter(1, 0, Stream.MAIN, 0x900).systemCall(2, 1, 7);
    s.started(3, 5).enter(4, 0, Stream.A, 0x900);
    s.lost(5, Long.MAX_VALUE - 1).lost(6, Long.MAX_VALUE - 1).exit(7, 0, Stream.A, 0x900).send();
    CoreGraph core = s.state().core(Stream.CORE).orElseThrow();
    assertThat(core.progress().open()).isZero(); // both may have ended
    assertThat(core.progress().balanced()).isTrue();
    s.switched(8, 0, 1).enter(9, 1, Stream.B, Stream.returnTo(Stream.MAIN)).end(10);
    assertThat(ReportBuilder.of(s.state()).build().functions())
        .allSatisfy(f -> assertThat(f.finished()).isLessThanOrEqualTo(f.calls()));
  }

  @Test
  void aTaskDoesNotBeginBehindTheClockOfItsCore() {
    Stream s = new Stream(new GraphState(GraphLimits.DEFAULT.but().maxDepth(1).build()));
    s.enter(8, 1, Stream.A, 0x900).send(s.meta().in(2, 0));
    assertThat(ReportBuilder.of(s.state()).build().cores().getFirst().tasks())
        .allSatisfy(task -> assertThat(task.ran()).isNotNegative());
  }

  @Test
  void timeInInterruptsThatAreNotKeptCountsOnce() throws IOException {
    GraphLimits oneTask = GraphLimits.DEFAULT.but().tasks(1).build();
    Stream s = new Stream(new GraphState(oneTask));
    s.interrupt(91, 1, 0).interrupt(99, 2, 0).lost(166, 6).started(404, 9).lost(405, 1).send();
    byte[] written = s.state().copy();
    assertThat(read(written).copy()).isEqualTo(written);
  }

  @Test
  void chunksThatContradictTheirCoreAreRefused() {
    Stream s = new Stream(new GraphState(TIGHT));
    GraphState state = s.state();
    assertThat(state.apply(s.meta(), Stream.CORE, "unknown", new RecordBatch(0)))
        .isEqualTo(ApplyResult.NEEDS_IMAGE);
    assertThat(state.cores()).isEmpty();
    s.enter(1, 0, Stream.MAIN, 0x900).send();
    ChunkMeta nanos = ChunkMeta.running(1, 1, 2, 2, ClockUnit.NANOSECONDS);
    assertThat(state.apply(nanos, Stream.CORE, Stream.IMAGE_ID, new RecordBatch(0)))
        .isEqualTo(ApplyResult.REFUSED);
    assertThat(state.apply(s.meta(), Stream.CORE, "other", new RecordBatch(0)))
        .isEqualTo(ApplyResult.REFUSED);
    s.end(5);
    assertThat(s.send(s.meta())).isEqualTo(ApplyResult.REFUSED);
    for (int i = 0; i < 5; i++) {
      state.apply(
          ChunkMeta.running(0, 0, 0, 0, ClockUnit.INSTRUCTIONS),
          new CoreKey("s", "more" + i),
          Stream.IMAGE_ID,
          new RecordBatch(0));
    }
    assertThat(state.cores()).hasSize(3);
  }

  @Test
  void aDeepClaimCostsNothing() {
    Stream s = new Stream();
    for (int i = 0; i < 500; i++) {
      s.enter(i, 65_535, Stream.A, 0x900).exit(i, 65_535, Stream.A, 0x900);
      s.enter(i, 0, Stream.A, 0x900).exit(i, 65_536, Stream.A, 0x900);
      s.send();
    }
    CoreGraph core = s.state().core(Stream.CORE).orElseThrow();
    assertThat(core.progress().slots()).isLessThanOrEqualTo(2);
  }

  @Test
  void everyCutAndEveryFlippedByteOfACopyIsRefused() throws IOException {
    Stream s =
        new Stream()
            .enter(0, 0, Stream.MAIN, 0x900)
            .enter(10, 1, Stream.A, Stream.returnTo(Stream.MAIN))
            .tailEnter(15, 2, Stream.B)
            .exit(16, 9, Stream.C, 0x900)
            .send();
    byte[] good = s.state().copy();
    assertThat(read(good).copy()).isEqualTo(good);
    for (int i = 0; i < good.length; i++) {
      byte[] cut = Arrays.copyOf(good, i);
      assertThatThrownBy(() -> read(cut)).as("cut at %d", i).isInstanceOf(IOException.class);
      byte[] flipped = good.clone();
      flipped[i] ^= (byte) (1 << (i % 8));
      assertThatThrownBy(() -> read(flipped)).as("byte %d", i).isInstanceOf(IOException.class);
    }
  }

  private static GraphState read(byte[] copy) throws IOException {
    return GraphState.ofCopy(copy, GraphLimits.DEFAULT, StateBudget.UNLIMITED);
  }
}
