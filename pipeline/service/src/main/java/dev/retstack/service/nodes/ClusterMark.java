package dev.retstack.service.nodes;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/**
 * Where a member can be joined, and whether a cluster is there to join. Stands in headers of its
 * announcement: members of a release before read the announcement all the same.
 *
 * @param address host:port of its cluster side; empty where others cannot join it
 * @param isMember whether it is in a cluster: whoever comes next joins that one
 */
public record ClusterMark(String address, boolean isMember) {
  /** Nobody can join it. */
  public static final ClusterMark NONE = new ClusterMark("", false);

  private static final String ADDRESS = "cluster";
  private static final String MEMBER = "cluster-member";

  static ClusterMark of(Headers headers) {
    String address = text(headers, ADDRESS);
    return address.isEmpty() ? NONE : new ClusterMark(address, text(headers, MEMBER).equals("yes"));
  }

  private static String text(Headers headers, String name) {
    Header header = headers.lastHeader(name);
    return header == null || header.value() == null ? "" : new String(header.value(), UTF_8);
  }

  void addTo(Headers headers) {
    if (!address.isEmpty()) {
      headers.add(ADDRESS, address.getBytes(UTF_8));
      headers.add(MEMBER, (isMember ? "yes" : "no").getBytes(UTF_8));
    }
  }
}
