package dev.retstack.service.export;

import dev.retstack.graph.aggregate.ForgottenSessions;
import dev.retstack.graph.report.Report;
import dev.retstack.service.progress.CoreProgress;
import dev.retstack.service.reconstruct.StateCopy;
import java.io.IOException;
import java.io.Writer;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Where cores and partitions stand, in every form. */
public final class ProgressText {
  private ProgressText() {}

  /**
   * {@code {partitions:{owned, of}, parts:[..], cores:[{core, session, partition, isa, chunks,
   * records, lost, untraced, time, end, endDetail, exitCode, deadSince}]}}; {@code exitCode} only
   * of cores whose program had one, {@code deadSince} only of cores that are DEAD.
   */
  public static void json(List<CoreProgress> cores, Coverage coverage, Writer out)
      throws IOException {
    json(cores, Optional.of(coverage), out);
  }

  /** The cores of a trace. */
  public static void json(List<CoreProgress> cores, Writer out) throws IOException {
    json(cores, Optional.empty(), out);
  }

  private static void json(List<CoreProgress> cores, Optional<Coverage> coverage, Writer out)
      throws IOException {
    Json.write(
        json -> {
          json.writeStartObject();
          if (coverage.isPresent()) {
            coverage.get().writeTo(json);
          }
          json.writeArrayFieldStart("cores");
          for (CoreProgress core : cores) {
            json.writeStartObject();
            json.writeStringField("core", core.key().core());
            json.writeStringField("session", core.key().session());
            json.writeNumberField("partition", core.partition());
            json.writeStringField("isa", core.isa());
            json.writeNumberField("chunks", core.chunks());
            json.writeNumberField("records", core.records());
            json.writeNumberField("lost", core.lost());
            json.writeNumberField("untraced", core.untraced());
            json.writeNumberField("time", core.time());
            json.writeStringField("end", core.state());
            json.writeStringField("endDetail", core.endDetail());
            if (core.exitCode().isPresent()) {
              json.writeNumberField("exitCode", core.exitCode().getAsInt());
            }
            if (core.isDead()) {
              json.writeNumberField("deadSince", core.deadSince());
            }
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeEndObject();
        },
        out);
  }

  /** The same fields as RFC 4180 text. */
  public static void csv(List<CoreProgress> cores, Appendable out) throws IOException {
    Csv csv = new Csv(out);
    csv.line(
        "core",
        "session",
        "partition",
        "isa",
        "chunks",
        "records",
        "lost",
        "untraced",
        "time",
        "end",
        "deadSince",
        "exitCode",
        "endDetail");
    for (CoreProgress core : cores) {
      csv.line(
          core.key().core(),
          core.key().session(),
          core.partition(),
          core.isa(),
          core.chunks(),
          core.records(),
          core.lost(),
          core.untraced(),
          core.time(),
          core.state(),
          core.isDead() ? core.deadSince() : "",
          exitCode(core),
          core.endDetail());
    }
  }

  /** The same fields as an aligned table. */
  public static void text(List<CoreProgress> cores, Appendable out) throws IOException {
    TextTable table =
        new TextTable(
            "CORE",
            "ISA",
            "PARTITION>",
            "CHUNKS>",
            "RECORDS>",
            "LOST>",
            "UNTRACED>",
            "TIME>",
            "END",
            "EXIT>",
            "SESSION",
            "HOW IT ENDED");
    for (CoreProgress core : cores) {
      table.row(
          core.key().core(),
          core.isa(),
          String.valueOf(core.partition()),
          String.valueOf(core.chunks()),
          String.valueOf(core.records()),
          String.valueOf(core.lost()),
          String.valueOf(core.untraced()),
          String.valueOf(core.time()),
          end(core),
          exitCode(core),
          core.key().session(),
          core.endDetail());
    }
    table.write(out);
  }

  private static String exitCode(CoreProgress core) {
    return core.exitCode().isPresent() ? String.valueOf(core.exitCode().getAsInt()) : "";
  }

  private static String end(CoreProgress core) {
    return core.isDead()
        ? core.state() + " since " + Instant.ofEpochMilli(core.deadSince())
        : core.state();
  }

  /**
   * {@code {partitions:{owned, of}, unit, records, lost, untraced, completeness, stats:[..],
   * forgotten:{sessions, cores, records, lost, since}, positions:[{partition, epoch, nextOffset,
   * checkpointedOffset, skippedOffsets}]}}.
   */
  public static void statsJson(
      Report report,
      List<StateCopy> partitions,
      ForgottenSessions forgotten,
      Coverage coverage,
      Writer out)
      throws IOException {
    Json.write(
        json -> {
          json.writeStartObject();
          coverage.writeTo(json);
          json.writeStringField("unit", report.unit().name());
          json.writeNumberField("records", report.records());
          json.writeNumberField("lost", report.lost());
          json.writeNumberField("untraced", report.untraced());
          json.writeNumberField("completeness", report.completeness());
          json.writeFieldName("stats");
          ReportJson.stats(report.stats(), json);
          ForgottenText.json(forgotten, json);
          json.writeArrayFieldStart("positions");
          for (StateCopy copy : partitions) {
            json.writeStartObject();
            json.writeNumberField("partition", copy.partition());
            json.writeNumberField("epoch", copy.epoch());
            json.writeNumberField("nextOffset", copy.nextOffset());
            json.writeNumberField("checkpointedOffset", copy.checkpointedOffset());
            json.writeNumberField("skippedOffsets", copy.skippedOffsets());
            json.writeEndObject();
          }
          json.writeEndArray();
          json.writeEndObject();
        },
        out);
  }
}
