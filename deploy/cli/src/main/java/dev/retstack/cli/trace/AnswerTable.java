package dev.retstack.cli.trace;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.cli.option.Tables;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.service.table.Format;
import java.io.PrintStream;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/** Shows what became of a command, core by core. */
public final class AnswerTable {
  private static final List<String> CHANGE =
      List.of("core", "isa", "image", "status", "on", "off", "sites", "time", "reasons");

  private static final List<String> STATUS =
      List.of("core", "isa", "image", "status", "sites", "of", "time", "settings");

  private AnswerTable() {}

  /**
   * Writes the answers of cores.
   *
   * @param settings true where what each core traces is wanted, not what was changed
   */
  public static void write(
      List<ControlResult> answers, boolean settings, Format format, PrintStream out)
      throws JsonProcessingException {
    List<String> header = settings ? STATUS : CHANGE;
    List<List<String>> rows =
        answers.stream().map(answer -> settings ? status(answer) : change(answer)).toList();
    switch (format) {
      case TEXT -> Tables.text(out, header, rows);
      case CSV -> Tables.csv(out, header, rows);
      case JSON -> {
        ArrayNode all = Tables.JSON.createArrayNode();
        answers.forEach(answer -> put(all.addObject(), answer));
        Tables.json(out, all);
      }
    }
  }

  private static List<String> change(ControlResult answer) {
    return List.of(
        answer.getCore(),
        answer.getIsa(),
        answer.getImageName(),
        status(answer.getStatus()),
        "+" + answer.getSitesOn(),
        "-" + answer.getSitesOff(),
        answer.getSites() + "/" + answer.getSitesAll(),
        Long.toString(answer.getTime()),
        String.join("; ", answer.getReasons()));
  }

  private static List<String> status(ControlResult answer) {
    boolean told = answer.getStatus() == ControlStatus.APPLIED;
    String settings =
        answer.getSettings().isEmpty()
            ? "everything (standard)"
            : String.join("; ", answer.getSettings());
    return List.of(
        answer.getCore(),
        answer.getIsa(),
        answer.getImageName(),
        told ? "runs" : status(answer.getStatus()),
        Integer.toString(answer.getSites()),
        Integer.toString(answer.getSitesAll()),
        Long.toString(answer.getTime()),
        told ? settings : String.join("; ", answer.getReasons()));
  }

  private static String status(ControlStatus status) {
    return status.toString().toLowerCase(Locale.ROOT);
  }

  /** Puts an answer into a JSON object, of a fleet or of a core. */
  static void put(ObjectNode row, ControlResult answer) {
    row.put("command", answer.getCommand());
    row.put("number", answer.getNumber());
    row.put("session", answer.getSession());
    row.put("core", answer.getCore());
    row.put("isa", answer.getIsa());
    row.put("image", answer.getImage());
    row.put("imageName", answer.getImageName());
    row.put("status", status(answer.getStatus()));
    answer.getReasons().forEach(row.putArray("reasons")::add);
    row.put("cores", answer.getCores());
    row.put("sitesOn", answer.getSitesOn());
    row.put("sitesOff", answer.getSitesOff());
    row.put("sites", answer.getSites());
    row.put("sitesAll", answer.getSitesAll());
    row.put("time", answer.getTime());
    row.put("clockUnit", answer.getClockUnit().toString());
    row.put("answered", Instant.ofEpochMilli(answer.getAnsweredAt()).toString());
    answer.getSettings().forEach(row.putArray("settings")::add);
  }
}
