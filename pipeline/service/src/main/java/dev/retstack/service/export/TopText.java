package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.retstack.graph.report.CoreSum;
import dev.retstack.graph.report.FunctionRow;
import dev.retstack.graph.report.Top;
import java.io.IOException;
import java.io.Writer;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** The first functions and cores of a job, in every form. */
public final class TopText {
  private TopText() {}

  /**
   * {@code {partitions, parts, unit, records, lost, untraced, completeness, cores:{RUNNING: n, ..},
   * byPartition:[{partition, cores, records, lost}], topCores:[{core, session, isa, partition,
   * records, lost, untraced, end}], functionCount, self, functions:[as in a report], stats:[..]}}.
   *
   * @param states how a core ended, RUNNING or DEAD where it did not
   * @param coresMost rows of cores at most
   */
  public static void json(
      Top top, Function<CoreSum, String> states, int coresMost, Coverage coverage, Writer out)
      throws IOException {
    Json.write(
        json -> {
          json.writeStartObject();
          coverage.writeTo(json);
          json.writeStringField("unit", top.unit().name());
          json.writeNumberField("records", top.records());
          json.writeNumberField("lost", top.lost());
          json.writeNumberField("untraced", top.untraced());
          json.writeNumberField("completeness", top.completeness());
          json.writeObjectFieldStart("cores");
          for (Map.Entry<String, Integer> end : byState(top, states).entrySet()) {
            json.writeNumberField(end.getKey(), end.getValue());
          }
          json.writeEndObject();
          byPartition(top, json);
          json.writeArrayFieldStart("topCores");
          for (CoreSum core : first(top, coresMost)) {
            core(core, states, json);
          }
          json.writeEndArray();
          json.writeNumberField("functionCount", top.functionCount());
          json.writeNumberField("self", top.self());
          json.writeArrayFieldStart("functions");
          for (FunctionRow row : top.functions()) {
            ReportJson.function(row, json);
          }
          json.writeEndArray();
          json.writeFieldName("stats");
          ReportJson.stats(top.stats(), json);
          json.writeEndObject();
        },
        out);
  }

  private static void byPartition(Top top, JsonGenerator json) throws IOException {
    Map<Integer, long[]> sums = new TreeMap<>();
    for (CoreSum core : top.cores()) {
      long[] sum = sums.computeIfAbsent(core.partition(), _ -> new long[3]);
      sum[0]++;
      sum[1] += core.records();
      sum[2] += core.lost();
    }
    json.writeArrayFieldStart("byPartition");
    for (Map.Entry<Integer, long[]> one : sums.entrySet()) {
      json.writeStartObject();
      json.writeNumberField("partition", one.getKey());
      json.writeNumberField("cores", one.getValue()[0]);
      json.writeNumberField("records", one.getValue()[1]);
      json.writeNumberField("lost", one.getValue()[2]);
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static void core(CoreSum core, Function<CoreSum, String> states, JsonGenerator json)
      throws IOException {
    json.writeStartObject();
    json.writeStringField("core", core.key().core());
    json.writeStringField("session", core.key().session());
    json.writeStringField("isa", core.isa());
    json.writeNumberField("partition", core.partition());
    json.writeNumberField("records", core.records());
    json.writeNumberField("lost", core.lost());
    json.writeNumberField("untraced", core.untraced());
    json.writeStringField("end", states.apply(core));
    json.writeEndObject();
  }

  /** Those that run come first, as their cores do. */
  private static Map<String, Integer> byState(Top top, Function<CoreSum, String> states) {
    Map<String, Integer> counts = new LinkedHashMap<>();
    top.cores().stream()
        .sorted(Comparator.comparing(CoreSum::end))
        .forEach(core -> counts.merge(states.apply(core), 1, Integer::sum));
    return counts;
  }

  private static List<CoreSum> first(Top top, int most) {
    return top.cores().subList(0, Math.min(most, top.cores().size()));
  }

  /** The functions as RFC 4180 text, with the columns of a report. */
  public static void csv(Top top, Appendable out) throws IOException {
    ReportCsv.functions(top.functions(), out);
  }

  /** The sums, then tables of cores, of functions and of what is not zero. */
  public static void text(Top top, Function<CoreSum, String> states, int coresMost, Appendable out)
      throws IOException {
    Line.write(
        out,
        "%d records, %s; cores %s; %d functions"
            .formatted(
                top.records(),
                Units.complete(top.lost(), top.untraced(), top.completeness()),
                byState(top, states),
                top.functionCount()));
    out.append('\n');
    TextTable cores =
        new TextTable("CORE", "ISA", "PARTITION>", "RECORDS>", "LOST>", "UNTRACED>", "END");
    for (CoreSum core : first(top, coresMost)) {
      cores.row(
          core.key().core(),
          core.isa(),
          String.valueOf(core.partition()),
          String.valueOf(core.records()),
          String.valueOf(core.lost()),
          String.valueOf(core.untraced()),
          states.apply(core));
    }
    cores.write(out);
    out.append('\n');
    TextTable functions = new TextTable("FUNCTION", "ISA", "CALLS>", "TOTAL>", "SELF>", "SELF-%>");
    for (FunctionRow row : top.functions()) {
      functions.row(
          row.name(),
          row.isa(),
          String.valueOf(row.calls()),
          String.valueOf(row.total()),
          String.valueOf(row.self()),
          "%.1f".formatted(top.self() == 0 ? 0 : 100.0 * row.self() / top.self()));
    }
    functions.write(out);
    if (!top.stats().isEmpty()) {
      out.append('\n');
      TextTable stats = new TextTable("STAT", "SEVERITY", "COUNT>");
      top.stats()
          .forEach(
              row -> stats.row(row.name(), row.severity().name(), String.valueOf(row.count())));
      stats.write(out);
    }
  }
}
