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
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Names of system calls by number, from the tables beside this class. */
final class SystemCallNames {
  private static final Map<SyscallAbi.Numbers, SystemCallNames> TABLES =
      new EnumMap<>(SyscallAbi.Numbers.class);

  static {
    for (SyscallAbi.Numbers numbers : SyscallAbi.Numbers.values()) {
      TABLES.put(numbers, new SystemCallNames(numbers));
    }
  }

  private final Int2ObjectOpenHashMap<String> names = new Int2ObjectOpenHashMap<>();

  private SystemCallNames(SyscallAbi.Numbers numbers) {
    String resource = "syscalls-" + numbers.name().toLowerCase(Locale.ROOT) + ".txt";
    try (InputStream table = SystemCallNames.class.getResourceAsStream(resource)) {
      if (table == null) {
        throw new IllegalStateException("no table of system calls " + resource);
      }
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(table, StandardCharsets.US_ASCII));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        int space = line.indexOf(' ');
        if (!line.startsWith("#") && space > 0) {
          names.put(Integer.parseInt(line.substring(0, space)), line.substring(space + 1));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(resource, e);
    }
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
