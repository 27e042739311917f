package dev.retstack.answers.view;

import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.schema.Node;
import java.util.List;
import java.util.Map;

/** Which members run, and which has which partition. */
public final class PartsView {
  private PartsView() {}

  /**
   * The members and the partitions of a job.
   *
   * @param nodes members that run, in order
   * @param unreachable why the member that answers does not reach some of them, by their name
   */
  public static Document of(
      List<Node> nodes,
      Map<String, String> unreachable,
      Coverage coverage,
      List<CoreProgress> cores) {
    Table<Node> members =
        new Table<Node>()
            .text("node", Node::getNode)
            .text("url", Node::getUrl)
            .text("roles", Node::getRoles)
            .onlyTextNumber(
                "partitions",
                node ->
                    coverage.parts().stream()
                        .filter(part -> part.node().equals(node.getNode()))
                        .count())
            .number("startedAt", Node::getStartedAt)
            .text("state", node -> unreachable.containsKey(node.getNode()) ? "unreachable" : "up")
            .text("reason", node -> unreachable.get(node.getNode()))
            .headed("NODE", "ROLES", "PARTITIONS", "STATE", "URL", "REASON");
    Table<PartRow> parts =
        PartRow.PARTS
            .number("cores", part -> part.isMissing() ? null : cores(part, cores))
            .onlyTextNumber("lagInWords", PartsView::lag)
            .onlyText("who", part -> part.isMissing() ? "? " + part.missing() : part.node())
            .headed(
                "PARTITION",
                "EPOCH",
                "OFFSET=nextOffset",
                "LAG=lagInWords",
                "AGE-MS=ageMs",
                "CORES",
                "NODE=who");
    Document document = new Document().rows("nodes", members, nodes).text(members, nodes).gap();
    coverage.addFields(document);
    document.csv(parts, coverage.parts()).text(parts, coverage.parts());
    for (PartRow part : coverage.parts()) {
      if (part.waiting().chunks() > 0) {
        document.line("# partition %d: %s".formatted(part.partition(), part.waits()));
      }
    }
    return document;
  }

  private static Object lag(PartRow part) {
    return part.isMissing() || part.lag().isPresent() ? part.lag() : "unknown";
  }

  private static long cores(PartRow part, List<CoreProgress> cores) {
    return cores.stream().filter(core -> core.partition() == part.partition()).count();
  }
}
