package dev.retstack.service.reconstruct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.snapshot.SnapshotReader;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.ingest.GroupProtocol;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.States;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Members of this release and members that are held to the state version of the one before, in one
 * group, one after the other replaced in mid-stream, up and down again: the result is that of a
 * replay, and no partition is ever at a member that cannot read it.
 */
class RollTest {
  private static final int PARTITIONS = 4;
  private static final int OLD = GraphState.VERSIONS.oldest();
  private static final int NEW = GraphState.VERSIONS.newest();
  private static final Duration WAIT = Duration.ofSeconds(90);

  private final LiveBench bench = LiveBench.fresh(PARTITIONS, 8, GroupProtocol.CLASSIC);
  private final PipelineConfig today = bench.config();
  private final PipelineConfig before = today.but().stateVersion(OLD).build();
  private final List<Pipeline> members = new ArrayList<>();

  @AfterEach
  void endAll() {
    members.forEach(Pipeline::close);
  }

  @BeforeEach
  void twoVersions() {
    assumeTrue(OLD < NEW, "this release reads and writes one state version only");
  }

  private Pipeline start(PipelineConfig config) throws Exception {
    Pipeline member = PipelineService.start(config);
    members.add(member);
    return member;
  }

  private void end(Pipeline member) {
    members.remove(member);
    member.close();
  }

  @Test
  void upAndDownInMidStream() throws Exception {
    bench.produce(0, 0.15);
    Pipeline old1 = start(before);
    Pipeline old2 = start(before);
    awaitShared();
    bench.produce(0.15, 0.3);
    awaitWritten(OLD);
    end(old1);
    Pipeline new1 = start(today);
    bench.produce(0.3, 0.45);
    awaitShared();
    awaitWritten(OLD);
    end(old2);
    bench.produce(0.45, 0.6);
    Pipeline new2 = start(today);
    awaitShared();
    awaitWritten(NEW);
    bench.produce(0.6, 0.75);
    end(new1);
    start(before);
    awaitShared();
    awaitWritten(OLD);
    bench.produce(0.75, 0.9);
    end(new2);
    start(before);
    awaitShared();
    bench.produce(0.9, 1);
    awaitResult();
    for (Pipeline member : members) {
      assertThat(bench.scrape(member).sum("retstack_partition_failures_total")).isZero();
    }
  }

  /** One that joins without a word of warning leaves what it cannot read to those who can. */
  @Test
  void whatCannotBeReadIsLeftToOthers() throws Exception {
    bench.produce(0, 0.5);
    Pipeline first = start(today);
    awaitShared();
    awaitWritten(NEW);
    end(first);
    Map<Integer, Integer> versions = versions();
    assertThat(versions).isNotEmpty().containsValue(NEW);
    Pipeline old = start(before);
    bench.produce(0.5, 1);
    // one to which nothing came yet has no state: anybody may open it
    assertThat(old.openPartitions(WAIT).toCompletableFuture().get())
        .doesNotContainAnyElementsOf(versions.keySet());
    Pipeline second = start(today);
    bench.awaitEnded(second);
    assertThat(second.openPartitions(WAIT).toCompletableFuture().get()).hasSize(PARTITIONS);
    awaitResult();
  }

  private void awaitResult() throws Exception {
    String wanted = States.of(bench.fleet()).report().resultHash();
    ObjectMapper json = new ObjectMapper();
    try (HttpAsk ask = new HttpAsk(members.getLast().httpUri())) {
      long deadline = System.nanoTime() + WAIT.toNanos();
      String hash = "";
      while (!hash.equals(wanted)) {
        assertThat(System.nanoTime()).as(hash).isLessThan(deadline);
        hash = json.readTree(ask.get("/report").body()).path("resultHash").asText();
      }
    }
  }

  /** Waits until the members share all partitions. */
  private void awaitShared() throws Exception {
    long deadline = System.nanoTime() + WAIT.toNanos();
    List<Integer> open = List.of();
    boolean shared = false;
    while (!shared) {
      assertThat(System.nanoTime()).as("open: %s", open).isLessThan(deadline);
      open = new ArrayList<>();
      shared = true;
      for (Pipeline member : members) {
        int count = (int) bench.scrape(member).sum("retstack_partition_open");
        open.add(count);
        shared &= count > 0;
      }
      shared &= open.stream().mapToInt(Integer::intValue).sum() == PARTITIONS;
    }
  }

  /** Waits until all checkpoints are of this version. */
  private void awaitWritten(int version) throws Exception {
    long deadline = System.nanoTime() + WAIT.toNanos();
    Map<Integer, Integer> found = Map.of();
    while (found.isEmpty() || !Set.of(version).containsAll(found.values())) {
      assertThat(System.nanoTime()).as("versions %s", found).isLessThan(deadline);
      found = versions();
    }
  }

  /** Versions of the checkpoints that hold a state, by partition. */
  private Map<Integer, Integer> versions() throws Exception {
    CheckpointStore store =
        new CheckpointStore(bench.kafka(), bench.topics().state(), today.groupId());
    Map<Integer, Integer> found = new TreeMap<>();
    for (int p = 0; p < PARTITIONS; p++) {
      byte[] state = store.load(p).state().joined();
      if (state.length > 0) {
        found.put(p, SnapshotReader.versionOf(state));
      }
    }
    return found;
  }
}
