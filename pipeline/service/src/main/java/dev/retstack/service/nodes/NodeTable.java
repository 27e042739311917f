package dev.retstack.service.nodes;

import dev.retstack.schema.Node;
import dev.retstack.service.identity.SignedNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The running members of one group, according to the nodes topic. It needs no clock: time is the
 * broker's, and advances with the records of running members. A pure state machine.
 */
public final class NodeTable {
  /** Between two announcements of a member. */
  public static final long INTERVAL_MILLIS = 3_000;

  /** Silence after which a member is gone, while the topic had other records. */
  public static final long EXPIRY_MILLIS = 5 * INTERVAL_MILLIS;

  /** Members that are known at most. Announcements of further members are ignored. */
  static final int NODES_MAX = 4096;

  private record Entry(Node node, long millis) {}

  private final String group;
  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private final BrokerTime time = new BrokerTime();

  /** Whether a node may be listed, as far as Kafka knows. */
  private final Predicate<Node> isMember;

  /**
   * Knows nobody.
   *
   * @param isMember what Kafka says of a node that says so of itself
   */
  public NodeTable(String group, Predicate<Node> isMember) {
    this.group = group;
    this.isMember = isMember;
  }

  /** Key of a member's record. */
  public static String key(String group, String node) {
    return group + "/" + node;
  }

  /**
   * Takes a record of the topic. One that takes back another proves nothing: who is gone, Kafka
   * says.
   *
   * @param node what it says of itself, without a role when it leaves; null where it says nothing
   * @param millis when the broker had it
   */
  public void update(String key, Node node, long millis) {
    long now = time.at(millis);
    if (node == null || !node.getGroup().equals(group)) {
      return;
    }
    String who = SignedNode.digest(node) + "/" + key; // a name alone is anybody's
    if (node.getRoles().isEmpty()) {
      entries.remove(who); // it leaves
      return;
    }
    if (entries.size() >= NODES_MAX && !entries.containsKey(who)) {
      entries.values().removeIf(entry -> isOver(entry) || !isMember.test(entry.node()));
    }
    if (entries.size() < NODES_MAX || entries.containsKey(who)) {
      entries.put(who, new Entry(node, now));
    }
  }

  private boolean isOver(Entry entry) {
    return time.now() - entry.millis() > EXPIRY_MILLIS;
  }

  /** Members that run, those heard of last first. */
  public List<Node> running() {
    List<Entry> found = new ArrayList<>(entries.values());
    found.removeIf(entry -> isOver(entry) || !isMember.test(entry.node()));
    found.sort(Comparator.comparingLong(Entry::millis).reversed());
    return found.stream().map(Entry::node).toList();
  }
}
