package dev.retstack.graph.places;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.StateChanges;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The index of one partition of the log: where the chunks of each core stand. It is a part of the
 * state beside the cores themselves, so that a core at rest does not wake for it. What it holds
 * counts in the budget, as one account: at most a fifth of it. Where there is no room, its places
 * get coarser, or a core has none.
 *
 * <p>Its parts in the log of the state have keys {@code x/N/B}: block B of the core that has number
 * N here.
 */
public final class LogPlaces {
  private static final String PREFIX = "x/";

  /** This object and its tables without entries. */
  private static final int TABLE_BYTES = 768;

  private final StateBudget.Account account;
  private final Map<CoreKey, CorePlaces> cores = new LinkedHashMap<>();
  private final Set<CorePlaces> changed = new LinkedHashSet<>();
  private final List<CorePlaces> gone = new ArrayList<>();
  private long next;
  private long logStart;

  /** Knows no core. */
  public LogPlaces(StateBudget budget) {
    account = budget.open(0);
    account.charge(TABLE_BYTES);
  }

  /**
   * Takes the index out of the parts of a state.
   *
   * @param parts of which those of the index are removed
   * @throws IOException where they are not one
   */
  public static LogPlaces takeFrom(Map<String, byte[]> parts, StateBudget budget)
      throws IOException {
    LogPlaces places = new LogPlaces(budget);
    Map<Long, TreeMap<Integer, String>> keys = new TreeMap<>();
    for (String key : List.copyOf(parts.keySet())) {
      if (key.startsWith(PREFIX)) {
        String[] words = key.split("/", -1);
        try {
          keys.computeIfAbsent(Long.parseLong(words[1]), _ -> new TreeMap<>())
              .put(Integer.parseInt(words[2]), key);
        } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
          throw new IOException("corrupt state: a part " + key, e);
        }
      }
    }
    for (Map.Entry<Long, TreeMap<Integer, String>> core : keys.entrySet()) {
      List<byte[]> blocks = core.getValue().values().stream().map(parts::remove).toList();
      CorePlaces read = CorePlaces.readFrom(blocks, core.getKey(), places.account);
      if (places.cores.put(read.key(), read) != null) {
        throw new IOException("corrupt state: places of core " + read.key().core() + " twice");
      }
      places.next = core.getKey() + 1;
    }
    return places;
  }

  /**
   * A chunk of a core was taken into the state. One that stands no farther than the last of its
   * core is there already.
   */
  public void add(CoreKey key, Place chunk) {
    CorePlaces core = cores.get(key);
    if (core == null) {
      if (!account.fits(CorePlaces.bytesOfNew(key))) {
        return;
      }
      core = new CorePlaces(key, next++, account);
      core.charge();
      cores.put(key, core);
    }
    core.add(chunk, logStart);
    changed.add(core);
  }

  /** The log has nothing below this offset any more: places there go when room is short. */
  public void begins(long offset) {
    logStart = Math.max(logStart, offset);
  }

  /** Sessions leave the state. */
  public void forget(Set<String> sessions) {
    cores
        .values()
        .removeIf(
            core -> {
              boolean goes = sessions.contains(core.key().session());
              if (goes) {
                changed.remove(core);
                core.close();
                gone.add(core);
              }
              return goes;
            });
  }

  /** Cores that it has places of, in the order in which they came. */
  public Set<CoreKey> cores() {
    return Collections.unmodifiableSet(cores.keySet());
  }

  /** The places of a core, in the order of the log; none where it is not known. */
  public List<Place> of(CoreKey key) {
    CorePlaces core = cores.get(key);
    return core == null ? List.of() : core.list();
  }

  /** Offsets of which chunks of this core are one place at most. */
  public long spread(CoreKey key) {
    return cores.get(key).spread();
  }

  /** Bytes of the heap that it counts. */
  public long bytes() {
    return account.used();
  }

  /** What changed since this was called last, or since it was read. */
  public void writeChanges(StateChanges to) throws IOException {
    for (CorePlaces core : gone) {
      core.removeAll(to, PREFIX);
    }
    gone.clear();
    for (CorePlaces core : changed) {
      core.writeChanges(to, PREFIX);
    }
    changed.clear();
  }

  /** Closes the index and gives its bytes back. */
  public void close() {
    account.close();
  }
}
