package dev.retstack.service.control;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The audit log: commands with their issuers and targets, and the answers.
 *
 * @param commands in their order
 * @param answers to them
 * @param allCommands false if earlier commands are left out
 * @param allAnswers false if earlier answers are left out, so that counts may be too low
 */
public record ControlLog(
    List<Control> commands, List<ControlResult> answers, boolean allCommands, boolean allAnswers) {
  private record Row(Control command, List<ControlResult> answers) {
    long count(ControlStatus status) {
      return answers.stream().filter(answer -> answer.getStatus() == status).count();
    }
  }

  private static final Table<Row> ROWS =
      new Table<Row>()
          .text("issued", row -> Instant.ofEpochMilli(row.command().getIssuedAt()).toString())
          .text("issuer", row -> row.command().getIssuer())
          .text("target", row -> row.command().getTarget())
          .words("command", row -> text(row.command()))
          .onlyJson("name", row -> row.command().getName())
          .onlyJson("arguments", row -> row.command().getArguments())
          .words("applied", row -> row.count(ControlStatus.APPLIED))
          .words("refused", row -> row.count(ControlStatus.REFUSED))
          .text("id", row -> row.command().getId())
          .headedAsNamed();

  private static final Table<Row> WITH_ANSWERS =
      ROWS.rows("answers", AnswerTable.ANSWERS, Row::answers);

  private static final Table<Row> WITH_COUNTS =
      ROWS.onlyJson("applied", row -> row.count(ControlStatus.APPLIED))
          .onlyJson("refused", row -> row.count(ControlStatus.REFUSED));

  public ControlLog {
    commands = List.copyOf(commands);
    answers = List.copyOf(answers);
  }

  /** A row for each command; in JSON with each answer. */
  public Document document() {
    return new Document().indented().table("", WITH_ANSWERS, rows());
  }

  /** A row for each command with counts of the answers, and whether rows or counts are cut. */
  Document summary() {
    return new Document()
        .field("allCommands", allCommands)
        .field("allAnswers", allAnswers)
        .rows("commands", WITH_COUNTS, rows());
  }

  /** What each core said last of what it traces: it followed a command, or was asked. */
  List<ControlResult> lastOfEachCore() {
    Map<List<String>, ControlResult> last = new LinkedHashMap<>();
    for (ControlResult answer : answers) {
      if (answer.getStatus() == ControlStatus.APPLIED) {
        last.merge(
            List.of(answer.getSession(), answer.getCore()),
            answer,
            (before, now) -> now.getNumber() >= before.getNumber() ? now : before);
      }
    }
    return List.copyOf(last.values());
  }

  private List<Row> rows() {
    Map<String, List<ControlResult>> byCommand =
        answers.stream().collect(Collectors.groupingBy(ControlResult::getCommand));
    return commands.stream()
        .map(one -> new Row(one, byCommand.getOrDefault(one.getId(), List.of())))
        .toList();
  }

  /** A command as it is typed. */
  static String text(Control command) {
    return command.getArguments().isEmpty()
        ? command.getName()
        : command.getName() + " " + String.join(" ", command.getArguments());
  }
}
