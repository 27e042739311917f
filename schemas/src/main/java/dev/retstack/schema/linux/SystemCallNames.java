package dev.retstack.schema.linux;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Names of system calls by number, from {@code system-calls.txt} beside this class: a line for each
 * name, a column for each numbering. {@code Image.systemCalls} says which numbering an image has.
 */
public final class SystemCallNames {
  private static final String RESOURCE = "system-calls.txt";
  private static final String ABSENT = "-";

  private static final Map<String, SystemCallNames> TABLES = read();
  private static final SystemCallNames NONE = new SystemCallNames();

  private final Map<Integer, String> names = new HashMap<>();

  private SystemCallNames() {}

  private static Map<String, SystemCallNames> read() {
    try (InputStream resource = SystemCallNames.class.getResourceAsStream(RESOURCE)) {
      if (resource == null) {
        throw new IllegalStateException("no table of system calls " + RESOURCE);
      }
      List<String[]> rows =
          new BufferedReader(new InputStreamReader(resource, StandardCharsets.US_ASCII))
              .lines()
              .filter(line -> !line.startsWith("#"))
              .map(line -> line.split(" +"))
              .toList();
      return columns(rows.getFirst(), rows.subList(1, rows.size()));
    } catch (IOException e) {
      throw new UncheckedIOException(RESOURCE, e);
    }
  }

  private static Map<String, SystemCallNames> columns(String[] heading, List<String[]> rows) {
    Map<String, SystemCallNames> tables = new HashMap<>();
    for (int column = 1; column < heading.length; column++) {
      SystemCallNames table = new SystemCallNames();
      for (String[] row : rows) {
        if (!row[column].equals(ABSENT)) {
          table.names.put(Integer.parseInt(row[column]), row[0]);
        }
      }
      tables.put(heading[column], table);
    }
    return tables;
  }

  /** A table by its name; one without names where there is none of that name. */
  public static SystemCallNames of(String table) {
    return TABLES.getOrDefault(table, NONE);
  }

  /** Names of all tables. */
  public static Set<String> tables() {
    return Collections.unmodifiableSet(TABLES.keySet());
  }

  /** Name of a call; empty for a number that Linux does not give. */
  public Optional<String> name(long number) {
    return number == (int) number ? Optional.ofNullable(names.get((int) number)) : Optional.empty();
  }

  /** All names of this table, in the order of the alphabet. */
  public List<String> names() {
    return names.values().stream().distinct().sorted().toList();
  }

  /** Number of a call by its name. */
  public Optional<Integer> number(String name) {
    return names.entrySet().stream()
        .filter(e -> e.getValue().equals(name))
        .map(Map.Entry::getKey)
        .findFirst();
  }
}
