package dev.retstack.graph.aggregate;

import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The parts of a state that is read, by what they are of; {@link StateLog} has their keys. */
final class StateParts {
  /** Whose totals, and these in blocks by number. */
  static final class Totals {
    byte[] identity;
    final NavigableMap<Long, byte[]> functions = new TreeMap<>();
    final NavigableMap<Long, byte[]> arcs = new TreeMap<>();
  }

  /** A core; {@code held} is null where it holds no chunks. */
  static final class Core {
    byte[] frames;
    byte[] tree;
    byte[] logs;
    byte[] held;
  }

  final NavigableMap<Long, byte[]> images = new TreeMap<>();
  final NavigableMap<Long, Totals> totals = new TreeMap<>();
  final NavigableMap<Long, Core> cores = new TreeMap<>();

  /**
   * Sorts them.
   *
   * @throws IOException where one is under no key of a state, or stands without those that belong
   *     to it
   */
  StateParts(Map<String, byte[]> parts) throws IOException {
    for (Map.Entry<String, byte[]> part : parts.entrySet()) {
      if (!part.getKey().equals(StateLog.HEAD)) {
        sort(part.getKey(), part.getValue());
      }
    }
    for (Totals one : totals.values()) {
      require(one.identity != null, "totals of nobody");
    }
    for (Core one : cores.values()) {
      require(one.frames != null && one.tree != null && one.logs != null, "half a core");
    }
  }

  private void sort(String key, byte[] part) throws IOException {
    String[] path = key.split("/", -1);
    require(path.length >= 2 && path.length <= 4, key);
    long number = number(path[1], key);
    String rest = path.length < 3 ? "" : "/" + path[2];
    switch (path[0] + path.length) {
      case "i2" -> images.put(number, part);
      case "t2" -> totalsOf(number).identity = part;
      case "t4" -> {
        boolean functions = CallProfile.FUNCTIONS.equals(rest + "/");
        require(functions || CallProfile.ARCS.equals(rest + "/"), key);
        (functions ? totalsOf(number).functions : totalsOf(number).arcs)
            .put(number(path[3], key), part);
      }
      case "c2" -> coreOf(number).frames = part;
      case "c3" -> {
        switch (rest) {
          case CoreGraph.TREE -> coreOf(number).tree = part;
          case CoreGraph.LOGS -> coreOf(number).logs = part;
          case CoreGraph.HELD -> coreOf(number).held = part;
          default -> require(false, key);
        }
      }
      default -> require(false, key);
    }
  }

  /** The largest number in use, negative where there is none. */
  long largestNumber() {
    return Stream.of(images, totals, cores)
        .filter(all -> !all.isEmpty())
        .mapToLong(NavigableMap::lastKey)
        .max()
        .orElse(-1);
  }

  private Totals totalsOf(long number) {
    return totals.computeIfAbsent(number, _ -> new Totals());
  }

  private Core coreOf(long number) {
    return cores.computeIfAbsent(number, _ -> new Core());
  }

  private static long number(String text, String key) throws IOException {
    boolean decimal = text.length() <= 18 && text.matches("0|[1-9][0-9]*");
    require(decimal, key);
    return Long.parseLong(text);
  }

  private static void require(boolean right, String what) throws IOException {
    if (!right) {
      throw new IOException("corrupt state: a part of " + what);
    }
  }
}
