package dev.retstack.graph.pyramid;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.snapshot.StateChanges;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The pyramids of one partition's cores. They are a part of the state beside the cores themselves,
 * so that a core at rest keeps its tiles. What they hold counts in the budget, as one account: at
 * most a fifth of it. Where there is no room for more, tiles of the core become longer; a core that
 * begins without any room has none.
 *
 * <p>Its parts in the log of the state have keys {@code y/N/h} for the lines of core N, and {@code
 * y/N/B} for block B of its tiles.
 */
public final class JobPyramids {
  private static final String PREFIX = "y/";
  private static final String HEAD = "h";

  /** Entries of one core at most, some 90 KiB: lines are half of them at most. */
  static final int ENTRIES_MOST = 1280;

  /** Entries for which room is taken at a time. */
  private static final int STEP = 128;

  /** An entry in arrays that are two thirds full. */
  private static final int ENTRY_BYTES = 72;

  /** Objects and tables of one core. */
  private static final int CORE_BYTES = 1_600;

  private final StateBudget.Account account;
  private final Map<CoreKey, Core> cores = new LinkedHashMap<>();
  private final List<Core> gone = new ArrayList<>();
  private long next;

  /** Knows no core. */
  public JobPyramids(StateBudget budget) {
    account = budget.open(0);
  }

  private final class Core extends Pyramid.Room {
    final CoreKey key;
    final long number;
    final Pyramid pyramid;
    final Set<Long> written = new HashSet<>();
    boolean hasHead;
    private int paid;
    private int lines;

    Core(CoreKey key, long number) {
      super(ENTRIES_MOST);
      this.key = key;
      this.number = number;
      account.charge(bytesOfNew(key) - (long) STEP * ENTRY_BYTES);
      pay();
      pyramid = new Pyramid(this);
    }

    private void pay() {
      account.charge((long) STEP * ENTRY_BYTES);
      paid += STEP;
    }

    @Override
    void begin(Pyramid one) {}

    @Override
    boolean take(Pyramid of, long more) {
      while (used + more > paid || (more > 0 && lines + more > paid / 2)) {
        if (paid < ENTRIES_MOST && account.fits((long) STEP * ENTRY_BYTES)) {
          pay();
        } else if (used + more > paid && of.canThinOut()) {
          of.thinOut();
        } else {
          return false;
        }
      }
      used += more;
      lines += (int) more;
      return true;
    }

    void close() {
      account.give(bytesOfNew(key) + (long) (paid - STEP) * ENTRY_BYTES);
    }

    void write(StateChanges to) throws IOException {
      ByteOutput head = new ByteOutput(256);
      Fields.writeText(head, key.session());
      Fields.writeText(head, key.core());
      pyramid.writeHead(head);
      to.put(PREFIX + number + "/" + HEAD, head.take());
      hasHead = true;
      long first = pyramid.takeChanged();
      if (first == Long.MAX_VALUE) {
        return;
      }
      Set<Long> old = new HashSet<>(written);
      old.removeIf(block -> block < first);
      for (Map.Entry<Long, ByteOutput> block : pyramid.blocks(first).entrySet()) {
        to.put(PREFIX + number + "/" + block.getKey(), block.getValue().take());
        written.add(block.getKey());
        old.remove(block.getKey());
      }
      for (long block : old) {
        to.remove(PREFIX + number + "/" + block);
        written.remove(block);
      }
    }

    void removeAll(StateChanges to) {
      written.forEach(block -> to.remove(PREFIX + number + "/" + block));
      if (hasHead) {
        to.remove(PREFIX + number + "/" + HEAD);
      }
    }
  }

  private static long bytesOfNew(CoreKey key) {
    return CORE_BYTES
        + 2L * (key.session().length() + key.core().length())
        + (long) STEP * ENTRY_BYTES;
  }

  /**
   * Takes the pyramids out of the parts of a state.
   *
   * @param parts of which those of the pyramids are removed
   * @throws IOException where they are not such
   */
  public static JobPyramids takeFrom(Map<String, byte[]> parts, StateBudget budget)
      throws IOException {
    JobPyramids pyramids = new JobPyramids(budget);
    pyramids.account.lenient(true);
    SortedMap<Long, SortedMap<Long, byte[]>> blocks = new TreeMap<>();
    Map<Long, byte[]> heads = new TreeMap<>();
    for (String key : List.copyOf(parts.keySet())) {
      if (key.startsWith(PREFIX)) {
        String[] words = key.split("/", -1);
        try {
          long number = Long.parseLong(words[1]);
          if (words[2].equals(HEAD)) {
            heads.put(number, parts.remove(key));
          } else {
            blocks
                .computeIfAbsent(number, _ -> new TreeMap<>())
                .put(Long.parseLong(words[2]), parts.remove(key));
          }
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
          throw new IOException("corrupt state: a part " + key, e);
        }
      }
    }
    for (Map.Entry<Long, byte[]> head : heads.entrySet()) {
      SortedMap<Long, byte[]> of = blocks.remove(head.getKey());
      pyramids.read(head.getKey(), head.getValue(), of == null ? new TreeMap<>() : of);
    }
    if (!blocks.isEmpty()) {
      throw new IOException(
          "corrupt state: tiles of %d cores without lines".formatted(blocks.size()));
    }
    pyramids.account.lenient(false);
    return pyramids;
  }

  private void read(long number, byte[] head, SortedMap<Long, byte[]> blocks) throws IOException {
    ByteInput in = new ByteInput(head);
    CoreKey key = new CoreKey(Fields.readText(in), Fields.readText(in));
    Core core = new Core(key, number);
    final long expected = core.pyramid.readHead(in);
    for (Map.Entry<Long, byte[]> block : blocks.entrySet()) {
      core.pyramid.readBlock(new ByteInput(block.getValue()));
      core.written.add(block.getKey());
    }
    core.hasHead = true;
    core.pyramid.readAll(expected);
    if (in.remaining() > 0 || cores.put(key, core) != null) {
      throw new IOException("corrupt state: pyramid of core " + key.core());
    }
    next = Math.max(next, number + 1);
  }

  /** A core begins, whose calls come from the first on; it goes without where there is no room. */
  public void begin(CoreKey key) {
    if (!cores.containsKey(key) && account.fits(bytesOfNew(key))) {
      cores.put(key, new Core(key, next++));
    }
  }

  /** Where calls of a core are put; null where it has no pyramid. */
  public Pyramid of(CoreKey key) {
    Core core = cores.get(key);
    return core == null ? null : core.pyramid;
  }

  /** Cores that have one, in the order in which they came. */
  public Set<CoreKey> cores() {
    return Set.copyOf(cores.keySet());
  }

  /** Bytes of the heap that it counts. */
  public long bytes() {
    return account.used();
  }

  /** Sessions leave the state. */
  public void forget(Set<String> sessions) {
    cores
        .values()
        .removeIf(
            core -> {
              boolean goes = sessions.contains(core.key.session());
              if (goes) {
                core.close();
                gone.add(core);
              }
              return goes;
            });
  }

  /** What changed since this was called last, or since it was read. */
  public void writeChanges(StateChanges to) throws IOException {
    for (Core core : gone) {
      core.removeAll(to);
    }
    gone.clear();
    for (Core core : cores.values()) {
      if (core.pyramid.takeTouched() || !core.hasHead) {
        core.write(to);
      }
    }
  }

  /** Closes the pyramids and gives their bytes back. */
  public void close() {
    account.close();
  }
}
