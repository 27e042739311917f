package dev.retstack.service.export;

import dev.retstack.schema.Node;
import dev.retstack.service.progress.CoreProgress;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Map;

/** Who runs, and who has which partition, in every form. */
public final class PartsText {
  private final List<Node> nodes;
  private final Map<String, String> states;
  private final Coverage coverage;
  private final List<CoreProgress> cores;

  /**
   * What is known of a job.
   *
   * @param nodes members that run, in order
   * @param states what the cluster has each of them for, by its name
   */
  public PartsText(
      List<Node> nodes, Map<String, String> states, Coverage coverage, List<CoreProgress> cores) {
    this.nodes = List.copyOf(nodes);
    this.states = Map.copyOf(states);
    this.coverage = coverage;
    this.cores = List.copyOf(cores);
  }

  /**
   * {@code {nodes:[{node, url, roles, startedAt, cluster}], partitions:{owned, of}, parts:[..]}};
   * parts as in every answer of a job.
   */
  public void json(Writer out) throws IOException {
    Json.write(
        json -> {
          json.writeStartObject();
          json.writeArrayFieldStart("nodes");
          for (Node node : nodes) {
            json.writeStartObject();
            json.writeStringField("node", node.getNode());
            json.writeStringField("url", node.getUrl());
            json.writeArrayFieldStart("roles");
            for (String role : node.getRoles()) {
              json.writeString(role);
            }
            json.writeEndArray();
            json.writeNumberField("startedAt", node.getStartedAt());
            json.writeStringField("cluster", state(node));
            json.writeEndObject();
          }
          json.writeEndArray();
          coverage.writeTo(json);
          json.writeEndObject();
        },
        out);
  }

  /** A row for each partition, RFC 4180. */
  public void csv(Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line(
        "partition", "node", "epoch", "nextOffset", "lag", "waiting", "ageMs", "cores", "missing");
    for (PartRow part : coverage.parts()) {
      csv.line(
          part.partition(),
          part.node(),
          part.epoch(),
          part.nextOffset(),
          lag(part),
          part.waiting().chunks(),
          part.ageMs(),
          cores(part),
          part.missing());
    }
  }

  /** Two aligned tables. */
  public void text(Appendable out) throws IOException {
    TextTable members = new TextTable("NODE", "ROLES", "PARTITIONS>", "CLUSTER", "URL");
    for (Node node : nodes) {
      long has =
          coverage.parts().stream().filter(part -> part.node().equals(node.getNode())).count();
      members.row(
          node.getNode(),
          String.join(",", node.getRoles()),
          String.valueOf(has),
          state(node),
          node.getUrl());
    }
    members.write(out);
    out.append('\n');
    TextTable parts =
        new TextTable("PARTITION>", "EPOCH>", "OFFSET>", "LAG>", "AGE-MS>", "CORES>", "NODE");
    for (PartRow part : coverage.parts()) {
      if (part.isMissing()) {
        parts.row(String.valueOf(part.partition()), "", "", "", "", "", "? " + part.missing());
      } else {
        parts.row(
            String.valueOf(part.partition()),
            String.valueOf(part.epoch()),
            String.valueOf(part.nextOffset()),
            lag(part),
            String.valueOf(part.ageMs()),
            String.valueOf(cores(part)),
            part.node());
      }
    }
    parts.write(out);
    for (PartRow part : coverage.parts()) {
      if (!part.waits().isEmpty()) {
        out.append("# partition %d: %s\n".formatted(part.partition(), part.waits()));
      }
    }
  }

  /** How it stands in the cluster; "none" where it is in no cluster, or in another one. */
  private String state(Node node) {
    return states.getOrDefault(node.getNode(), "none");
  }

  private long cores(PartRow part) {
    return cores.stream().filter(core -> core.partition() == part.partition()).count();
  }

  private static String lag(PartRow part) {
    return part.lag().isPresent() ? String.valueOf(part.lag().getAsLong()) : "";
  }
}
