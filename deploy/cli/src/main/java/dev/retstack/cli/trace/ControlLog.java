package dev.retstack.cli.trace;

import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.service.table.Document;
import dev.retstack.service.table.Table;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The audit log: who told whom to trace what, and what came of it.
 *
 * @param commands in their order
 * @param answers to them
 */
public record ControlLog(List<Control> commands, List<ControlResult> answers) {
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
          .rows("answers", AnswerTable.ANSWERS, Row::answers)
          .headedAsNamed();

  public ControlLog {
    commands = List.copyOf(commands);
    answers = List.copyOf(answers);
  }

  /** A row for each command; in JSON with each answer. */
  public Document document() {
    Map<String, List<ControlResult>> byCommand =
        answers.stream().collect(Collectors.groupingBy(ControlResult::getCommand));
    return new Document()
        .indented()
        .table(
            "",
            ROWS,
            commands.stream()
                .map(one -> new Row(one, byCommand.getOrDefault(one.getId(), List.of())))
                .toList());
  }

  /** A command as it is typed. */
  static String text(Control command) {
    return command.getArguments().isEmpty()
        ? command.getName()
        : command.getName() + " " + String.join(" ", command.getArguments());
  }
}
