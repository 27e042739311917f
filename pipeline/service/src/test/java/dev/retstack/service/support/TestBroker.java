package dev.retstack.service.support;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A real KRaft broker in the tests' own JVM, one for the whole module run. */
public final class TestBroker {
  private static TestNode running;
  private static final AtomicInteger NAMES = new AtomicInteger();

  private TestBroker() {}

  /** The address of the broker, which is started by the first who asks. */
  public static synchronized String bootstrap() throws Exception {
    if (running == null) {
      TestNode node = TestNode.start(TestNode.Cluster.fresh(), 1, 1, Map.of());
      Runtime.getRuntime().addShutdownHook(new Thread(node::stop, "test-broker-stop"));
      running = node;
    }
    return running.bootstrap();
  }

  /** A prefix for topics and groups that no other test uses. */
  public static String freshPrefix() {
    return "t" + NAMES.incrementAndGet();
  }
}
