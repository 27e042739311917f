package dev.retstack.service.cluster;

import dev.retstack.service.nodes.NodeTable;
import java.io.IOException;
import java.util.List;
import java.util.regex.Pattern;

/**
 * How a member finds the addresses of others. Whether there is a cluster to join, and who founds it
 * where there is none, is told by the nodes topic in any case: an address that does not answer
 * never makes a member found a second one.
 */
public interface Discovery {
  /** The nodes topic itself: Kafka's address is enough. */
  record Kafka() implements Discovery {
    @Override
    public List<String> addresses(List<NodeTable.Announced> members) {
      return members.stream().map(member -> member.cluster().address()).toList();
    }
  }

  /**
   * A list of {@code host:port}.
   *
   * @param list where members are, or may be
   */
  record Static(List<String> list) implements Discovery {
    private static final Pattern ADDRESS =
        Pattern.compile("(\\[[0-9a-fA-F:.]+]|[^:\\s]+):\\d{1,5}");

    public Static {
      list = List.copyOf(list);
      for (String address : list) {
        if (!ADDRESS.matcher(address).matches()) {
          throw new IllegalArgumentException(
              "address '%s' of a member: use host:port".formatted(address));
        }
      }
    }

    @Override
    public List<String> addresses(List<NodeTable.Announced> members) {
      return list;
    }
  }

  /**
   * Where members may be reached. May take its time; asked every few seconds until one was joined.
   *
   * @param members members of a cluster that run, by the nodes topic
   * @return host:port of each
   * @throws IOException where whoever is asked does not answer
   */
  List<String> addresses(List<NodeTable.Announced> members) throws IOException;

  /**
   * What the user wrote: {@code kafka}, {@code static:HOST:PORT,...}, {@code dns:NAME:PORT}, {@code
   * dns:_SERVICE._tcp.NAME} or {@code kubernetes:SELECTOR}.
   *
   * @throws IllegalArgumentException naming what is allowed
   */
  static Discovery of(String text) {
    int colon = text.indexOf(':');
    String rest = colon < 0 ? "" : text.substring(colon + 1);
    return switch (colon < 0 ? text : text.substring(0, colon + 1)) {
      case "kafka" -> new Kafka();
      case "static:" -> new Static(List.of(rest.strip().split("\\s*,\\s*", -1)));
      case "dns:" -> DnsDiscovery.of(rest);
      case "kubernetes:" -> KubernetesDiscovery.of(rest);
      default ->
          throw new IllegalArgumentException(
              ("discovery '%s': use kafka, static:HOST:PORT,HOST:PORT, dns:NAME:PORT,"
                      + " dns:_SERVICE._tcp.NAME or kubernetes:LABEL=VALUE")
                  .formatted(text));
    };
  }

  /**
   * A port that can be called.
   *
   * @throws IllegalArgumentException for any other text
   */
  static int port(String text) {
    try {
      int port = Integer.parseInt(text);
      if (port > 0 && port <= 65_535) {
        return port;
      }
    } catch (NumberFormatException _) {
      // told below
    }
    throw new IllegalArgumentException("port '%s': use 1 to 65535".formatted(text));
  }
}
