package dev.retstack.graph.aggregate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.Stream;
import dev.retstack.graph.reconstruct.ChunkMeta;
import dev.retstack.graph.reconstruct.ClockUnit;
import dev.retstack.graph.reconstruct.CoreEnd;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.schema.codec.RecordBatch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Input that no tracer writes: nothing is thrown, nothing grows beyond its limit. */
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
  void garbageRecordsNeverThrowAndNothingIsNegative() {
    for (long seed = 1; seed <= 100; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      GraphState state = new GraphState(TIGHT);
      state.image(Stream.IMAGE);
      for (int chunk = 0; chunk < 20; chunk++) {
        state.apply(garbageMeta(random, chunk), Stream.CORE, Stream.IMAGE_ID, garbage(random));
      }
      String what = "seed " + seed;
      for (FunctionRow f : state.report().functions()) {
        assertThat(Math.min(Math.min(f.total(), f.self()), Math.min(f.min(), f.max())))
            .as(what)
            .isNotNegative();
        assertThat(f.finished()).as(what).isLessThanOrEqualTo(f.calls());
      }
      assertThat(state.report().functions()).as(what).hasSizeLessThanOrEqualTo(50);
      assertThat(state.report().edges()).as(what).hasSizeLessThanOrEqualTo(200);
      assertThat(state.anomalies()).as(what).hasSizeLessThanOrEqualTo(1000);
      assertThat(state.report().lost()).as(what).isNotNegative();
      CoreGraph core = state.cores().iterator().next();
      assertThat(core.progress().slots()).as(what).isLessThanOrEqualTo(500);
      assertThat(core.tree().size()).as(what).isLessThanOrEqualTo(1000);
      assertThat(core.progress().balanced()).as(what).isTrue();
    }
  }

  private static ChunkMeta garbageMeta(SplittableRandom random, int chunk) {
    return new ChunkMeta(
        random.nextInt(4) == 0 ? any(random) : chunk,
        any(random),
        any(random),
        any(random),
        any(random),
        any(random),
        any(random),
        ClockUnit.INSTRUCTIONS,
        random.nextInt(40) == 0 ? CoreEnd.UNKNOWN : CoreEnd.RUNNING,
        "");
  }

  private static RecordBatch garbage(SplittableRandom random) {
    RecordBatch batch = new RecordBatch(1000);
    while (!batch.isFull()) {
      batch.add(
          (byte) (random.nextInt(200) == 0 ? random.nextInt() : random.nextInt(2)),
          any(random),
          random.nextInt(50) == 0 ? random.nextInt() : random.nextInt(random.nextInt(600) + 1),
          any(random),
          random.nextBoolean() ? any(random) : Stream.HANDLER + random.nextInt(4096),
          any(random),
          any(random));
    }
    return batch;
  }

  private static long any(SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextLong();
      case 1 -> random.nextBoolean() ? Long.MAX_VALUE : Long.MIN_VALUE;
      default -> random.nextInt(60);
    };
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
  void everyCutAndEveryFlippedByteOfASnapshotIsRefused() throws IOException {
    Stream s =
        new Stream()
            .enter(0, 0, Stream.MAIN, 0x900)
            .enter(10, 1, Stream.A, Stream.returnTo(Stream.MAIN))
            .tailEnter(15, 2, Stream.B)
            .exit(16, 9, Stream.C, 0x900)
            .send();
    byte[] good = bytes(s.state());
    assertThat(bytes(read(good))).isEqualTo(good);
    for (int i = 0; i < good.length; i++) {
      byte[] cut = Arrays.copyOf(good, i);
      assertThatThrownBy(() -> read(cut)).as("cut at %d", i).isInstanceOf(IOException.class);
      byte[] flipped = good.clone();
      flipped[i] ^= (byte) (1 << (i % 8));
      assertThatThrownBy(() -> read(flipped)).as("byte %d", i).isInstanceOf(IOException.class);
    }
  }

  private static byte[] bytes(GraphState state) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    state.writeTo(new DataOutputStream(out));
    return out.toByteArray();
  }

  private static GraphState read(byte[] bytes) throws IOException {
    return GraphState.readFrom(new DataInputStream(new ByteArrayInputStream(bytes)));
  }
}
