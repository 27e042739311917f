package dev.retstack.graph.calls;

import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.snapshot.StateLog;
import dev.retstack.graph.totals.CallProfile;
import java.io.DataOutput;
import java.io.IOException;

/**
 * A core of a state: {@linkplain CoreGraph open} in memory, or {@linkplain RestingCore at rest}.
 */
public abstract sealed class KnownCore permits CoreGraph, RestingCore {
  private final CoreKey key;
  private final ImageInfo image;
  private final ClockUnit unit;
  private final CallProfile profile;
  private final StateBudget.Account account;

  /** Number in the state's log, and hashes of what the log holds of the core. */
  private long number;

  long writtenFrames = StateLog.NONE;
  long writtenTree = StateLog.NONE;
  long writtenLogs = StateLog.NONE;

  /** Whether it is not what the log holds. */
  boolean touched = true;

  KnownCore(
      CoreKey key,
      ImageInfo image,
      ClockUnit unit,
      CallProfile profile,
      StateBudget.Account account) {
    this.key = key;
    this.image = image;
    this.unit = unit;
    this.profile = profile;
    this.account = account;
  }

  /** Makes the other form of a core. */
  KnownCore(KnownCore core) {
    this(core.key, core.image, core.unit, core.profile, core.account);
    isIn(core);
  }

  /** The log of the state holds of it what it holds of this other form of it. */
  final void isIn(KnownCore core) {
    number = core.number;
    writtenFrames = core.writtenFrames;
    writtenTree = core.writtenTree;
    writtenLogs = core.writtenLogs;
    touched = core.touched;
  }

  public final CoreKey key() {
    return key;
  }

  public final ImageInfo image() {
    return image;
  }

  public final ClockUnit unit() {
    return unit;
  }

  /** What its calls add up to, with those of others, unless it waits for a chunk. */
  public final CallProfile profile() {
    return profile;
  }

  /** What of the budget it holds. */
  public final StateBudget.Account account() {
    return account;
  }

  /** How far it came. */
  public abstract CoreSummary summary();

  /** Writes what is not what the log of the state holds of it. */
  public abstract void writeChanges(StateLog log, StateChanges to) throws IOException;

  final void writeIdentity(DataOutput out) throws IOException {
    Fields.writeText(out, key.session());
    Fields.writeText(out, key.core());
    Fields.writeText(out, image.id());
    Fields.writeText(out, unit.name());
  }

  /** Number in the state's log. */
  public final long number() {
    return number;
  }

  public final void setNumber(long given) {
    number = given;
  }

  /** Key of one of its parts in the log of the state. */
  final String part(String name) {
    return StateLog.core(number, name);
  }

  /** Removes the core from the state's log. */
  public final void leave(StateLog log) {
    writtenFrames = log.remove(part(""), writtenFrames);
    writtenTree = log.remove(part(StateLog.TREE), writtenTree);
    writtenLogs = log.remove(part(StateLog.LOGS), writtenLogs);
  }
}
