package dev.retstack.graph.state;

import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.calls.KnownCore;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.snapshot.StateLog;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.Supplier;

/**
 * When the sessions of a state were heard last, and which have ended: those without a chunk for
 * longer than they are kept. Time is that of the log's records, not of a clock: a reader of the
 * same log forgets the same sessions at the same record. It never goes back, and no record advances
 * it by more than {@link #LONGEST_STEP_MILLIS}, so that one clock that is wrong by years ends no
 * session. Chunks of an ended session are refused, so that late ones begin no core again. A chunk
 * that waits for its image counts when it is read, not when the image comes.
 *
 * <p>An ended session stays in the state until {@link GraphState#forget}, which the publisher calls
 * when all of it is published, and nothing of it waits for an image.
 */
public final class SessionAges {
  /** Sessions that are over and still known, the latest. */
  static final int REMEMBERED = 1 << 14;

  static final long LONGEST_STEP_MILLIS = 600_000;

  /** For how long a silent session is kept where there is no room for new cores. */
  static final long KEPT_IN_NEED_MILLIS = 3_600_000;

  /** Usual size of a session in the log of the state. */
  private static final int SESSION_ROOM = 32;

  /** When a session was heard last, and what the log of the state holds of that. */
  private static final class Age {
    final long number;
    long heard;
    long written = StateLog.NONE;
    boolean touched = true;

    Age(long number, long heard) {
      this.number = number;
      this.heard = heard;
    }

    String part() {
      return "s/" + number;
    }
  }

  private final StateLog log;
  private final int sessionsMax;

  /** By the log's time. */
  private final Map<String, Age> newest = new LinkedHashMap<>();

  private final Set<String> over = new LinkedHashSet<>();
  private long overWritten = StateLog.NONE;
  private boolean overTouched;
  private ForgottenSessions forgotten = ForgottenSessions.NONE;
  private long now;

  /** Nothing is over before this; found anew where something may be. */
  private long due;

  private long keep;
  private boolean pressed;
  private boolean toDrop;

  /**
   * Nothing was heard so far.
   *
   * @param state the log of the state
   * @param sessionsMax more sessions are not remembered
   */
  SessionAges(StateLog state, int sessionsMax) {
    log = state;
    this.sessionsMax = sessionsMax;
  }

  /**
   * Moves the log's time to a chunk: sessions that are silent for too long by now are over, this
   * one excepted.
   *
   * @param millis when the log had it, since 1970-01-01 UTC; negative = not known
   * @param keep for how long a silent session is kept, in milliseconds; 0 = for ever
   * @return whether the chunk may be applied; false where its session is over
   */
  public boolean reach(String session, long millis, long keep) {
    this.keep = keep;
    if (millis > now) {
      now = now == 0 ? millis : Math.min(millis, now + LONGEST_STEP_MILLIS);
    }
    if (keep > 0 && (now > due || pressed)) {
      this.keep = pressed ? Math.min(keep, KEPT_IN_NEED_MILLIS) : keep;
      expire(session);
      due = pressed ? Math.min(due, now + keep) : due;
      pressed = false;
      this.keep = keep;
    }
    return !over.contains(session);
  }

  /** There was no room for a core: sessions are kept for a shorter time at the next chunk. */
  void press() {
    pressed = true;
  }

  /** A chunk was applied, or waits for its image. */
  public void noteActivity(String session) {
    Age age = newest.get(session);
    if (age == null) {
      if (newest.size() == sessionsMax) {
        return; // without cores: there are no more cores than that
      }
      newest.put(session, new Age(log.number(), now));
      due = Math.min(due, now + keep);
    } else if (age.heard != now) {
      age.heard = now;
      age.touched = true;
    }
  }

