package dev.retstack.graph.aggregate;

import dev.retstack.graph.snapshot.Fields;
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

/**
 * When the sessions of a state were heard last, and which are over: those of which no chunk came
 * while the log went on for longer than they are kept. Time is that of the log's own records and no
 * clock's: whoever reads the same log forgets the same sessions at the same record, whenever and
 * how fast. It never goes back, and no record takes it on by more than {@link
 * #LONGEST_STEP_MILLIS}, so that one clock which is wrong by years ends nobody's session. Chunks of
 * a session that is over are refused, so that what came too late begins no core anew.
 *
 * <p>A session that is over stays in the state until {@link GraphState#forget()}, which whoever
 * publishes calls when all of it is published.
 */
public final class SessionAges {
  /** Sessions that are over and still known, the latest. */
  static final int REMEMBERED = 1 << 14;

  static final long LONGEST_STEP_MILLIS = 600_000;

  /** Log time at which each session was heard last. */
  private final Map<String, Long> newest = new LinkedHashMap<>();

  private final Set<String> over = new LinkedHashSet<>();
  private ForgottenSessions forgotten = ForgottenSessions.NONE;
  private long now;

  /** Nothing is over before this; found anew where something may be. */
  private long due;

  private long keep;
  private boolean toDrop;

  /**
   * The log goes on to a chunk: sessions that are silent for too long by now are over, this one
   * excepted.
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
    if (keep > 0 && now > due) {
      expire(session);
    }
    return !over.contains(session);
  }

  /** A chunk was applied, or held. */
  public void heard(String session) {
    if (newest.put(session, now) == null) {
      due = Math.min(due, now + keep);
    }
  }

  private void expire(String current) {
    due = Long.MAX_VALUE;
    Iterator<Map.Entry<String, Long>> all = newest.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<String, Long> one = all.next();
      long end = one.getValue() + keep;
      if (end < now && !one.getKey().equals(current)) {
        over.add(one.getKey());
        toDrop = true;
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

  /** Takes the cores of sessions that are over out of a state; returns these sessions. */
  Set<String> drop(
      Map<CoreKey, CoreGraph> cores, LateCores late, StateLog log, GraphEvents events) {
    Set<String> sessions = new HashSet<>();
    if (!toDrop) {
      return sessions;
    }
    toDrop = false;
    List<CoreGraph> gone =
        cores.values().stream().filter(core -> over.contains(core.key().session())).toList();
    long records = 0;
    long lost = 0;
    for (CoreGraph core : late.shown(gone, events)) {
      sessions.add(core.key().session());
      records += core.progress().records();
      lost += core.progress().lost();
    }
    for (CoreGraph core : gone) {
      cores.remove(core.key());
      late.drop(core);
      core.leave(log);
      core.account().close();
    }
    if (!gone.isEmpty()) {
      forgotten =
          forgotten.plus(new ForgottenSessions(sessions.size(), gone.size(), records, lost, now));
    }
    return sessions;
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeLong(now);
    out.writeInt(newest.size());
    for (Map.Entry<String, Long> one : newest.entrySet()) {
      Fields.writeText(out, one.getKey());
      out.writeLong(one.getValue());
    }
    out.writeInt(over.size());
    for (String session : over) {
      Fields.writeText(out, session);
    }
    forgotten.writeTo(out);
  }

  void readFrom(DataInput in, int sessionsMax) throws IOException {
    now = in.readLong();
    int known = Fields.readCount(in, sessionsMax, "sessions");
    for (int i = 0; i < known; i++) {
      newest.put(Fields.readText(in), in.readLong());
    }
    int gone = Fields.readCount(in, REMEMBERED, "sessions that are over");
    for (int i = 0; i < gone; i++) {
      over.add(Fields.readText(in));
    }
    toDrop = gone > 0;
    forgotten = ForgottenSessions.readFrom(in);
  }
}
