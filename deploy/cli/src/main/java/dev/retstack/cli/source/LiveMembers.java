package dev.retstack.cli.source;

import dev.retstack.cli.Terminal;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.option.KafkaOptions;
import dev.retstack.schema.Node;
import dev.retstack.service.nodes.NodeRecords;
import dev.retstack.service.nodes.Role;
import java.io.IOException;
import java.net.URI;
import java.util.List;

/** Where a running pipeline can be asked. */
final class LiveMembers {
  private LiveMembers() {}

  /**
   * Addresses of members, best first; any of them answers for all.
   *
   * @param http what the user named; null for none
   * @throws IOException where Kafka was named and knows of no member
   */
  static List<URI> of(URI http, String group, KafkaOptions kafka, Terminal terminal)
      throws IOException {
    if (http != null) {
      return List.of(http);
    }
    if (!kafka.isConfigured(terminal)) {
      return List.of(URI.create(LiveOptions.PIPELINE));
    }
    KafkaLink link = kafka.link(terminal);
    List<URI> members =
        NodeRecords.running(link.settings(), link.topics().nodes(), group).stream()
            .filter(node -> node.getRoles().contains(Role.QUERY.word()))
            .map(Node::getUrl)
            .map(URI::create)
            .toList();
    if (members.isEmpty()) {
      throw new IOException(
          "no member of group %s that answers questions has announced itself on Kafka at %s"
              .formatted(group, link.settings().bootstrap()));
    }
    return members;
  }
}
