package dev.retstack.answers.view;

import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.graph.limits.Saturating;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.state.ForgottenSessions;
import dev.retstack.graph.state.RefusedCores;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** The position of each core, and sums by session and partition. */
public final class CoresView {
  private static final Table<CoreProgress> NAMED =
      new Table<CoreProgress>()
          .text("core", core -> core.key().core())
          .text("session", core -> core.key().session())
          .number("partition", CoreProgress::partition);

  /** {@code exitCode} only of cores whose program had one, {@code deadSince} only of DEAD ones. */
  private static final Table<CoreProgress> CORES =
      NAMED
          .text("isa", CoreProgress::isa)
          .text("image", CoreProgress::image)
          .text("imageName", CoreProgress::imageName)
          .number("chunks", CoreProgress::chunks)
          .number("keyframes", CoreProgress::keyframes)
          .number("records", CoreProgress::records)
          .number("lost", CoreProgress::lost)
          .number("untraced", CoreProgress::untraced)
          .number("anomalies", CoreProgress::anomalies)
          .number("open", CoreProgress::open)
          .number("time", CoreProgress::time)
          .text("end", CoreProgress::state)
          .number("deadSince", core -> core.isDead() ? core.deadSince() : null)
          .number("exitCode", CoreProgress::exitCode)
          .text("endDetail", CoreProgress::endDetail)
          .onlyText("state", CoresView::state)
          .headed(
              "CORE",
              "ISA",
              "PARTITION",
              "CHUNKS",
              "KEYFRAMES",
              "RECORDS",
              "LOST",
              "UNTRACED",
              "ANOMALIES",
              "OPEN",
              "TIME",
              "END=state",
              "EXIT=exitCode",
              "SESSION",
              "HOW IT ENDED=endDetail");

  private static final Table<CoreProgress> COUNTED =
      NAMED
          .number("records", CoreProgress::records)
          .number("lost", CoreProgress::lost)
          .number("untraced", CoreProgress::untraced);

  private static final Table<RefusedCores.Row> REFUSED =
      new Table<RefusedCores.Row>()
          .text("core", row -> row.key().core())
          .text("session", row -> row.key().session())
          .number("chunks", RefusedCores.Row::chunks)
          .text("reason", RefusedCores.Row::reason)
          .headed("REFUSED=core", "SESSION", "CHUNKS", "WHY=reason");

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
   * @param cut whether one had not ended where its trace was cut off
   */
  public record Sum(
      String name,
      long cores,
      long running,
      long dead,
      long chunks,
      long records,
      long lost,
      long untraced,
      boolean cut) {
    private static Sum of(String name, Collection<CoreProgress> cores, boolean cut) {
      return new Sum(
          name,
          cores.size(),
          cores.stream().filter(core -> !core.ended() && !core.isDead()).count(),
          cores.stream().filter(CoreProgress::isDead).count(),
          cores.stream().mapToLong(CoreProgress::chunks).sum(),
          cores.stream().mapToLong(CoreProgress::records).sum(),
          cores.stream().mapToLong(CoreProgress::lost).sum(),
          cores.stream().mapToLong(CoreProgress::untraced).reduce(0, Saturating::sum),
          cut && cores.stream().anyMatch(core -> !core.ended()));
    }

    double completeness() {
      return Report.completeness(records, lost, untraced, cut);
    }
  }

  private record OfCore(CoreProgress core, Sum sum) {}

  private static final Table<OfCore> COMPLETE =
      new Table<OfCore>()
          .and(COUNTED, OfCore::core)
          .number("completeness", row -> row.sum().completeness());

  private CoresView() {}

  /** Each core: how far it came, and how it ended. */
  public static Document cores(List<CoreProgress> cores) {
    return new Document().table("cores", CORES, cores);
  }

  /**
   * The cores of a job.
   *
   * @param columns whether JSON has them column by column
   */
  public static Document cores(List<CoreProgress> cores, Coverage coverage, boolean columns) {
    Document document = new Document();
    coverage.addTo(document);
    return (columns
            ? document.columns("cores", CORES, cores)
            : document.rows("cores", CORES, cores))
        .csv(CORES, cores)
        .text(CORES, cores);
  }

