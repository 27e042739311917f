package dev.retstack.answers.view;

import dev.retstack.answers.replay.TraceTimeline;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.pyramid.Line;
import dev.retstack.graph.pyramid.Timeline;
import dev.retstack.graph.symbol.FunctionNames;
import dev.retstack.schema.record.FunctionName;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** What cores did when: as text a line for each depth of each task. */
public final class TimelineView {
  /** Shares of a stretch that is not of one call, from the least on. */
  private static final String SHADES = ".:+#";

  /** Characters of a task's name in front of its lines. */
  private static final int LABEL_MAX = 40;

  /** Stretches of time, unless asked for otherwise. */
  public static final int WIDTH = 100;

  /** Lines of a core, unless asked for otherwise. */
  public static final int LINES = 64;

  private static final List<String> LEGEND =
      List.of(
          "|name____ one call is open all that time",
          ". : + #   calls take up to 25, 50, 75, 100 % of that stretch",
          "L         records are missing",
          "!         anomalies",
          "^         an exception or a longjmp ended calls",
          "-         a call is open, and its task is switched out for most of that stretch");

  /** A line of a core, with its number of rows. */
  private record OfLine(TraceTimeline.Answer answer, Line line, int rows) {
    String taskName() {
      return answer.tasks().name(line.task(), line.instance());
    }

    <T> Optional<T> ofCalls(T value) {
      return line.kind() == Line.Kind.CALLS ? Optional.of(value) : Optional.empty();
    }

    <T> Optional<T> ofTask(T value) {
      return line.kind() == Line.Kind.AWAY ? Optional.of(value) : ofCalls(value);
    }
  }

  private record Row(OfLine of, Timeline.Row row, String name) {
    <T> Optional<T> ofCall(boolean wanted, T value) {
      return wanted && row.line().kind() != Line.Kind.LOSSES && row.selfPc() != 0
          ? Optional.of(value)
          : Optional.empty();
    }
  }

  private static final Table<OfLine> LINE =
      new Table<OfLine>()
          .text("core", of -> of.answer.core().core())
          .text("session", of -> of.answer.core().session())
          .text("kind", of -> of.line.kind())
          .text("task", of -> of.ofTask(new Table.TaskId(of.line.task())))
          .number("instance", of -> of.ofTask(of.line.instance()))
          .number("interrupts", of -> of.ofCalls(of.line.interrupts()))
          .number("depth", of -> of.ofCalls(of.line.depth()))
          .text("taskName", of -> of.ofTask(of.taskName()));

  private static final Table<Row> STRETCH =
      new Table<Row>()
          .number("from", of -> of.row.from())
          .number("to", of -> of.row.to())
          .text("function", of -> of.ofCall(of.row.covered(), of.name))
          .number("calls", of -> of.row.calls())
          .number("busy", of -> of.row.busy())
          .text("longest", of -> of.ofCall(true, of.name));

  private static final Table<Row> LONGEST =
      new Table<Row>().number("enter", of -> of.row.enter()).number("exit", of -> of.row.exit());

  private static final Table<Row> ROWS =
      new Table<Row>()
          .and(LINE, Row::of)
          .and(STRETCH, row -> row)
          .text("selfPc", of -> of.ofCall(true, new Table.Hex(of.row.selfPc())))
          .and(LONGEST, row -> row);

  private static final Table<OfLine> LINES_OF_ROWS = LINE.number("rows", OfLine::rows);
  private static final Table<Row> ROWS_OF_LINES = STRETCH.and(LONGEST, row -> row);

  private static final Table<TraceTimeline.Answer> CORES =
      new Table<TraceTimeline.Answer>()
          .text("core", of -> of.core().core())
          .text("session", of -> of.core().session())
          .text("unit", TraceTimeline.Answer::unit)
          .number("last", TraceTimeline.Answer::last)
          .number("from", of -> of.timeline().from())
          .number("to", of -> of.timeline().to())
          .number("stretch", of -> of.timeline().pixel())
          .number("stretches", of -> of.timeline().pixels())
          .number("linesLeftOut", of -> of.timeline().linesLeftOut())
          .number("callsLeftOut", of -> of.timeline().callsLeftOut())
          .text("detail", TraceTimeline.Answer::detail);

  private TimelineView() {}

  /** The answers of some cores. */
  public static Document of(List<TraceTimeline.Answer> answers) {
    return of(answers, false);
  }

  /**
   * The answers of some cores.
   *
   * @param columns whether JSON has lines, and their rows column by column: a tenth of the bytes
   */
  public static Document of(List<TraceTimeline.Answer> answers, boolean columns) {
    List<OfLine> lines = new ArrayList<>();
    List<Row> rows = new ArrayList<>();
    OtherNames others = new OtherNames();
    answers.forEach(answer -> add(answer, lines, rows, others));
    Document document = new Document().rows("cores", CORES, answers);
    others.addTo(document);
    return (columns
            ? document.rows("lines", LINES_OF_ROWS, lines).columns("rows", ROWS_OF_LINES, rows)
            : document.rows("rows", ROWS, rows))
        .csv(ROWS, rows)
        .text(text -> write(text, answers));
  }

