package dev.retstack.service.nodes;

import dev.retstack.schema.Node;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The running members of one group, according to the nodes topic. It needs no clock: time is the
 * broker's, and advances with the records of running members. A pure state machine.
 */
public final class NodeTable {
  /** Between two announcements of a member. */
  public static final long INTERVAL_MILLIS = 3_000;

  /** A member of which nothing was heard for so long, while the topic went on, is gone. */
  public static final long EXPIRY_MILLIS = 5 * INTERVAL_MILLIS;

  /** Members that are known at most. Announcements of further members are ignored. */
  static final int NODES_MAX = 4096;

  private record Entry(Node node, long millis) {}

  private final String group;
  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private final BrokerTime time = new BrokerTime();

  /** Knows nobody. */
  public NodeTable(String group) {
    this.group = group;
  }

  /** Key of a member's record. */
  public static String key(String group, String node) {
    return group + "/" + node;
  }

  /**
   * Takes a record of the topic.
   *
   * @param node what it says; null where the member took it back
   * @param millis when the broker had it
   */
  public void heard(String key, Node node, long millis) {
    long now = time.at(millis);
    if (node == null) {
      entries.remove(key);
    }
    if (entries.size() >= NODES_MAX && !entries.containsKey(key)) {
      entries.values().removeIf(this::isOver);
    }
    boolean room = entries.size() < NODES_MAX || entries.containsKey(key);
    if (node != null && node.getGroup().equals(group) && room) {
      entries.put(key, new Entry(node, now));
    }
  }

  private boolean isOver(Entry entry) {
    return time.now() - entry.millis() > EXPIRY_MILLIS;
  }

  /** Members that run, those heard of last first. */
  public List<Node> running() {
    List<Entry> found = new ArrayList<>(entries.values());
    found.removeIf(this::isOver);
    found.sort(Comparator.comparingLong(Entry::millis).reversed());
    return found.stream().map(Entry::node).toList();
  }
}
