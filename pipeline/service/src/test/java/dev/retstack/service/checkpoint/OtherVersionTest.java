package dev.retstack.service.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.state.GraphState;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.GroupMember;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.support.JoinedGroup;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Protocols;
import dev.retstack.service.support.Waits;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A member that is given state of another version says so, touches nothing, and ends. */
class OtherVersionTest {
  private static final Duration WAIT = Duration.ofMinutes(2);

  @ParameterizedTest
  @MethodSource(Protocols.SOME)
  void aMemberDoesNotGoOnFromIt(GroupProtocol protocol) throws Exception {
    LiveBench bench = LiveBench.fresh(2, 8, protocol);
    PipelineConfig config = bench.config();
    bench.produceAll();
    try (Pipeline member = PipelineService.start(config)) {
      bench.awaitEnded(member);
      assertThat(member.refusal()).isEmpty();
    }
    CheckpointStore store =
        new CheckpointStore(bench.kafka(), bench.topics().state(), group(bench));
    Checkpoint other = writeOtherVersion(bench);
    Checkpoint neighbour = store.load(0);

    try (Pipeline member = PipelineService.start(config)) {
      assertThat(member.stopped().toCompletableFuture()).succeedsWithin(WAIT);
      assertThat(member.refusal())
          .get()
          .asString()
          .contains("state of partition 1 in topic " + bench.topics().state())
          .contains(
              "is of version %d, this release reads version %d"
                  .formatted(GraphState.VERSION + 1, GraphState.VERSION))
          .contains("--group");
    }
    Checkpoint left = store.load(1);
    assertThat(left).hasToString(other.toString());
    assertThat(left.parts().get(GraphState.HEAD)).isEqualTo(other.parts().get(GraphState.HEAD));
    assertThat(store.load(0).nextOffset()).isEqualTo(neighbour.nextOffset());

    try (Pipeline anew = PipelineService.start(config.but().groupId(group(bench) + "-2").build())) {
      bench.awaitEnded(anew);
    }
  }

  private static Checkpoint writeOtherVersion(LiveBench bench) throws Exception {
    try (var joined = new JoinedGroup(bench.kafka(), bench.topics().events(), group(bench))) {
      new Waits(Duration.ofSeconds(60))
          .await("it is in the group", () -> joined.poll().size() == 2);
      return writeOtherVersion(bench, joined.member());
    }
  }

  private static Checkpoint writeOtherVersion(LiveBench bench, GroupMember member)
      throws Exception {
    try (KafkaLedger ledger =
        new KafkaLedger(
            bench.kafka(), bench.topics(), group(bench), 1, member, new StartAt.Earliest())) {
      Checkpoint last = ledger.open();
      byte[] head = last.parts().get(GraphState.HEAD).clone();
      assertThat(head[Integer.BYTES]).isEqualTo((byte) GraphState.VERSION);
      head[Integer.BYTES]++;
      Map<String, byte[]> parts = new HashMap<>(last.parts());
      parts.put(GraphState.HEAD, head);
      Checkpoint other = new Checkpoint(1, last.epoch() + 1, last.nextOffset(), parts);
      ledger.commit(other);
      return other;
    }
  }

  private static String group(LiveBench bench) {
    return bench.topics().prefix();
  }
}
