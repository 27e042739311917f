package dev.retstack.service.cluster;

import org.apache.pekko.actor.Address;
import org.apache.pekko.cluster.Cluster;

/** Addresses of members as all but Pekko write them: host:port. */
final class MemberAddress {
  private MemberAddress() {}

  static String hostPort(Address address) {
    return address.getHost().orElse("") + ":" + address.getPort().orElse(0);
  }

  /**
   * The address in a cluster.
   *
   * @throws IllegalArgumentException where it is none
   */
  static Address of(Cluster cluster, String hostPort) {
    int colon = hostPort.lastIndexOf(':');
    if (colon < 1) {
      throw new IllegalArgumentException("'%s' is no address of a member".formatted(hostPort));
    }
    Address own = cluster.selfMember().address();
    return new Address(
        own.protocol(),
        own.system(),
        hostPort.substring(0, colon),
        Integer.parseInt(hostPort.substring(colon + 1)));
  }
}
