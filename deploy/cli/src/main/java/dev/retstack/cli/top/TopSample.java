package dev.retstack.cli.top;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a pipeline said at one moment.
 *
 * @param nanos when, by this process's own clock
 */
record TopSample(
    long nanos,
    List<String> nodes,
    List<PartOf> parts,
    Map<String, CoreOf> cores,
    Map<String, FunctionOf> functions,
    double completeness,
    Map<String, Long> stats) {
  /** A partition; {@code missing} is empty where it was answered for. */
  record PartOf(int partition, String node, long lag, String missing) {}

  /** A core. */
  record CoreOf(
      String core,
      String session,
      String isa,
      int partition,
      long records,
      long lost,
      String end) {}

  /** A function. */
  record FunctionOf(String name, String isa, long calls, long self) {}

  TopSample {
    nodes = List.copyOf(nodes);
    parts = List.copyOf(parts);
    cores = Map.copyOf(cores);
    functions = Map.copyOf(functions);
    stats = new TreeMap<>(stats);
  }

  /**
   * Reads three answers.
   *
   * @param parts of {@code /parts}
   * @param cores of {@code /cores}
   * @param report of {@code /report}
   */
  static TopSample of(long nanos, JsonNode parts, JsonNode cores, JsonNode report) {
    List<String> nodes = new ArrayList<>();
    parts.path("nodes").forEach(node -> nodes.add(node.path("node").asText()));
    List<PartOf> partRows = new ArrayList<>();
    for (JsonNode part : parts.path("parts")) {
      partRows.add(
          new PartOf(
              part.path("partition").asInt(),
              part.path("node").asText(),
              part.path("lag").asLong(),
              part.path("missing").asText()));
    }
    Map<String, CoreOf> coreRows = new TreeMap<>();
    for (JsonNode core : cores.path("cores")) {
      CoreOf row =
          new CoreOf(
              core.path("core").asText(),
              core.path("session").asText(),
              core.path("isa").asText(),
              core.path("partition").asInt(),
              core.path("records").asLong(),
              core.path("lost").asLong(),
              core.path("end").asText());
      coreRows.put(row.core() + "\n" + row.session(), row);
    }
    Map<String, FunctionOf> functions = new TreeMap<>();
    for (JsonNode function : report.path("functions")) {
      functions.put(
          function.path("image").asText() + "\n" + function.path("address").asText(),
          new FunctionOf(
              function.path("name").asText(),
              function.path("isa").asText(),
              function.path("calls").asLong(),
              function.path("self").asLong()));
    }
    Map<String, Long> stats = new TreeMap<>();
    for (JsonNode stat : report.path("stats")) {
      if (!stat.path("severity").asText().equals("INFO")) {
        stats.put(stat.path("name").asText(), stat.path("count").asLong());
      }
    }
    return new TopSample(
        nanos, nodes, partRows, coreRows, functions, report.path("completeness").asDouble(), stats);
  }
}