  private static String state(CoreProgress core) {
    return core.isDead()
        ? core.state() + " since " + Instant.ofEpochMilli(core.deadSince())
        : core.state();
  }

  /** Sessions of a job. */
  public static Document sessions(List<Sum> sessions, Coverage coverage) {
    Document document = new Document();
    coverage.addTo(document);
    return document.table("sessions", sums("session"), sessions);
  }

  /**
   * How much of the records is there: of the job, of each partition, of each core.
   *
   * @param all of the answer's partitions
   * @param shown those of them that this answer lists
   * @param forgotten cores that are not among them any more
   * @param refused cores that never were, since there was no room for them
   */
  public static Document completeness(
      List<CoreProgress> all,
      List<CoreProgress> shown,
      ForgottenSessions forgotten,
      List<RefusedCores.Row> refused,
      Coverage coverage) {
    Document document = new Document();
    coverage.addTo(document);
    boolean isPart = coverage.cut() || !coverage.complete();
    Sum sum = Sum.of("", all, isPart);
    document
        .field("records", sum.records())
        .field("lost", sum.lost())
        .field("untraced", sum.untraced())
        .field(
            "completeness", Report.completeness(sum.records(), sum.lost(), sum.untraced(), isPart));
    ForgottenView.addTo(document, forgotten);
    List<Sum> byCore = byCore(shown, coverage);
    List<OfCore> rows = new ArrayList<>();
    for (int i = 0; i < shown.size(); i++) {
      rows.add(new OfCore(shown.get(i), byCore.get(i)));
    }
    return document
        .rows("refused", REFUSED, refused)
        .rows("byPartition", sums("partition"), byPartition(all, coverage))
        .rows("cores", COMPLETE, rows)
        .csv(sums("core"), byCore)
        .text(sums("partition"), byPartition(all, coverage))
        .gap()
        .text(sums("core"), byCore)
        .textIfAny(REFUSED, refused);
  }

  /**
   * The columns of sums.
   *
   * @param by what they are by
   */
  private static Table<Sum> sums(String by) {
    boolean partition = by.equals("partition");
    return new Table<Sum>()
        .text(by, sum -> partition ? Integer.valueOf(sum.name()) : sum.name())
        .number("cores", Sum::cores)
        .number("running", Sum::running)
        .number("dead", Sum::dead)
        .number("chunks", Sum::chunks)
        .number("records", Sum::records)
        .number("lost", Sum::lost)
        .number("untraced", Sum::untraced)
        .number("completeness", sum -> new Table.Percent(sum.completeness()))
        .headed(
            by.toUpperCase(Locale.ROOT) + "=" + by,
            "CORES",
            "RUNNING",
            "DEAD",
            "CHUNKS",
            "RECORDS",
            "LOST",
            "UNTRACED",
            "COMPLETE=completeness");
  }

  /** A row for each session. */
  public static List<Sum> bySession(List<CoreProgress> cores, Coverage coverage) {
    return by(cores, coverage, core -> core.key().session());
  }

  /** A row for each partition that has cores. */
  private static List<Sum> byPartition(List<CoreProgress> cores, Coverage coverage) {
    return by(cores, coverage, core -> "%05d".formatted(core.partition())).stream()
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
                    sum.untraced(),
                    sum.cut()))
        .toList();
  }

  private static List<Sum> by(
      List<CoreProgress> cores, Coverage coverage, Function<CoreProgress, String> name) {
    Map<String, List<CoreProgress>> groups = new TreeMap<>();
    cores.forEach(
        core -> groups.computeIfAbsent(name.apply(core), _ -> new ArrayList<>()).add(core));
    List<Sum> sums = new ArrayList<>();
    groups.forEach((key, group) -> sums.add(Sum.of(key, group, coverage.cut())));
    return sums;
  }

  /** A row for each core. */
  private static List<Sum> byCore(List<CoreProgress> cores, Coverage coverage) {
    return cores.stream()
        .map(
            core ->
                Sum.of(
                    core.key().core() + " " + core.key().session(), List.of(core), coverage.cut()))
        .toList();
  }
}
