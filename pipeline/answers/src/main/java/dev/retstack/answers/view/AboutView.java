package dev.retstack.answers.view;

import dev.retstack.answers.table.CutOff;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import java.util.List;

/** What pages are about: a job, or a trace and how far it was read. */
public final class AboutView {
  private static final Table<String> NOTICES = new Table<String>().text("notice", text -> text);

  private static final Table<TracedCore> CORES =
      new Table<TracedCore>()
          .text("core", TracedCore::core)
          .text("session", TracedCore::session)
          .number("records", TracedCore::records)
          .number("from", TracedCore::first)
          .number("to", TracedCore::last);

  private static final Table<Reading> READINGS =
      new Table<Reading>()
          .text("phase", Reading::phase)
          .number("chunks", Reading::chunks)
          .number("of", Reading::of);

  private AboutView() {}

  /**
   * How far a trace was read.
   *
   * @param phase what is done with it now: {@code pyramid}, {@code report}, {@code ready} or {@code
   *     failed}; or which question it is read for: {@code stacks}, {@code search}
   * @param chunks read in this phase
   * @param of all its chunks
   * @param records read in this phase
   * @param failure why it failed; empty where it did not
   */
  public record Reading(String phase, long chunks, long of, long records, String failure) {}

  /**
   * A core of a trace by its index.
   *
   * @param first time of its first record
   * @param last time of its last record
   */
  public record TracedCore(String core, String session, long records, long first, long last) {}

  /**
   * A running job, which is always ready.
   *
   * @param control whether it answers about commands
   */
  public static Document job(String group, boolean control) {
    return about("job", group, new Reading("ready", 0, 0, 0, ""), List.of(), List.of(), List.of())
        .field("control", control);
  }

  /**
   * A trace.
   *
   * @param readings what is read for questions at the same time
   * @param cut whether it was cut off
   * @param notices sentences for the user
   */
  public static Document trace(
      String file,
      Reading reading,
      List<Reading> readings,
      List<TracedCore> cores,
      boolean cut,
      List<String> notices) {
    Document about =
        about("trace", file, reading, readings, cores, notices).field("control", false);
    return CutOff.ahead(cut, about);
  }

  private static Document about(
      String kind,
      String name,
      Reading reading,
      List<Reading> readings,
      List<TracedCore> cores,
      List<String> notices) {
    return new Document()
        .field("kind", kind)
        .field("name", name)
        .field("phase", reading.phase())
        .field("chunks", reading.chunks())
        .field("of", reading.of())
        .field("records", reading.records())
        .field("failure", reading.failure())
        .rows("readings", READINGS, readings)
        .rows("cores", CORES, cores)
        .rows("notices", NOTICES, notices);
  }
}
