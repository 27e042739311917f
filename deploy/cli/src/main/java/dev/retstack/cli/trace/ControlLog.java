package dev.retstack.cli.trace;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.cli.option.Tables;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import java.time.Instant;
import java.util.ArrayList;
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
  /** Columns of {@link #rows}. */
  public static final List<String> HEADER =
      List.of("issued", "issuer", "target", "command", "applied", "refused", "id");

  public ControlLog {
    commands = List.copyOf(commands);
    answers = List.copyOf(answers);
  }

  /** A row for each command. */
  public List<List<String>> rows() {
    Map<String, List<ControlResult>> byCommand = byCommand();
    List<List<String>> rows = new ArrayList<>();
    for (Control command : commands) {
      List<ControlResult> mine = byCommand.getOrDefault(command.getId(), List.of());
      rows.add(
          List.of(
              Instant.ofEpochMilli(command.getIssuedAt()).toString(),
              command.getIssuer(),
              command.getTarget(),
              text(command),
              Long.toString(count(mine, ControlStatus.APPLIED)),
              Long.toString(count(mine, ControlStatus.REFUSED)),
              command.getId()));
    }
    return rows;
  }

  private Map<String, List<ControlResult>> byCommand() {
    return answers.stream().collect(Collectors.groupingBy(ControlResult::getCommand));
  }

  /** A command as it is typed. */
  static String text(Control command) {
    return command.getArguments().isEmpty()
        ? command.getName()
        : command.getName() + " " + String.join(" ", command.getArguments());
  }

  private static long count(List<ControlResult> answers, ControlStatus status) {
    return answers.stream().filter(answer -> answer.getStatus() == status).count();
  }

  /** Everything, with each answer. */
  public ArrayNode json() {
    Map<String, List<ControlResult>> byCommand = byCommand();
    ArrayNode all = Tables.JSON.createArrayNode();
    for (Control command : commands) {
      ObjectNode row = all.addObject();
      row.put("id", command.getId());
      row.put("issued", Instant.ofEpochMilli(command.getIssuedAt()).toString());
      row.put("issuer", command.getIssuer());
      row.put("target", command.getTarget());
      row.put("name", command.getName());
      ArrayNode arguments = row.putArray("arguments");
      command.getArguments().forEach(arguments::add);
      ArrayNode answered = row.putArray("answers");
      byCommand
          .getOrDefault(command.getId(), List.of())
          .forEach(answer -> AnswerTable.put(answered.addObject(), answer));
    }
    return all;
  }
}
