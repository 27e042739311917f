package dev.retstack.answers.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * The columns of a view, each with its name and the source of its value. JSON and CSV have all data
 * columns in order; text has those of {@link #headed}, or all.
 *
 * <p>A value is a string, a number, a boolean, an enum, a list, or one of the records here. An
 * empty optional and null mean that the row has none: JSON omits the field, the others leave the
 * cell empty. Tables are immutable.
 *
 * @param <R> a row
 */
public final class Table<R> {
  /** An address, or a value of unknown meaning: 0x and hex digits in every form. */
  public record Hex(long value) {}

  /** A share in percent: text never rounds it to 0 or 100, which mean nothing and all. */
  public record Percent(double value) {}

  /**
   * A task's id, which is unsigned: hex in JSON, since JavaScript has no number for all of them,
   * decimal elsewhere.
   */
  public record TaskId(long value) {}

  /** A value that text and CSV show in other words. */
  public record Shown(Object value, String words) {}

  /** Rows of another table inside a row, or behind a name of a document: JSON alone has them. */
  public record Rows<T>(Table<T> table, List<T> rows) {
    public Rows {
      rows = List.copyOf(rows);
    }
  }

  /** Rows column by column: JSON alone has them, as {@link Json} says. */
  public record Columns<T>(Table<T> table, List<T> rows) {
    public Columns {
      rows = List.copyOf(rows);
    }
  }

  /**
   * A column.
   *
   * @param name the field's name in JSON and CSV
   * @param right whether text aligns it right
   * @param forms which forms have it
   */
  private record Column<R>(String name, boolean right, Forms forms, Function<? super R, ?> value) {
    Object of(R row) {
      return switch (value.apply(row)) {
        case OptionalInt number -> number.isPresent() ? number.getAsInt() : null;
        case OptionalLong number -> number.isPresent() ? number.getAsLong() : null;
        case Optional<?> one -> one.orElse(null);
        case null -> null;
        case Object one -> one;
      };
    }
  }

  private enum Forms {
    ALL,
    WORDS,
    TEXT,
    JSON
  }

  /** A column of the text form. */
  record Heading(String text, int column) {}

  private final List<Column<R>> columns;
  private final List<Heading> headings;

  /** A table without columns. */
  public Table() {
    this(List.of(), List.of());
  }

  private Table(List<Column<R>> columns, List<Heading> headings) {
    this.columns = List.copyOf(columns);
    this.headings = List.copyOf(headings);
  }

  /** And a column of words. */
  public Table<R> text(String name, Function<? super R, ?> value) {
    return and(new Column<>(name, false, Forms.ALL, value));
  }

  /** And a column of numbers. */
  public Table<R> number(String name, Function<? super R, ?> value) {
    return and(new Column<>(name, true, Forms.ALL, value));
  }

  /** And a column of words that text and CSV have, since JSON says it in other columns. */
  public Table<R> words(String name, Function<? super R, ?> value) {
    return and(new Column<>(name, false, Forms.WORDS, value));
  }

  /** And a column of words that only text has, since the others say it in other columns. */
  public Table<R> onlyText(String name, Function<? super R, ?> value) {
    return and(new Column<>(name, false, Forms.TEXT, value));
  }

  /** And a column of numbers that only text has, written as they are to be read. */
  public Table<R> onlyTextNumber(String name, Function<? super R, ?> value) {
    return and(new Column<>(name, true, Forms.TEXT, value));
  }

  /** And a field that only JSON has. */
  public Table<R> onlyJson(String name, Function<? super R, ?> value) {
    return and(new Column<>(name, false, Forms.JSON, value));
  }

  /** And rows of another table in each row, which only JSON has. */
  public <T> Table<R> rows(String name, Table<T> table, Function<? super R, List<T>> rows) {
    return onlyJson(name, row -> new Rows<>(table, rows.apply(row)));
  }

  /** And a column of words, which text shows last. */
  public Table<R> last(String name, Function<? super R, ?> value) {
    Table<R> with = text(name, value);
    return headings.isEmpty() ? with : with.headed(name.toUpperCase(Locale.ROOT));
  }

  private Table<R> and(Column<R> column) {
    List<Column<R>> all = new ArrayList<>(columns);
    all.add(column);
    return new Table<>(all, headings);
  }

  /** And the columns of another table, of what a row holds. */
  public <T> Table<R> and(Table<T> other, Function<? super R, ? extends T> part) {
    List<Column<R>> all = new ArrayList<>(columns);
    for (Column<T> column : other.columns) {
      all.add(
          new Column<>(
              column.name(),
              column.right(),
              column.forms(),
              row -> column.value().apply(part.apply(row))));
    }
    return new Table<>(all, headings);
  }

  /**
   * This table with more columns chosen for text, in this order, behind the earlier ones.
   *
   * @param headings {@code HEADING=column}, or {@code HEADING} of the column of that name in lower
   *     case
   */
  public Table<R> headed(String... headings) {
    List<Heading> chosen = new ArrayList<>(this.headings);
    for (String heading : headings) {
      int cut = heading.indexOf('=');
      String text = cut < 0 ? heading : heading.substring(0, cut);
      chosen.add(new Heading(text, find(cut < 0 ? heading : heading.substring(cut + 1))));
    }
    return new Table<>(columns, chosen);
  }

  /** This table with no columns chosen for text. */
  public Table<R> unheaded() {
    return new Table<>(columns, List.of());
  }

  /** This table, whose text shows column names as they are, not in capitals. */
  public Table<R> headedAsNamed() {
    return new Table<>(columns, inText(name -> name));
  }

  private List<Heading> inText(UnaryOperator<String> text) {
    List<Heading> all = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).forms() != Forms.JSON) {
        all.add(new Heading(text.apply(name(i)), i));
      }
    }
    return all;
  }

  private int find(String name) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).name().equalsIgnoreCase(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException("no column " + name);
  }

  /** Columns of the text form. */
  List<Heading> headings() {
    return headings.isEmpty() ? inText(name -> name.toUpperCase(Locale.ROOT)) : headings;
  }

  /**
   * A value in words, as text and CSV have it.
   *
   * @param divider between the values of a list
   */
  static String words(Object value, String divider) {
    return switch (value) {
      case null -> "";
      case Hex(long address) -> Units.hex(address);
      case TaskId(long task) -> Long.toUnsignedString(task);
      case Percent(double share) -> String.valueOf(share);
      case Shown(_, String words) -> words;
      case List<?> all -> all.stream().map(String::valueOf).collect(Collectors.joining(divider));
      default -> String.valueOf(value);
    };
  }

  /** Number of columns, of all forms. */
  int size() {
    return columns.size();
  }

  String name(int column) {
    return columns.get(column).name();
  }

  boolean isRight(int column) {
    return columns.get(column).right();
  }

  boolean isInJson(int column) {
    Forms forms = columns.get(column).forms();
    return forms == Forms.ALL || forms == Forms.JSON;
  }

  boolean isInCsv(int column) {
    Forms forms = columns.get(column).forms();
    return forms == Forms.ALL || forms == Forms.WORDS;
  }

  /** What a row has in a column, or null. */
  Object value(int column, R row) {
    return columns.get(column).of(row);
  }
}
