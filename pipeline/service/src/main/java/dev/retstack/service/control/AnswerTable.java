package dev.retstack.service.control;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/** Shows what each core did with a command. */
public final class AnswerTable {
  /** An answer, of a fleet or of a core. */
  static final Table<ControlResult> ANSWERS =
      new Table<ControlResult>()
          .text("command", ControlResult::getCommand)
          .text("number", ControlResult::getNumber)
          .text("session", ControlResult::getSession)
          .text("core", ControlResult::getCore)
          .text("isa", ControlResult::getIsa)
          .text("image", ControlResult::getImage)
          .text("imageName", ControlResult::getImageName)
          .text("status", AnswerTable::status)
          .text("reasons", ControlResult::getReasons)
          .text("cores", ControlResult::getCores)
          .text("sitesOn", ControlResult::getSitesOn)
          .text("sitesOff", ControlResult::getSitesOff)
          .text("sites", ControlResult::getSites)
          .text("sitesAll", ControlResult::getSitesAll)
          .text("time", ControlResult::getTime)
          .text("clockUnit", answer -> answer.getClockUnit().toString())
          .text("answered", answer -> Instant.ofEpochMilli(answer.getAnsweredAt()).toString())
          .text("settings", ControlResult::getSettings);

  private static final Table<ControlResult> CHANGES =
      ANSWERS
          .onlyText("on", answer -> "+" + answer.getSitesOn())
          .onlyText("off", answer -> "-" + answer.getSitesOff())
          .onlyText("of", answer -> answer.getSites() + "/" + answer.getSitesAll())
          .onlyText("why", AnswerTable::reasons)
          .headed(
              "core",
              "isa",
              "image=imageName",
              "status",
              "on",
              "off",
              "sites=of",
              "time",
              "reasons=why");

  private static final Table<ControlResult> STATUS =
      ANSWERS
          .onlyText("state", answer -> isApplied(answer) ? "runs" : status(answer))
          .onlyText("traces", answer -> isApplied(answer) ? settings(answer) : reasons(answer))
          .headed(
              "core",
              "isa",
              "image=imageName",
              "status=state",
              "sites",
              "of=sitesAll",
              "time",
              "settings=traces");

  private AnswerTable() {}

  /**
   * The answers of cores.
   *
   * @param settings true if text shows what each core traces now; false if it shows what changed
   */
  public static Document document(List<ControlResult> answers, boolean settings) {
    return new Document().indented().table("", settings ? STATUS : CHANGES, answers);
  }

  private static boolean isApplied(ControlResult answer) {
    return answer.getStatus() == ControlStatus.APPLIED;
  }

  private static String status(ControlResult answer) {
    return answer.getStatus().toString().toLowerCase(Locale.ROOT);
  }

  private static String reasons(ControlResult answer) {
    return String.join("; ", answer.getReasons());
  }

  private static String settings(ControlResult answer) {
    return answer.getSettings().isEmpty()
        ? "everything (standard)"
        : String.join("; ", answer.getSettings());
  }
}
