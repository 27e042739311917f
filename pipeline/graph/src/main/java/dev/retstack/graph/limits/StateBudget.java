package dev.retstack.graph.limits;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that states may hold, of all partitions of a member together. Each core, each table of
 * functions and each image has an {@link Account}, which is asked before an array grows; what it
 * refuses is left out and counted. STATE.md has the rules.
 *
 * <p>Safe for use by several threads; an account belongs to its state, and to one thread at a time.
 */
public final class StateBudget {
  /** What a core is promised when it begins, and so is a table of functions. */
  public static final long PROMISE = 32 << 10;

  /** No bound: replays, and copies that answer a question. */
  public static final StateBudget UNLIMITED = new StateBudget(Long.MAX_VALUE, 0);

  /** Nothing new begins in this part of the whole: it is there for what began. */
  private static final int LAST_PART = 8;

  /** When all but this part of the whole is in use, cores that were idle for longest go to rest. */
  private static final int REST_PART = 4;

  /** Nothing grows into this part of the whole: cores wake in it. */
  private static final int WAKE_PART = 16;

  /** A core at rest keeps this part more than it holds. */
  private static final int GROWTH_PART = 8;

  /** An account has at most this part of what the others leave. */
  private static final int SHARE = 5;

  /** What a core that will hardly grow any more may still take, whatever others do. */
  private static final long SPARE = 4 << 10;

  private static final int ARRAY_HEADER = 16;

  private final long limit;

  /** Arrays larger than half of this take a multiple of it; 0 where they do not. */
  private final long region;

  private final AtomicLong held = new AtomicLong();

  /** What is held, and what was promised beyond that. */
  private final AtomicLong reserved = new AtomicLong();

  /**
   * Nothing is held.
   *
   * @param bytes all together
   * @param region of the heap, of which a large array takes whole ones, as G1 has it; 0 for none
   */
  public StateBudget(long bytes, long region) {
    this.limit = bytes;
    this.region = region;
  }

  /** Bytes that may be held. */
  public long limit() {
    return limit;
  }

  /** Bytes that are held: never less than they take of the heap. */
  public long held() {
    return held.get();
  }

  /** Bytes that are held or promised. */
  public long reserved() {
    return reserved.get();
  }

  /** Whether so much more could be promised to something new. */
  public boolean hasRoom(long bytes) {
    return reserved() + bytes <= limit - limit / LAST_PART;
  }

  /** Whether this many more bytes would make it time for cores to go to rest. */
  public boolean isCrowded(long bytes) {
    return limit != Long.MAX_VALUE && reserved() + bytes > limit - limit / REST_PART;
  }

  /** What all accounts together may still grow by; negative where cores woke beyond it. */
  private long left() {
    return limit - limit / WAKE_PART - reserved(); // an account has a method of this name as well
  }

  /** Reduces the promise to a core that wakes: large cores stop to grow first, all at the limit. */
  private long lessWhereFull(long promise) {
    long part = Math.max(1, limit / WAKE_PART);
    return promise * Math.clamp(limit - held(), 0, part) / part;
  }

  /** Opens an account with this promise, whether or not there is room; see {@link #hasRoom}. */
  public Account open(long promise) {
    return new Account(null, promise);
  }

  /** What one part of a state holds. */
  public final class Account {
    /** Account that this one's bytes are taken from; null where they are taken from the budget. */
    private final Account whole;

    private long promise;
    private long used;
    private long reserved;
    private long refusals;
    private boolean lenient;

    private Account(Account whole, long promise) {
      this.whole = whole;
      this.promise = promise;
      reserve(promise);
    }

    /** An account of what is a part of what this one holds: it has the same room. */
    public Account part() {
      return new Account(this, 0);
    }

    private void reserve(long bytes) {
      if (isBounded() && bytes != reserved) {
        StateBudget.this.reserved.addAndGet(bytes - reserved);
      }
      reserved = bytes;
    }

    private void use(long bytes) {
      used += bytes;
      if (whole != null) {
        whole.use(bytes);
      } else if (isBounded()) {
        held.addAndGet(bytes);
        reserve(Math.max(promise, used));
      }
    }

    /** Whether it may take this many bytes; a refusal is counted. */
    public boolean fits(long bytes) {
      boolean fits = bytes <= room();
      refusals += fits ? 0 : 1;
      return fits;
    }

    /** Takes this many bytes; false where they do not {@link #fits fit}. */
    public boolean take(long bytes) {
      if (used + bytes > reserved && !fits(bytes)) {
        return false;
      }
      charge(bytes);
      return true;
    }

    /** Takes bytes of what cannot be left out. */
    public void charge(long bytes) {
      use(bytes);
    }

    /** Gives bytes back. */
    public void give(long bytes) {
      use(-bytes);
    }

    /** Takes what a hash table grows by when it gets one entry more; see {@link #take}. */
    public boolean takeEntry(int entries, int entryBytes) {
      long more = hashed(entries + 1, entryBytes) - hashed(entries, entryBytes);
      return more == 0 || take(more);
    }

    /** Heap that an array of this many bytes really takes. */
    public long array(long bytes) {
      long all = bytes + ARRAY_HEADER;
      return all <= region / 2 || region == 0 ? bytes : (all + region - 1) / region * region;
    }

    /** Whether anything is refused or counted. */
    public boolean isBounded() {
      return limit != Long.MAX_VALUE;
    }

    /** Bytes that it may take. */
    public long room() {
      if (!isBounded() || lenient) {
        return Long.MAX_VALUE - used;
      }
      return whole != null ? whole.room() : Math.max(promise, (left() + reserved) / SHARE) - used;
    }

    /** Bytes that it holds. */
    public long used() {
      return used;
    }

    /** Bytes that it holds, or was promised. */
    public long reserved() {
      return reserved;
    }

    /**
     * All it had is given back; it holds only this much until it {@link #wake wakes}. Little more
     * is promised: it comes back larger, and thousands of such cores fill what is left to wake in.
     */
    public void rest(long bytes) {
      promise = bytes + bytes / GROWTH_PART;
      use(bytes - used);
    }

    /**
     * What it held at rest is given back, and it is promised this much again; the less, the fuller
     * the last part of the whole is: while it was at rest, others may have taken its room.
     */
    public void wake(long again) {
      promise = isBounded() ? lessWhereFull(again) : again;
      use(-used);
    }

    /** Requests refused since it was asked last. */
    public long refused() {
      long count = refusals;
      refusals = 0;
      return count;
    }

    /** While a state is restored, all that it had is taken, whatever the share is now. */
    public Account lenient(boolean restoring) {
      lenient = restoring;
      return this;
    }

    /** Ends the growth of this account: of its promise it keeps only what it uses. */
    public void settle() {
      promiseAtMost(used);
    }

    /**
     * Nearly ends the growth of this account: of its promise it keeps little beyond what it uses.
     */
    public void calmDown() {
      promiseAtMost(used + SPARE);
    }

    private void promiseAtMost(long bytes) {
      if (whole == null && promise > bytes) {
        promise = bytes;
        reserve(Math.max(promise, used));
      }
    }

    /** Gives all back. */
    public void close() {
      promise = 0;
      give(used);
      reserve(0);
    }
  }

  /** Bytes of a hash table with this many entries, at most three quarters full. */
  public static long hashed(int entries, int entryBytes) {
    long most = Math.max(2, (entries * 4L + 2) / 3);
    return (Long.highestOneBit(most - 1) << 1) * entryBytes;
  }
}
