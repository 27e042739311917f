package dev.retstack.service.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.Node;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Who runs, by what the topic says and the broker's time. */
class NodeTableTest {
  /** Whom Kafka does not name. */
  private final Set<String> strangers = new HashSet<>();

  private final NodeTable table = new NodeTable("g", node -> !strangers.contains(node.getNode()));

  private void heard(String group, String node, long millis) {
    table.update(
        NodeTable.key(group, node),
        Node.newBuilder()
            .setNode(node)
            .setUrl("http://" + node)
            .setGroup(group)
            .setRoles(List.of("ingest"))
            .build(),
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
  void whoIsGoneKafkaSays() {
    heard("g", "a", 1_000);
    heard("g", "b", 1_000);
    table.update(NodeTable.key("g", "a"), null, 1_001);
    assertThat(running()).as("anybody can take it back").containsExactlyInAnyOrder("a", "b");
    strangers.add("a");
    assertThat(running()).containsExactly("b");
    table.update(
        NodeTable.key("g", "b"),
        Node.newBuilder().setNode("b").setUrl("http://b").setGroup("g").build(),
        1_002);
    assertThat(running()).as("it says so of itself").isEmpty();
  }

  @Test
  void strangersTakeNoMembersRoom() {
    for (int i = 0; i < NodeTable.NODES_MAX; i++) {
      strangers.add("forged" + i);
      heard("g", "forged" + i, 2_000);
    }
    heard("g", "a", 2_000);
    assertThat(running()).containsExactly("a");
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
