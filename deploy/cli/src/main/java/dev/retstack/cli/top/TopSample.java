package dev.retstack.cli.top;

import com.fasterxml.jackson.databind.JsonNode;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.report.UnitGroups;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * What a pipeline said at one moment.
 *
 * @param nanos when, by this process's own clock
 * @param records of all cores, by partition
 * @param units unit of all times, and the cores of others, which are not here
 * @param cores those that run ahead; not all where there are many
 * @param functions the first ones; not all where there are many
 */
record TopSample(
    long nanos,
    List<String> nodes,
    List<PartOf> parts,
    Map<Integer, Long> records,
    Map<String, CoreOf> cores,
    Map<String, FunctionOf> functions,
    Sums sums,
    UnitGroups.Choice units,
    Map<String, Long> stats) {
  /**
   * A partition.
   *
   * @param lag chunks that are not counted yet; empty where Kafka, or the partition, did not answer
   * @param missing why it is not in the answer; empty where it is
   */
  record PartOf(int partition, String node, OptionalLong lag, String missing) {}

  /** A core. */
  record CoreOf(
      String core,
      String session,
      String isa,
      int partition,
      long records,
      long lost,
      long untraced,
      String end) {}

  /**
   * A function of as many images and ISAs; {@code isa} is empty where these are several.
   *
   * @param session empty where its calls are those of all
   */
  record FunctionOf(
      String name,
      String session,
      String isa,
      int isas,
      int images,
      long calls,
      long total,
      long self) {
    /** Adds the same function of another build of the image. */
    private FunctionOf plus(FunctionOf other) {
      return new FunctionOf(
          name,
          session,
          isa,
          isas,
          images + other.images,
          calls + other.calls,
          total + other.total,
          self + other.self);
    }
  }

  /**
   * Over all cores and functions.
   *
   * @param self time in functions themselves
   * @param allCores whether the sample has a row for each core
   * @param allFunctions whether it has one for each function
   */
  record Sums(
      long cores,
      long running,
      long records,
      long lost,
      long untraced,
      long self,
      double completeness,
      boolean allCores,
      boolean allFunctions) {}

  TopSample {
    nodes = List.copyOf(nodes);
    parts = List.copyOf(parts);
    records = Map.copyOf(records);
    cores = Map.copyOf(cores);
    functions = Map.copyOf(functions);
    stats = new TreeMap<>(stats);
  }

  /** Records of a core that is not here: it began later, or is one of those left out. */
  long recordsOfOthers(CoreOf core) {
    return sums.allCores() ? 0 : core.records();
  }

  /** Calls of a function that is not here: it began later, or is one of those left out. */
  long callsOfOthers(FunctionOf function) {
    return sums.allFunctions() ? 0 : function.calls();
  }

  /**
   * Reads two answers.
   *
   * @param parts of {@code /parts}
   * @param top of {@code /top}
   * @param byImage whether its functions are of images, else of programs
   */
  static TopSample of(long nanos, JsonNode parts, JsonNode top, boolean byImage) {
    List<String> nodes = new ArrayList<>();
    parts.path("nodes").forEach(node -> nodes.add(node.path("node").asText()));
    List<PartOf> partRows = new ArrayList<>();
    for (JsonNode part : top.path("parts")) {
      partRows.add(
          new PartOf(
              part.path("partition").asInt(),
              part.path("node").asText(),
              part.has("lag") ? OptionalLong.of(part.path("lag").asLong()) : OptionalLong.empty(),
              part.path("missing").asText()));
    }
    Map<Integer, Long> records = new TreeMap<>();
    for (JsonNode sum : top.path("byPartition")) {
      records.put(sum.path("partition").asInt(), sum.path("records").asLong());
    }
    Map<String, CoreOf> coreRows = new TreeMap<>();
    for (JsonNode core : top.path("topCores")) {
      CoreOf row =
          new CoreOf(
              core.path("core").asText(),
              core.path("session").asText(),
              core.path("isa").asText(),
              core.path("partition").asInt(),
              core.path("records").asLong(),
              core.path("lost").asLong(),
              core.path("untraced").asLong(),
              core.path("end").asText());
      coreRows.put(row.core() + "\n" + row.session(), row);
    }
    Map<String, FunctionOf> functions = new TreeMap<>();
    for (JsonNode function : top.path("functions")) {
      // a program's image and ISA are its own only as long as it has no other
      String of =
          function.has("program") && !byImage
              ? function.path("program").asText()
              : function.path("image").asText() + "\n" + function.path("address").asText();
      String session = function.path("session").asText();
      functions.merge(
          of + "\n" + function.path("name").asText() + "\n" + session,
          new FunctionOf(
              function.path("name").asText(),
              session,
              function.path("isa").asText(),
              function.path("isas").asInt(),
              function.path("images").asInt(),
              function.path("calls").asLong(),
              function.path("total").asLong(),
              function.path("self").asLong()),
          FunctionOf::plus);
    }
    Map<String, Long> stats = new TreeMap<>();
    for (JsonNode stat : top.path("stats")) {
      if (!stat.path("severity").asText().equals("INFO")) {
        stats.put(stat.path("name").asText(), stat.path("count").asLong());
      }
    }
    return new TopSample(
        nanos, nodes, partRows, records, coreRows, functions, sums(top), units(top), stats);
  }

  private static UnitGroups.Choice units(JsonNode top) {
    Map<ClockUnit, Integer> others = new EnumMap<>(ClockUnit.class);
    ClockUnit shown = ClockUnit.INSTRUCTIONS;
    for (ClockUnit unit : ClockUnit.values()) {
      if (top.path("unit").asText().equals(unit.name())) {
        shown = unit;
      }
      if (top.path("otherUnits").has(unit.name())) {
        others.put(unit, top.path("otherUnits").path(unit.name()).asInt());
      }
    }
    return new UnitGroups.Choice(shown, others);
  }

  private static Sums sums(JsonNode top) {
    long cores = 0;
    for (JsonNode count : top.path("cores")) {
      cores += count.asLong();
    }
    return new Sums(
        cores,
        top.path("cores").path("RUNNING").asLong(),
        top.path("records").asLong(),
        top.path("lost").asLong(),
        top.path("untraced").asLong(),
        top.path("self").asLong(),
        top.path("completeness").asDouble(),
        top.path("topCores").size() == cores,
        top.path("functions").size() == top.path("functionCount").asInt());
  }
}
