package dev.retstack.graph.snapshot;

import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The parts of a state that is read, by owner; {@link StateLog} has their keys. A part is asked for
 * when its owner is read: the parts of all cores are more than there is memory for.
 */
public final class StateParts {
  /** Numbers of the blocks of totals. */
  private static final class Totals {
    private boolean identity;
    private final NavigableSet<Long> functions = new TreeSet<>();
    private final NavigableSet<Long> arcs = new TreeSet<>();
  }

  /** The parts of a core. */
  @SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
  public record Core(byte[] frames, byte[] tree, byte[] logs) {
    public int size() {
      return frames.length + tree.length + logs.length;
    }
  }

  private final Map<String, byte[]> parts;
  private final NavigableSet<Long> images = new TreeSet<>();
  private final NavigableSet<Long> sessions = new TreeSet<>();
  private final NavigableMap<Long, Totals> totals = new TreeMap<>();

  /** Names of the parts of each core. */
  private final NavigableMap<Long, Set<String>> cores = new TreeMap<>();

  /**
   * Sorts them.
   *
   * @throws IOException where one is under no key of a state, or stands without those that belong
   *     to it
   */
  public StateParts(Map<String, byte[]> parts) throws IOException {
    this.parts = parts;
    for (String key : parts.keySet()) {
      if (!key.equals(StateLog.HEAD)) {
        sort(key);
      }
    }
    for (Totals one : totals.values()) {
      require(one.identity, "totals without a session");
    }
    Set<String> awake = Set.of("", StateLog.TREE, StateLog.LOGS);
    for (Set<String> one : cores.values()) {
      require(one.equals(awake) || one.equals(Set.of(StateLog.AT_REST)), "half a core");
    }
  }

  private void sort(String key) throws IOException {
    String[] path = key.split("/", -1);
    require(path.length >= 2 && path.length <= 4, key);
    long number = number(path[1], key);
    String rest = path.length < 3 ? "" : "/" + path[2];
    switch (path[0] + path.length) {
      case "i2" -> images.add(number);
      case "s2" -> sessions.add(number);
      case "o2" -> require(key.equals(StateLog.OVER), key);
      case "t2" -> totalsOf(number).identity = true;
      case "t4" -> {
        boolean functions = StateLog.FUNCTIONS.equals(rest + "/");
        require(functions || StateLog.ARCS.equals(rest + "/"), key);
        (functions ? totalsOf(number).functions : totalsOf(number).arcs).add(number(path[3], key));
      }
      case "c2" -> coreOf(number).add(rest);
      case "c3" -> {
        require(Set.of(StateLog.TREE, StateLog.LOGS, StateLog.AT_REST).contains(rest), key);
        coreOf(number).add(rest);
      }
      default -> require(false, key);
    }
  }

  public NavigableSet<Long> images() {
    return images;
  }

  public byte[] image(long number) {
    return parts.get("i/" + number);
  }

  public NavigableSet<Long> totals() {
    return totals.navigableKeySet();
  }

  public byte[] identity(long number) {
    return parts.get("t/" + number);
  }

  /** Blocks of functions of a profile, by their numbers. */
  public NavigableMap<Long, byte[]> functions(long number) {
    return blocks(totals.get(number).functions, "t/" + number + StateLog.FUNCTIONS);
  }

  /** Blocks of arcs of a profile, by their numbers. */
  public NavigableMap<Long, byte[]> arcs(long number) {
    return blocks(totals.get(number).arcs, "t/" + number + StateLog.ARCS);
  }

  public NavigableSet<Long> cores() {
    return cores.navigableKeySet();
  }

  /** The parts of a core that is not {@linkplain #atRest at rest}. */
  public Core core(long number) {
    String key = "c/" + number;
    return new Core(parts.get(key), parts.get(key + StateLog.TREE), parts.get(key + StateLog.LOGS));
  }

  /** A core at rest, packed; null where the core has its parts. */
  public byte[] atRest(long number) {
    return cores.get(number).contains(StateLog.AT_REST)
        ? parts.get(StateLog.core(number, StateLog.AT_REST))
        : null;
  }

  /** When each session was heard last, by their numbers. */
  public NavigableMap<Long, byte[]> sessions() {
    return blocks(sessions, "s/");
  }

  /** Sessions that are over; null where none was. */
  public byte[] over() {
    return parts.containsKey(StateLog.OVER) ? parts.get(StateLog.OVER) : null;
  }

  private NavigableMap<Long, byte[]> blocks(NavigableSet<Long> numbers, String before) {
    NavigableMap<Long, byte[]> blocks = new TreeMap<>();
    numbers.forEach(number -> blocks.put(number, parts.get(before + number)));
    return blocks;
  }

  /** The largest number in use, negative where there is none. */
  public long largestNumber() {
    return Stream.of(images, totals(), cores(), sessions)
        .filter(all -> !all.isEmpty())
        .mapToLong(NavigableSet::last)
        .max()
        .orElse(-1);
  }

  private Totals totalsOf(long number) {
    return totals.computeIfAbsent(number, _ -> new Totals());
  }

  private Set<String> coreOf(long number) {
    return cores.computeIfAbsent(number, _ -> new HashSet<>());
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
