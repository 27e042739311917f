package dev.retstack.service.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.schema.Node;
import dev.retstack.service.nodes.ClusterMark;
import dev.retstack.service.nodes.NodeTable;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Who founds a cluster, who joins it, and which of two ends. */
class JoiningTest {
  private final NodeTable topic = new NodeTable("g");
  private long millis;

  private void announced(String node, boolean isMember) {
    announced(node, 0, new ClusterMark(node + ":25520", isMember));
  }

  private void announced(String node, long startedAt, ClusterMark mark) {
    topic.heard(
        NodeTable.key("g", node),
        Node.newBuilder().setNode(node).setUrl("").setGroup("g").setStartedAt(startedAt).build(),
        mark,
        ++millis);
  }

  private Joining.Step next(String node) {
    return Joining.next(node, topic.inOrder());
  }

  @Test
  void theFirstFoundsAndTheOthersJoinIt() {
    assertThat(next("a")).as("before its own word is there").isEqualTo(Joining.Step.WAIT);
    announced("a", false);
    announced("b", false);
    announced("a", false);
    assertThat(next("a")).isEqualTo(Joining.Step.FOUND);
    assertThat(next("b")).isEqualTo(Joining.Step.WAIT);
    announced("a", true);
    assertThat(next("b")).isEqualTo(Joining.Step.JOIN);
    assertThat(Joining.inCluster("b", topic.inOrder()))
        .extracting(one -> one.cluster().address())
        .containsExactly("a:25520");
  }

  @Test
  void oneThatCannotReachTheOthersFoundsNothing() {
    announced("b", true);
    announced("a", false);
    assertThat(next("a")).isEqualTo(Joining.Step.JOIN);
    millis += NodeTable.EXPIRY_MILLIS - 2;
    announced("a", false);
    assertThat(next("a")).as("b is not over yet").isEqualTo(Joining.Step.JOIN);
    announced("a", false);
    announced("a", false);
    assertThat(next("a")).as("b is").isEqualTo(Joining.Step.FOUND);
  }

  @Test
  void oneThatCannotBeJoinedIsPassedOver() {
    announced("old", 0, ClusterMark.NONE);
    announced("a", false);
    assertThat(next("a")).isEqualTo(Joining.Step.FOUND);
  }

  @Test
  void whoBeginsAnewStandsBehindTheOthers() {
    announced("a", 1, new ClusterMark("a:1", false));
    announced("b", 1, new ClusterMark("b:1", false));
    announced("a", 2, new ClusterMark("a:2", false));
    assertThat(next("a")).isEqualTo(Joining.Step.WAIT);
    assertThat(next("b")).isEqualTo(Joining.Step.FOUND);
  }

  @Test
  void theSmallerOfTwoClustersEnds() {
    long patience = Strangers.PATIENCE.toNanos();
    Strangers one = new Strangers();
    assertThat(one.areToStay(Set.of("b"), Set.of("a"), 0)).isFalse();
    assertThat(one.areToStay(Set.of("b"), Set.of("a"), patience)).isTrue();
    Strangers other = new Strangers();
    assertThat(other.areToStay(Set.of("a"), Set.of("b"), 0)).isFalse();
    assertThat(other.areToStay(Set.of("a"), Set.of("b"), patience)).isFalse();
    assertThat(other.areToStay(Set.of("a"), Set.of("b", "c"), patience)).isFalse();
    assertThat(other.areToStay(Set.of("a"), Set.of(), patience + 1)).as("they joined").isFalse();
    assertThat(other.areToStay(Set.of("a"), Set.of("b", "c"), 2 * patience)).isFalse();
  }

  @Test
  void discoveryIsReadFromWords() throws Exception {
    assertThat(Discovery.of("kafka")).isEqualTo(new Discovery.Kafka());
    assertThat(Discovery.of("static:a:1, [::1]:2").addresses(List.of()))
        .containsExactly("a:1", "[::1]:2");
    for (String wrong :
        List.of("", "static", "static:a", "kafka:x", "static:a:1,,b:2", "zeroconf")) {
      assertThatThrownBy(() -> Discovery.of(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("use ");
    }
  }

  @Test
  void beyondLoopbackOnlyWithTls() {
    ClusterSettings.LOCAL.requireSafe();
    assertThatThrownBy(() -> ClusterSettings.LOCAL.at("0.0.0.0", 0).requireSafe())
        .hasMessageContaining("without TLS");
    assertThatThrownBy(() -> ClusterSettings.LOCAL.stableAfter(Duration.ofSeconds(1)))
        .hasMessageContaining("2 s or more");
  }
}
