package dev.retstack.graph.state;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.calls.KnownCore;
import dev.retstack.graph.calls.RestingCore;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.StateBudget;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * The cores of a state. Where the budget is crowded, those that were not used for longest go to
 * rest; the next chunk of one wakes it, once there is room for it. A reader sees all of them, one
 * at a time: it wakes a copy.
 *
 * <pre>
 * in use ──(crowded: its turn)──► at rest ──(its chunk; room is made first)──► in use
 * </pre>
 */
final class CoreTable {
  /** Cores that stay, of each state, take this part of the whole, whatever else is in the way. */
  private static final int LEAST_PART = 256;

  private final StateBudget budget;

  /** Makes a new core of what is known of one, on an account. */
  private final BiFunction<KnownCore, StateBudget.Account, CoreGraph> maker;

  /** In the order in which they were first seen. */
  private final Map<CoreKey, KnownCore> all = new LinkedHashMap<>();

  /** Cores in memory, the last used one last; empty where the budget has no bound. */
  private final LinkedHashMap<CoreKey, CoreGraph> awake = new LinkedHashMap<>(16, 0.75f, true);

  private final boolean rests;
  private final long least;
  private CoreGraph last;

  CoreTable(StateBudget budget, BiFunction<KnownCore, StateBudget.Account, CoreGraph> maker) {
    this.budget = budget;
    this.maker = maker;
    this.rests = budget != StateBudget.UNLIMITED;
    this.least = Math.max(1, budget.limit() / LEAST_PART / StateBudget.PROMISE);
  }

  int size() {
    return all.size();
  }

  boolean has(CoreKey key) {
    return all.containsKey(key);
  }

  /** Cores at rest. */
  int resting() {
    return rests ? all.size() - awake.size() : 0;
  }

  /** All of them as they are kept. */
  Collection<KnownCore> known() {
    return Collections.unmodifiableCollection(all.values());
  }

  /** The core in the form in which it is kept; null where there is none. */
  KnownCore known(CoreKey key) {
    return all.get(key);
  }

  /** A core that begins. */
  void add(CoreGraph core) {
    all.put(core.key(), core);
    if (rests) {
      awake.put(core.key(), core);
    }
    last = core;
  }

  /** A core that is to be used, which wakes where it is at rest; null where there is none. */
  CoreGraph use(CoreKey key) {
    if (last != null && last.key().equals(key)) {
      return last;
    }
    CoreGraph core = rests ? awake.get(key) : null;
    if (core == null) {
      core =
          switch (all.get(key)) {
            case null -> null;
            case CoreGraph found -> found;
            case RestingCore resting -> wake(resting);
          };
    }
    last = core;
    return core;
  }

  private CoreGraph wake(RestingCore resting) {
    makeRoom(resting.awakeBytes() - resting.account().reserved());
    StateBudget.Account account = resting.account();
    account.wake(StateBudget.PROMISE);
    CoreGraph core = maker.apply(resting, account.lenient(true));
    core.wake(resting);
    account.lenient(false);
    core.settle();
    all.put(core.key(), core);
    if (rests) {
      awake.put(core.key(), core);
    }
    return core;
  }

  /** The arrays of this core may double in the chunk that it takes now: others go to rest. */
  void makeRoomFor(CoreGraph core) {
    makeRoom(core.account().used(), core);
  }

  /** Lets cores go to rest until this many bytes can be promised, or only the least are left. */
  void makeRoom(long bytes) {
    makeRoom(bytes, null);
  }

  private void makeRoom(long bytes, CoreGraph used) {
    if (!rests || !budget.isCrowded(bytes)) {
      return;
    }
    Iterator<CoreGraph> oldest = awake.values().iterator();
    while (awake.size() > least && oldest.hasNext() && budget.isCrowded(bytes)) {
      CoreGraph core = oldest.next();
      Optional<RestingCore> resting = core == used ? Optional.empty() : core.rest();
      if (resting.isPresent()) {
        oldest.remove();
        all.put(core.key(), resting.get());
        last = null;
      }
    }
  }

  /** A core leaves the state. */
  void remove(CoreKey key) {
    all.remove(key);
    awake.remove(key);
    last = null;
  }

  /** All of them to be read; one at rest is a copy, which is good until the next one. */
  Collection<CoreGraph> read() {
    return new AbstractCollection<>() {
      @Override
      public Iterator<CoreGraph> iterator() {
        Iterator<KnownCore> next = all.values().iterator();
        return new Iterator<>() {
          @Override
          public boolean hasNext() {
            return next.hasNext();
          }

          @Override
          public CoreGraph next() {
            return CoreTable.this.read(next.next());
          }
        };
      }

      @Override
      public int size() {
        return all.size();
      }
    };
  }

  /** How far all of them came. */
  Collection<CoreSummary> summaries() {
    List<CoreSummary> summaries = new ArrayList<>(all.size());
    all.values().forEach(core -> summaries.add(core.summary()));
    return summaries;
  }

  /** To be read: a copy of one at rest. */
  CoreGraph read(KnownCore core) {
    return switch (core) {
      case CoreGraph found -> found;
      case RestingCore resting -> {
        CoreGraph copy = maker.apply(resting, StateBudget.UNLIMITED.open(0));
        copy.wake(resting);
        yield copy;
      }
    };
  }
}
