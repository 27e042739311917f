package dev.retstack.cli.broker;

/** Names inside a broker's folder. */
public final class BrokerFiles {
  /** What the broker had to say. */
  public static final String LOG = "broker.log";

  private BrokerFiles() {}
}
