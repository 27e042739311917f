package dev.retstack.answers.table;

import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The content of a view, in order: lines and tables for text, fields for JSON, one table for CSV.
 * It is built first and then written in the requested form, so that no form omits what another one
 * has.
 */
public final class Document implements Rendering {
  /** Something that one form has, or all of them have. */
  sealed interface Item {}

  /** A line of text. */
  record TextLine(String text) implements Item {}

  /** A table as text. */
  record TextRows<T>(Table<T> table, List<T> rows) implements Item {}

  /** Lines and tables of text that are made when text is asked for. */
  record TextPart(Consumer<Document> part) implements Item {}

  /** A field of the JSON object; without a name its value is the whole JSON. */
  record Field(String name, Object value) implements Item {}

  /** The table that is the CSV. */
  record CsvRows<T>(Table<T> table, List<T> rows) implements Item {}

  private final List<Item> items = new ArrayList<>();
  private String ahead = "";
  private boolean indented;

  /** An object of JSON: names and values in turn, in this order. */
  public static Map<String, Object> object(Object... namesAndValues) {
    Map<String, Object> fields = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return fields;
  }

  /** JSON: on many lines, for documents that people read, too. */
  public Document indented() {
    indented = true;
    return this;
  }

  /** Text: a line. */
  public Document line(String text) {
    items.add(new TextLine(text));
    return this;
  }

  /**
   * What is said before all else: text has it as first line, JSON as a field, where it has any. CSV
   * has it in the first cell of its last line, since the first one names the columns.
   */
  public Document ahead(String text, String name, Object value) {
    ahead = text;
    items.addFirst(new TextLine(text));
    boolean isObject = fields().stream().noneMatch(field -> field.name().isEmpty());
    return isObject ? field(name, value) : this;
  }

  /** Text: an empty line. */
  public Document gap() {
    return line("");
  }

  /** Text: a table. */
  public <T> Document text(Table<T> table, List<T> rows) {
    items.add(new TextRows<>(table, rows));
    return this;
  }

  /** Text: lines that are made only when text is asked for, since there may be very many. */
  public Document text(Consumer<Document> part) {
    items.add(new TextPart(part));
    return this;
  }

  /** Text: a table behind an empty line, where it has rows. */
  public <T> Document textIfAny(Table<T> table, List<T> rows) {
    return rows.isEmpty() ? this : gap().text(table, rows);
  }

  /**
   * JSON: a field.
   *
   * @param value as in a {@link Table}; or a map, which becomes an object
   */
  public Document field(String name, Object value) {
    items.add(new Field(name, value));
    return this;
  }

  /** JSON: an array of objects. */
  public <T> Document rows(String name, Table<T> table, List<T> rows) {
    return field(name, new Table.Rows<>(table, rows));
  }

  /** JSON: the rows column by column. */
  public <T> Document columns(String name, Table<T> table, List<T> rows) {
    return field(name, new Table.Columns<>(table, rows));
  }

  /** JSON: an array of objects, where it has any. */
  public <T> Document rowsIfAny(String name, Table<T> table, List<T> rows) {
    return rows.isEmpty() ? this : rows(name, table, rows);
  }

  /** CSV: the table. */
  public <T> Document csv(Table<T> table, List<T> rows) {
    items.add(new CsvRows<>(table, rows));
    return this;
  }

  /**
   * A table in every form.
   *
   * @param name of the field in JSON; empty where the array is the whole JSON
   */
  public <T> Document table(String name, Table<T> table, List<T> rows) {
    return rows(name, table, rows).csv(table, rows).text(table, rows);
  }

  boolean isIndented() {
    return indented;
  }

  /** What is said before all else; empty: nothing. */
  String ahead() {
    return ahead;
  }

  List<Item> items() {
    return items;
  }

  /** What JSON has of them. */
  List<Field> fields() {
    return items.stream().filter(Field.class::isInstance).map(Field.class::cast).toList();
  }

  @Override
  public void write(Format form, Writer out) throws IOException {
    switch (form) {
      case TEXT -> TextTable.write(this, out);
      case JSON -> Json.write(this, out);
      case CSV -> Csv.write(this, out);
    }
  }
}
