package dev.retstack.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.ModelProgram;
import dev.retstack.simulation.model.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Random programs against the truth that they know themselves. */
class ReconstructionPropertyTest {
  /** Snapshots per run, about. */
  private static final int SNAPSHOTS = 6;

  @Test
  void withoutFaultsTheGraphIsTheTruth() {
    Seeds.each(seed -> identity(seed, Subject::product));
  }

  @Test
  void underAnyFaultNothingIsInventedAndAllIsAccountedFor() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          List<ModelCore> cores = Cores.any(random, 3, 20);
          Faults faults = Faults.any(random);
          Subject subject = Subject.product();
          long lost = 0;
          for (ModelCore core : cores) {
            Faults.Delivery delivery = faults.deliver(core, 40);
            lost += delivery.lost();
            subject.state().events(new OwnTime(core));
            for (ModelChunk chunk : delivery.chunks()) {
              subject.apply(chunk);
              Validations.invariants(subject.state());
            }
          }
          Validations.nothingInvented(subject.state(), cores, lost);
        });
  }

  @Test
  void cuttingOrderPartitionsAndSnapshotsDoNotChangeTheResult() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          List<ModelCore> cores = Cores.any(random, 4, 20);
          String expected = hash(cores, random.split(), 1);
          assertThat(hash(cores, random.split(), 1)).isEqualTo(expected);
          assertThat(hash(cores, random.split(), 3)).isEqualTo(expected);
        });
  }

  @Test
  void duplicatesDoNotChangeTheResult() {
    Seeds.each(
        seed -> {
          SplittableRandom random = new SplittableRandom(seed);
          List<ModelCore> cores = Cores.any(random, 2, 20);
          Faults duplicates = Faults.none(seed).withDuplicates(300);
          Subject subject = Subject.product();
          cores.forEach(core -> duplicates.deliver(core, 40).chunks().forEach(subject::apply));
          Validations.identical(subject.state(), cores);
          assertThat(ReportBuilder.of(subject.state()).build().resultHash())
              .isEqualTo(hash(cores, random, 1));
        });
  }

  @Test
  void aStackOfSixtyThousandFrames() {
    Workload deep = new Workload(3, 60_000, 60_000, 1000, 0, 0, 0);
    ModelProgram program = new ModelProgram(new SplittableRandom(4), deep).run();
    ModelCore core = new ModelCore(new CoreKey("session", "deep"), program);
    Subject subject = Subject.product();
    core.chunks(new SplittableRandom(5), 16_384).forEach(subject::apply);
    assertThat(subject.state().core(core.key()).orElseThrow().tree().size()).isEqualTo(60_000);
    assertThat(ReportBuilder.of(subject.state()).build().records()).isEqualTo(120_000);
    assertThat(ReportBuilder.of(subject.state()).trees().get(0).roots()).hasSize(1);
  }

  /** The canary: a reader that pairs by order and ignores depth must be found out. */
  @Test
  void aReaderThatIgnoresDepthIsFoundOut() {
    assertThatThrownBy(() -> Seeds.each(seed -> identity(seed, IgnoresDepth::new)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dretstack.seed=");
  }

  /** Another: a codec that gives back one frame pointer too few must be found out. */
  @Test
  void aWireThatForgetsAFramePointerIsFoundOut() {
    Wire forgetful =
        (sequence, batch) -> {
          RecordBatch received = Wire.ALL_CODECS.carry(sequence, batch);
          if (received.size() > 0) {
            received.fp[received.size() - 1] ^= 8;
          }
          return received;
        };
    assertThatThrownBy(
            () -> Seeds.each(seed -> identity(seed, () -> Subject.of(new GraphState(), forgetful))))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dretstack.seed=");
  }

  private static void identity(long seed, Supplier<Subject> subjects) {
    SplittableRandom random = new SplittableRandom(seed);
    List<ModelCore> cores = Cores.any(random, 3, random.nextBoolean() ? 20 : 0);
    Subject subject = subjects.get();
    for (ModelCore core : cores) {
      for (ModelChunk chunk : core.chunks(random, 40)) {
        assertThat(subject.apply(chunk)).isEqualTo(ApplyResult.APPLIED);
      }
    }
    Validations.identical(subject.state(), cores);
  }

  /** Result of the cores, interleaved and cut at random, with snapshots in between. */
  private static String hash(List<ModelCore> cores, SplittableRandom random, int partitions) {
    List<Subject> subjects = new ArrayList<>();
    for (int i = 0; i < partitions; i++) {
      subjects.add(Subject.product());
    }
    List<ModelCore> order = new ArrayList<>(cores);
    Collections.shuffle(order, new Random(random.nextLong()));
    Map<ModelCore, List<ModelChunk>> waiting = new HashMap<>();
    order.forEach(
        core -> waiting.put(core, new ArrayList<>(core.chunks(random, 1 + random.nextInt(99)))));
    int chunks = waiting.values().stream().mapToInt(List::size).sum();
    while (!order.isEmpty()) {
      ModelCore core = order.get(random.nextInt(order.size()));
      int partition = Math.floorMod(core.key().hashCode(), partitions);
      subjects.get(partition).apply(waiting.get(core).removeFirst());
      if (waiting.get(core).isEmpty()) {
        order.remove(core);
      }
      if (random.nextInt(chunks) < SNAPSHOTS) {
        subjects.set(partition, Subject.of(copy(subjects.get(partition).state())));
      }
    }
    ReportBuilder report = new ReportBuilder();
    subjects.forEach(subject -> report.add(subject.state()));
    return report.build().resultHash();
  }

  private static GraphState copy(GraphState state) {
    try {
      return GraphState.ofCopy(state.copy(), GraphLimits.DEFAULT, StateBudget.UNLIMITED);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class IgnoresDepth implements Subject {
    private final Subject product = Subject.product();
    private final Map<CoreKey, Integer> open = new HashMap<>();

    @Override
    public ApplyResult apply(ModelChunk chunk) {
      RecordBatch all = chunk.batch();
      RecordBatch blind = new RecordBatch(all.capacity());
      int depth = open.getOrDefault(chunk.core(), 0);
      for (int i = 0; i < all.size(); i++) {
        boolean entry = all.kind[i] == RecordBatch.ENTRY;
        blind.add(
            all.kind[i],
            all.time[i],
            entry ? depth++ : --depth,
            all.selfPc[i],
            all.fromPc[i],
            all.retP[i],
            all.fp[i]);
      }
      open.put(chunk.core(), depth);
      return product.apply(new ModelChunk(chunk.core(), chunk.imageId(), chunk.meta(), blind));
    }

    @Override
    public GraphState state() {
      return product.state();
    }
  }
}