  private static void add(
      TraceTimeline.Answer answer, List<OfLine> lines, List<Row> rows, OtherNames others) {
    Map<Long, FunctionName> names = new HashMap<>();
    List<Timeline.Row> all = answer.timeline().rows();
    int from = 0;
    for (Line line : answer.timeline().lines()) {
      int end = from;
      while (end < all.size() && all.get(end).line().equals(line)) {
        end++;
      }
      OfLine of = new OfLine(answer, line, end - from);
      lines.add(of);
      for (Timeline.Row row : all.subList(from, end)) {
        FunctionName name = names.computeIfAbsent(row.selfPc(), answer.names()::function);
        rows.add(new Row(of, row, name.shown()));
      }
      from = end;
    }
    others.addAll(names.values());
  }

  private static void write(Document text, List<TraceTimeline.Answer> answers) {
    SessionNames names = SessionNames.of(answers.stream().map(answer -> answer.core().session()));
    for (TraceTimeline.Answer answer : answers) {
      Timeline timeline = answer.timeline();
      text.line(
          "core %s: %,d to %,d, %,d %s a character"
              .formatted(
                  names.name(answer.core()),
                  timeline.from(),
                  timeline.to(),
                  timeline.pixel(),
                  Units.name(answer.unit())));
      drawn(answer).forEach(text::line);
      if (timeline.linesLeftOut() > 0) {
        text.line(
            Count.grouped(timeline.linesLeftOut(), "more line has", "more lines have")
                + " calls in this time: give --depth");
      }
      if (timeline.callsLeftOut() > 0) {
        text.line(
            "%s of the core left out: %d deep or more, or of too many tasks"
                .formatted(Count.grouped(timeline.callsLeftOut(), "call"), Line.DEPTHS));
      }
      text.gap();
    }
    LEGEND.forEach(text::line);
  }

  private static List<String> drawn(TraceTimeline.Answer answer) {
    Timeline timeline = answer.timeline();
    Map<Line, List<Timeline.Row>> rows =
        timeline.rows().stream().collect(Collectors.groupingBy(Timeline.Row::line));
    List<Line> shown =
        timeline.lines().stream().filter(line -> line.kind() != Line.Kind.AWAY).toList();
    List<String> labels = shown.stream().map(line -> label(line, answer)).toList();
    int wide = labels.stream().mapToInt(String::length).max().orElse(0);
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < labels.size(); i++) {
      Line line = shown.get(i);
      char[] pixels = new char[timeline.pixels()];
      Arrays.fill(pixels, ' ');
      rows.getOrDefault(line, List.of())
          .forEach(row -> draw(row, timeline, answer.names(), pixels));
      if (line.kind() == Line.Kind.CALLS) {
        rows.getOrDefault(line.away(), List.of()).forEach(row -> away(row, timeline, pixels));
      }
      String label = labels.get(i);
      lines.add(label + " ".repeat(wide - label.length() + 1) + new String(pixels));
    }
    return lines;
  }

  /** A call that is open while its task is switched out does not run. */
  private static void away(Timeline.Row row, Timeline timeline, char[] pixels) {
    if (row.busy() > (row.to() - row.from()) / 2) {
      for (int at = first(row, timeline); at < end(row, timeline); at++) {
        pixels[at] = pixels[at] == '_' ? '-' : pixels[at];
      }
    }
  }

  private static int first(Timeline.Row row, Timeline timeline) {
    return (int) ((row.from() - timeline.from()) / timeline.pixel());
  }

  private static int end(Timeline.Row row, Timeline timeline) {
    long stretches = (row.to() - row.from() - 1) / timeline.pixel() + 1;
    return (int) Math.min(timeline.pixels(), first(row, timeline) + stretches);
  }

  private static void draw(
      Timeline.Row row, Timeline timeline, FunctionNames names, char[] pixels) {
    int first = first(row, timeline);
    int end = end(row, timeline);
    switch (row.line().kind()) {
      case LOSSES -> Arrays.fill(pixels, first, end, 'L');
      case ANOMALIES -> Arrays.fill(pixels, first, end, '!');
      case EVENTS -> Arrays.fill(pixels, first, end, '^');
      case AWAY -> {} // not a line: see away
      case CALLS -> {
        if (!row.covered()) {
          double share = (double) row.busy() / timeline.pixel();
          pixels[first] = SHADES.charAt(Math.clamp((int) Math.ceil(share * 4) - 1, 0, 3));
          return;
        }
        Arrays.fill(pixels, first, end, '_');
        pixels[first] = '|';
        String name = names.name(row.selfPc());
        if (end - first > 3) {
          name.getChars(0, Math.min(name.length(), end - first - 2), pixels, first + 1);
        }
      }
    }
  }

  private static String shortened(String name) {
    return name.length() > LABEL_MAX ? name.substring(0, LABEL_MAX - 1) + "\u2026" : name;
  }

  private static String label(Line line, TraceTimeline.Answer answer) {
    return switch (line.kind()) {
      case LOSSES -> "losses";
      case ANOMALIES -> "anomalies";
      case EVENTS -> "events";
      case AWAY -> "";
      case CALLS ->
          "%s %sdepth %d"
              .formatted(
                  shortened(answer.tasks().name(line.task(), line.instance())),
                  line.interrupts() > 0 ? "interrupt " + line.interrupts() + " " : "",
                  line.depth());
    };
  }
}
