package dev.retstack.service.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.Node;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Who runs, by what the topic says and the broker's time. */
class NodeTableTest {
  private final NodeTable table = new NodeTable("g");

  private void heard(String group, String node, long millis) {
    table.heard(
        NodeTable.key(group, node),
        Node.newBuilder().setNode(node).setUrl("http://" + node).setGroup(group).build(),
        millis);
  }

  private List<String> running() {
    return table.running().stream().map(Node::getNode).toList();
  }

  @Test
  void theLastHeardOfComesFirstAndOthersGroupsDoNotCount() {
    heard("g", "a", 1_000);
    heard("g", "b", 2_000);
    heard("other", "c", 3_000);
    assertThat(running()).containsExactly("b", "a");
    heard("g", "a", 4_000);
    assertThat(running()).containsExactly("a", "b");
  }

  @Test
  void whoIsSilentWhileOthersSpeakIsGone() {
    heard("g", "a", 1_000);
    heard("g", "b", 1_000 + NodeTable.EXPIRY_MILLIS);
    assertThat(running()).containsExactly("b", "a");
    heard("g", "b", 1_001 + NodeTable.EXPIRY_MILLIS);
    assertThat(running()).containsExactly("b");
    // silence of all says nothing of one
    heard("g", "a", 1_002 + NodeTable.EXPIRY_MILLIS);
    assertThat(running()).containsExactly("a", "b");
  }

  @Test
  void whoAnnouncesThousandsPushesNobodyOutAndIsForgotten() {
    heard("g", "a", 1_000);
    for (int i = 0; i < 2 * NodeTable.NODES_MAX; i++) {
      heard("g", "forged" + i, 2_000);
    }
    assertThat(running()).hasSize(NodeTable.NODES_MAX).contains("a");
    heard("g", "a", 3_000 + NodeTable.EXPIRY_MILLIS);
    heard("g", "b", 3_000 + NodeTable.EXPIRY_MILLIS);
    assertThat(running()).containsExactlyInAnyOrder("a", "b");
  }

  @Test
  void whoTakesItBackIsGoneAtOnce() {
    heard("g", "a", 1_000);
    heard("g", "b", 1_000);
    table.heard(NodeTable.key("g", "a"), null, 1_001);
    assertThat(running()).containsExactly("b");
  }

  /** Another broker leads, whose clock is an hour behind or ahead of the one before. */
  @Test
  void brokersClocksMayDiffer() {
    long hour = 3_600_000;
    heard("g", "a", hour);
    heard("g", "b", hour + 1_000);
    heard("g", "a", 3_000);
    heard("g", "b", 4_000);
    assertThat(running()).as("an hour back").containsExactly("b", "a");
    heard("g", "b", 4_001 + NodeTable.EXPIRY_MILLIS);
    assertThat(running()).as("expiry goes on").containsExactly("b");
    heard("g", "a", 2 * hour);
    heard("g", "b", 2 * hour + 10);
    assertThat(running()).as("an hour ahead").containsExactly("b", "a");
  }
}
