package dev.retstack.service.cluster;

import dev.retstack.service.nodes.NodeTable;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * How a member finds the addresses of others. Whether there is a cluster to join, and who founds it
 * where there is none, is told by the nodes topic in any case: an address that does not answer
 * never makes a member found a second one.
 */
public sealed interface Discovery {
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
   */
  List<String> addresses(List<NodeTable.Announced> members);

  /**
   * What the user wrote: {@code kafka}, {@code static:HOST:PORT,...}.
   *
   * @throws IllegalArgumentException naming what is allowed
   */
  static Discovery of(String text) {
    int colon = text.indexOf(':');
    String kind = colon < 0 ? text : text.substring(0, colon);
    String rest = colon < 0 ? "" : text.substring(colon + 1);
    if (kind.equals("kafka") && rest.isEmpty()) {
      return new Kafka();
    }
    if (kind.equals("static") && !rest.isEmpty()) {
      List<String> list = new ArrayList<>();
      for (String one : rest.split(",", -1)) {
        list.add(one.strip());
      }
      return new Static(list);
    }
    throw new IllegalArgumentException(
        "discovery '%s': use kafka or static:HOST:PORT,HOST:PORT".formatted(text));
  }
}