  private void expire(String current) {
    due = Long.MAX_VALUE;
    Iterator<Map.Entry<String, Age>> all = newest.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<String, Age> one = all.next();
      long end = one.getValue().heard + keep;
      if (end < now && !one.getKey().equals(current)) {
        over.add(one.getKey());
        overTouched = true;
        toDrop = true;
        log.remove(one.getValue().part(), one.getValue().written);
        all.remove();
      } else {
        due = Math.min(due, end);
      }
    }
    Iterator<String> oldest = over.iterator();
    while (over.size() > REMEMBERED) {
      oldest.next();
      oldest.remove();
    }
  }

  /** What was forgotten since the state began. */
  public ForgottenSessions forgotten() {
    return forgotten;
  }

  /**
   * Takes the cores of sessions that are over out of a state; returns these sessions.
   *
   * @param waiting sessions of which chunks wait: they stay until these are applied
   */
  Set<String> drop(CoreTable cores, Supplier<Set<String>> waiting) {
    Set<String> sessions = new HashSet<>();
    if (!toDrop) {
      return sessions;
    }
    Set<String> leaving = new HashSet<>(over);
    toDrop = leaving.removeAll(waiting.get());
    List<KnownCore> gone =
        cores.known().stream().filter(core -> leaving.contains(core.key().session())).toList();
    gone.forEach(core -> sessions.add(core.key().session()));
    drop(gone, cores);
    forgotten = forgotten.plus(new ForgottenSessions(sessions.size(), 0, 0, 0, 0));
    return sessions;
  }

  /** Takes cores out of a state; what their calls add up to stays. */
  void drop(List<KnownCore> gone, CoreTable cores) {
    long records = 0;
    long lost = 0;
    for (KnownCore core : gone) {
      CoreSummary summary = core.summary();
      records += summary.records();
      lost += summary.lost();
    }
    for (KnownCore core : gone) {
      cores.remove(core.key());
      core.leave(log);
      core.account().close();
    }
    if (!gone.isEmpty()) {
      forgotten = forgotten.plus(new ForgottenSessions(0, gone.size(), records, lost, now));
    }
  }

  /** Writes what belongs to no session that is there. */
  void writeHeadTo(DataOutput out) throws IOException {
    out.writeLong(now);
    forgotten.writeTo(out);
  }

  /**
   * Writes what is not what the log of the state holds, {@link #writeHeadTo the head} excepted.
   *
   * @param into the log of the state, or a copy
   */
  void writeChanges(StateLog into, StateChanges to) throws IOException {
    for (Map.Entry<String, Age> one : newest.entrySet()) {
      Age age = one.getValue();
      if (age.touched || into.isCopy()) {
        ByteOutput out = new ByteOutput(SESSION_ROOM);
        Fields.writeText(out, one.getKey());
        out.writeLong(age.heard);
        age.written = into.put(to, age.part(), age.written, out);
        age.touched &= into.isCopy();
      }
    }
    if (into.isCopy() ? !over.isEmpty() : overTouched) {
      ByteOutput out = new ByteOutput(SESSION_ROOM * (1 + over.size()));
      out.writeInt(over.size());
      for (String session : over) {
        Fields.writeText(out, session);
      }
      overWritten = into.put(to, StateLog.OVER, overWritten, out);
      overTouched &= into.isCopy();
    }
  }

  /** Reads what {@link #writeHeadTo} wrote. */
  void readHeadFrom(DataInput in) throws IOException {
    now = in.readLong();
    forgotten = ForgottenSessions.readFrom(in);
  }

  /**
   * Reads what {@link #writeChanges} wrote.
   *
   * @param sessions by their numbers
   * @param gone those that are over; null where none was
   */
  void readParts(SortedMap<Long, byte[]> sessions, byte[] gone) throws IOException {
    if (sessions.size() > sessionsMax) {
      throw new IOException(
          "corrupt state: %d sessions, at most %d".formatted(sessions.size(), sessionsMax));
    }
    for (Map.Entry<Long, byte[]> one : sessions.entrySet()) {
      ByteInput in = new ByteInput(one.getValue());
      String session = Fields.readText(in);
      Age age = new Age(one.getKey(), in.readLong());
      requireEnd(in);
      if (newest.put(session, age) != null) {
        throw new IOException("corrupt state: session " + session + " twice");
      }
      age.written = StateLog.hash(age.part(), one.getValue());
      age.touched = false;
    }
    if (gone != null) {
      ByteInput in = new ByteInput(gone);
      int count = Fields.readCount(in, REMEMBERED, "sessions that are over");
      for (int i = 0; i < count; i++) {
        over.add(Fields.readText(in));
      }
      toDrop = count > 0;
      requireEnd(in);
      overWritten = StateLog.hash(StateLog.OVER, gone);
    }
  }

  private static void requireEnd(ByteInput in) throws IOException {
    if (in.remaining() > 0) {
      throw new IOException("corrupt state: a session has more than it needs");
    }
  }
}
