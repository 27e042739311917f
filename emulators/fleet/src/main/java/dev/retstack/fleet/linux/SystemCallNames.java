package dev.retstack.fleet.linux;

import dev.retstack.fleet.isa.SyscallAbi;
import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Names of system calls by number, from {@code system-calls.txt} beside this class: a line for each
 * name, a column for each table of {@link SyscallAbi.Numbers}.
 */
final class SystemCallNames {
  private static final String RESOURCE = "system-calls.txt";
  private static final String ABSENT = "-";

  private static final Map<SyscallAbi.Numbers, SystemCallNames> TABLES = read();

  private final Int2ObjectOpenHashMap<String> names = new Int2ObjectOpenHashMap<>();

  private SystemCallNames() {}

  private static Map<SyscallAbi.Numbers, SystemCallNames> read() {
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

  private static Map<SyscallAbi.Numbers, SystemCallNames> columns(
      String[] heading, List<String[]> rows) {
    Map<SyscallAbi.Numbers, SystemCallNames> tables = new EnumMap<>(SyscallAbi.Numbers.class);
    for (int column = 1; column < heading.length; column++) {
      SystemCallNames table = new SystemCallNames();
      for (String[] row : rows) {
        if (!row[column].equals(ABSENT)) {
          table.names.put(Integer.parseInt(row[column]), row[0]);
        }
      }
      tables.put(SyscallAbi.Numbers.valueOf(heading[column].toUpperCase(Locale.ROOT)), table);
    }
    return tables;
  }

  /** The table that an architecture numbers its calls by. */
  static SystemCallNames of(SyscallAbi.Numbers numbers) {
    return TABLES.get(numbers);
  }

  /** Name of a call; empty for a number that Linux does not give. */
  Optional<String> name(long number) {
    return number == (int) number ? Optional.ofNullable(names.get((int) number)) : Optional.empty();
  }

  /** Number of a call by its name: for tests and messages. */
  Optional<Integer> number(String name) {
    return names.int2ObjectEntrySet().stream()
        .filter(e -> e.getValue().equals(name))
        .map(Map.Entry::getKey)
        .findFirst();
  }
}
