package dev.retstack.cli.isa;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.retstack.cli.option.Tables;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.schema.linux.SystemCallNames;
import dev.retstack.service.table.Format;
import java.io.PrintStream;
import java.util.List;

/** The system calls of an ISA that events can name: a row each. */
public final class SystemCallTable {
  private static final List<String> HEADER = List.of("name", "number");

  private SystemCallTable() {}

  /** Writes the table, by name. */
  public static void write(Isa isa, Format format, PrintStream out) throws JsonProcessingException {
    SystemCallNames table = SystemCallNames.of(isa.syscalls().numbers().table());
    List<List<String>> rows =
        table.names().stream()
            .map(name -> List.of(name, table.number(name).map(String::valueOf).orElse("")))
            .toList();
    switch (format) {
      case TEXT -> Tables.text(out, HEADER, rows);
      case CSV -> Tables.csv(out, HEADER, rows);
      case JSON -> {
        ArrayNode all = Tables.JSON.createArrayNode();
        for (List<String> row : rows) {
          all.addObject()
              .put("name", row.getFirst())
              .put("number", Integer.parseInt(row.getLast()));
        }
        Tables.json(out, all);
      }
    }
  }
}
