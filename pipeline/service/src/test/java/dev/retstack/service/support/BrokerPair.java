package dev.retstack.service.support;

import java.util.Map;

/** Two real brokers, each of which has every record; the second can be stopped. */
public final class BrokerPair implements AutoCloseable {
  private final TestNode first;
  private final TestNode second;
  private boolean both = true;

  private BrokerPair(TestNode first, TestNode second) {
    this.first = first;
    this.second = second;
  }

  /** Starts both. */
  public static BrokerPair start() throws Exception {
    TestNode.Cluster cluster = TestNode.Cluster.fresh();
    Map<String, String> twice = Map.of("default.replication.factor", "2");
    TestNode first = TestNode.start(cluster, 1, 2, twice);
    try {
      return new BrokerPair(first, TestNode.start(cluster, 2, 2, twice));
    } catch (Exception e) {
      first.stop();
      throw e;
    }
  }

  /** Address of the one that stays. */
  public String bootstrap() {
    return first.bootstrap();
  }

  /** The second one goes for good. */
  public void stopSecond() {
    if (both) {
      both = false;
      second.stop();
    }
  }

  /** Records of this topic are taken from now on where so many brokers have them. */
  public void minInSync(String topic, int brokers) throws Exception {
    OwnBroker.set(bootstrap(), topic, Map.of("min.insync.replicas", String.valueOf(brokers)));
  }

  @Override
  public void close() {
    stopSecond();
    first.stop();
  }
}
