package dev.retstack.service.cluster;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;

/**
 * How a member can be joined by others.
 *
 * @param host address it listens on
 * @param port its port; 0 = any free one
 * @param advertised host that others use to reach it; empty for the host that it listens on, or the
 *     name of this machine where that is any
 * @param discovery how it finds others
 * @param stableAfter how long a split has to be the same before one side of it ends
 * @param tls certificates of members; empty for none, on loopback only
 */
public record ClusterSettings(
    String host,
    int port,
    Optional<String> advertised,
    Discovery discovery,
    Duration stableAfter,
    Optional<ClusterTls> tls) {
  /** Loopback, any free port, others by the nodes topic. */
  public static final ClusterSettings LOCAL =
      new ClusterSettings(
          "127.0.0.1",
          0,
          Optional.empty(),
          new Discovery.Kafka(),
          Duration.ofSeconds(10),
          Optional.empty());

  public ClusterSettings {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("cluster port " + port + ": use 0 to 65535, 0 = any");
    }
    if (stableAfter.compareTo(Duration.ofSeconds(2)) < 0) {
      throw new IllegalArgumentException(
          "a split is held stable after %s: use 2 s or more".formatted(stableAfter));
    }
  }

  /** Another address; port 0 = any free one. */
  public ClusterSettings at(String otherHost, int otherPort) {
    return new ClusterSettings(otherHost, otherPort, advertised, discovery, stableAfter, tls);
  }

  /** Others reach it by this name or address. */
  public ClusterSettings advertised(String name) {
    return new ClusterSettings(host, port, Optional.of(name), discovery, stableAfter, tls);
  }

  /** Finds others otherwise. */
  public ClusterSettings discovery(Discovery other) {
    return new ClusterSettings(host, port, advertised, other, stableAfter, tls);
  }

  /** Another patience with a split. */
  public ClusterSettings stableAfter(Duration time) {
    return new ClusterSettings(host, port, advertised, discovery, time, tls);
  }

  /** Both ends of each connection show a certificate. */
  public ClusterSettings tls(ClusterTls certificates) {
    return new ClusterSettings(
        host, port, advertised, discovery, stableAfter, Optional.of(certificates));
  }

  /**
   * Accepts an address that others can reach only with TLS: whoever is in the cluster can end its
   * members.
   *
   * @throws IllegalArgumentException naming what is missing
   */
  public void requireSafe() {
    try {
      if (tls.isEmpty() && !InetAddress.getByName(host).isLoopbackAddress()) {
        throw new IllegalArgumentException(
            "cluster host %s is open to the network without TLS: give a keystore, or use 127.0.0.1"
                .formatted(host));
      }
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException(
          "unknown cluster host " + host + ": use an address of this machine", e);
    }
  }

  /** Host by which others reach it. */
  String reachedAs() {
    if (advertised.isPresent()) {
      return advertised.get();
    }
    try {
      return InetAddress.getByName(host).isAnyLocalAddress()
          ? InetAddress.getLocalHost().getHostName()
          : host;
    } catch (UnknownHostException e) {
      return host;
    }
  }
}
