package dev.retstack.service.export;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.retstack.graph.aggregate.ForgottenSessions;
import dev.retstack.graph.reconstruct.Saturating;
import dev.retstack.graph.report.Report;
import dev.retstack.service.progress.CoreProgress;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** Cores added up: by session, by partition, by core. */
public final class SumText {
  /**
   * Some cores together.
   *
   * @param name the session, the number of the partition, or core and session
   * @param cores how many
   * @param running of which have not ended and are not dead
   * @param dead of which have not ended, and their fleets are gone
   * @param chunks their chunks
   * @param records their records
   * @param lost records known to be missing
   * @param untraced calls known to have made no records
   */
  public record Sum(
      String name,
      long cores,
      long running,
      long dead,
      long chunks,
      long records,
      long lost,
      long untraced) {
    private static Sum of(String name, Collection<CoreProgress> cores) {
      return new Sum(
          name,
          cores.size(),
          cores.stream().filter(core -> !core.ended() && !core.isDead()).count(),
          cores.stream().filter(CoreProgress::isDead).count(),
          cores.stream().mapToLong(CoreProgress::chunks).sum(),
          cores.stream().mapToLong(CoreProgress::records).sum(),
          cores.stream().mapToLong(CoreProgress::lost).sum(),
          cores.stream().mapToLong(CoreProgress::untraced).reduce(0, Saturating::sum));
    }

    double completeness() {
      return Report.completeness(records, lost, untraced);
    }
  }

  /** What is added up, and how it is called. */
  public enum By {
    SESSION,
    PARTITION,
    CORE;

    private String heading() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private SumText() {}

  /** One row of each session. */
  public static List<Sum> bySession(List<CoreProgress> cores) {
    return by(cores, core -> core.key().session());
  }

  /** One row of each partition that has cores. */
  public static List<Sum> byPartition(List<CoreProgress> cores) {
    return by(cores, core -> "%05d".formatted(core.partition())).stream()
        .map(
            sum ->
                new Sum(
                    String.valueOf(Integer.parseInt(sum.name())),
                    sum.cores(),
                    sum.running(),
                    sum.dead(),
                    sum.chunks(),
                    sum.records(),
                    sum.lost(),
                    sum.untraced()))
        .toList();
  }

  private static List<Sum> by(List<CoreProgress> cores, Function<CoreProgress, String> name) {
    Map<String, List<CoreProgress>> groups = new TreeMap<>();
    cores.forEach(
        core -> groups.computeIfAbsent(name.apply(core), _ -> new ArrayList<>()).add(core));
    List<Sum> sums = new ArrayList<>();
    groups.forEach((key, group) -> sums.add(Sum.of(key, group)));
    return sums;
  }

  /**
   * {@code {partitions, parts, sessions:[{session, cores, running, dead, chunks, records, lost,
   * untraced, completeness}]}}.
   */
  public static void sessions(List<Sum> sessions, Coverage coverage, Writer out)
      throws IOException {
    Json.write(
        json -> {
          json.writeStartObject();
          coverage.writeTo(json);
          rows(json, "sessions", By.SESSION, sessions);
          json.writeEndObject();
        },
        out);
  }

  /**
   * {@code {partitions, parts, records, lost, untraced, completeness, forgotten:{sessions, cores,
   * records, lost, since}, byPartition:[{partition, cores, ..}], cores:[{core, session, partition,
   * records, lost, untraced, completeness}]}}.
   *
   * @param all of the answer's partitions
   * @param shown those of them that this answer lists
   * @param forgotten cores that are not among them any more
   */
  public static void completeness(
      List<CoreProgress> all,
      List<CoreProgress> shown,
      ForgottenSessions forgotten,
      Coverage coverage,
      Writer out)
      throws IOException {
    Json.write(
        json -> {
          json.writeStartObject();
          coverage.writeTo(json);
          Sum sum = Sum.of("", all);
          json.writeNumberField("records", sum.records());
          json.writeNumberField("lost", sum.lost());
          json.writeNumberField("untraced", sum.untraced());
          json.writeNumberField("completeness", sum.completeness());
          ForgottenText.json(forgotten, json);
          rows(json, "byPartition", By.PARTITION, byPartition(all));
          json.writeArrayFieldStart("cores");
          for (CoreProgress core : shown) {
            json.writeStartObject();
            json.writeStringField("core", core.key().core());
            json.writeStringField("session", core.key().session());
            json.writeNumberField("partition", core.partition());
            json.writeNumberField("records", core.records());
            json.writeNumberField("lost", core.lost());
            json.writeNumberField("untraced", core.untraced());
            json.writeNumberField("completeness", core.completeness());
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeEndObject();
        },
        out);
  }

  private static void rows(JsonGenerator json, String field, By by, List<Sum> sums)
      throws IOException {
    json.writeArrayFieldStart(field);
    for (Sum sum : sums) {
      json.writeStartObject();
      if (by == By.PARTITION) {
        json.writeNumberField(by.heading(), Integer.parseInt(sum.name()));
      } else {
        json.writeStringField(by.heading(), sum.name());
      }
      json.writeNumberField("cores", sum.cores());
      json.writeNumberField("running", sum.running());
      json.writeNumberField("dead", sum.dead());
      json.writeNumberField("chunks", sum.chunks());
      json.writeNumberField("records", sum.records());
      json.writeNumberField("lost", sum.lost());
      json.writeNumberField("untraced", sum.untraced());
      json.writeNumberField("completeness", sum.completeness());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  /** The sums as RFC 4180 text. */
  public static void csv(By by, List<Sum> sums, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line(
        by.heading(),
        "cores",
        "running",
        "chunks",
        "records",
        "lost",
        "untraced",
        "completeness",
        "dead");
    for (Sum sum : sums) {
      csv.line(
          sum.name(),
          sum.cores(),
          sum.running(),
          sum.chunks(),
          sum.records(),
          sum.lost(),
          sum.untraced(),
          sum.completeness(),
          sum.dead());
    }
  }

  /** The sums as an aligned table. */
  public static void text(By by, List<Sum> sums, Appendable out) throws IOException {
    TextTable table =
        new TextTable(
            by.name(),
            "CORES>",
            "RUNNING>",
            "DEAD>",
            "CHUNKS>",
            "RECORDS>",
            "LOST>",
            "UNTRACED>",
            "COMPLETE>");
    for (Sum sum : sums) {
      table.row(
          sum.name(),
          String.valueOf(sum.cores()),
          String.valueOf(sum.running()),
          String.valueOf(sum.dead()),
          String.valueOf(sum.chunks()),
          String.valueOf(sum.records()),
          String.valueOf(sum.lost()),
          String.valueOf(sum.untraced()),
          Units.percent(sum.completeness()));
    }
    table.write(out);
  }

  /** One row of each core. */
  public static List<Sum> byCore(List<CoreProgress> cores) {
    return cores.stream()
        .map(core -> Sum.of(core.key().core() + " " + core.key().session(), List.of(core)))
        .toList();
  }
}
