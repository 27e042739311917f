package dev.retstack.graph.late;

import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.calls.CoreReconstructor;
import dev.retstack.graph.calls.GraphEvents;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.LateLimits;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.pyramid.Pyramid;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.snapshot.StateLog;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.ProfileKey;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.RecordLinks;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The cores of a state that wait for a chunk. Such a core stands before its first gap. Chunks
 * behind the gap are held, and applied in order as soon as the gap closes. So within {@link
 * LateLimits} any order of chunks gives the same core.
 *
 * <p>Meanwhile a copy is shown and published. The held chunks were applied to it, and its gaps
 * count as losses.
 */
public final class LateCores {
  private final LateLimits limits;
  private final RecordLinks links;
  private final UnaryOperator<CoreGraph> copier;

  /** Cores that hold chunks, that whose first gap is open for the longest ahead. */
  private final Map<CoreKey, CoreGraph> holding = new LinkedHashMap<>();

  /** What they hold, and what those held whose part of the log was not written since. */
  private final Map<CoreKey, HeldChunks> chunks = new LinkedHashMap<>();

  /** Where chunks stood that were held, and were left out with their cores. */
  private final LongArrayList leftOut = new LongArrayList();

  private RecordBatch batch = new RecordBatch(0);
  private boolean restored;
  private long taken;
  private long bytes;

  /**
   * @param copier makes a copy of a core that adds up for itself
   */
  public LateCores(LateLimits limits, RecordLinks links, UnaryOperator<CoreGraph> copier) {
    this.limits = limits;
    this.links = links;
    this.copier = copier;
  }

  private HeldChunks heldBy(CoreGraph core) {
    return chunks.computeIfAbsent(core.key(), _ -> new HeldChunks(core));
  }

  /** Whether chunks of this core wait for one ahead of them. */
  public boolean holds(CoreGraph core) {
    return !holding.isEmpty() && holding.containsKey(core.key());
  }

  /** Whether something of the core is kept here, or in the log of the state. */
  public boolean keeps(CoreGraph core) {
    return chunks.containsKey(core.key());
  }

  /** Whether this chunk of the core, or one behind it, waits for one ahead of it. */
  public boolean holds(CoreGraph core, long sequence) {
    return holds(core) && heldBy(core).reaches(sequence);
  }

  /** Whether all cores are what they are shown as. */
  public boolean isEmpty() {
    return holding.isEmpty();
  }

  /** What is shown of the cores that hold chunks. */
  public Collection<CoreGraph> holding(GraphEvents events) {
    List<CoreGraph> all = new ArrayList<>();
    for (CoreGraph core : List.copyOf(holding.values())) {
      all.add(shown(core, events));
    }
    all.removeIf(core -> holding.get(core.key()) == null); // it had no room for what is shown
    return all;
  }

  /** Chunks held. */
  public int chunks() {
    return holding.values().stream().mapToInt(core -> heldBy(core).size()).sum();
  }

  /** Takes a chunk that is not simply the next of a core which waits for none. */
  public ApplyResult take(
      CoreGraph core,
      ChunkMeta meta,
      RecordBatch records,
      Supplier<PackedRecords> packed,
      GraphEvents events) {
    long next = core.progress().nextSequence();
    HeldChunks held = heldBy(core);
    if (meta.sequence() < next) {
      count(core, isLost(core, meta.sequence()) ? Stat.LATE_CHUNKS : Stat.STALE_CHUNKS);
      return ApplyResult.STALE;
    }
    if (held.has(meta.sequence())) {
      count(core, Stat.STALE_CHUNKS);
      return ApplyResult.STALE;
    }
    if (core.progress().end() != CoreEnd.RUNNING
        || meta.sequence() > CoreReconstructor.MAX_SEQUENCE
        || held.contradicts(meta.sequence(), meta.end())) {
      count(core, Stat.CONTRADICTORY_CHUNKS);
      return ApplyResult.REFUSED;
    }
    if (meta.sequence() < held.told()) {
      amend(core, meta, events);
    }
    if (meta.sequence() == next) {
      core.apply(meta, records, events);
      fold(core, events);
    } else {
      hold(core, new HeldChunk(meta, packed.get()));
      bound(core, events);
      core.count(Stat.STATE_FULL, core.account().refused());
    }
    return holds(core) ? ApplyResult.HELD : ApplyResult.APPLIED;
  }

  /** Another chunk of the state was taken: gaps that are open for too long are final. */
  public void tick(GraphEvents events) {
    taken++;
    if (restored) {
      enforce(events); // and not where it is read: what breaks a core then, breaks the reading
    }
    while (!holding.isEmpty() && taken - heldBy(oldest()).opened() > limits.chunks()) {
      giveUp(oldest(), events);
    }
  }

  private CoreGraph oldest() {
    return holding.values().iterator().next();
  }

  /** What was told of chunks from this one on was without it. */
  private void amend(CoreGraph core, ChunkMeta meta, GraphEvents events) {
    heldBy(core).setTold(meta.sequence());
    heldBy(core).show(null);
    core.setRevision(core.revision() + 1);
    if (events != null) {
      events.amended(core, meta.sequence(), Math.max(meta.firstTime(), core.progress().time()));
    }
  }

  private void hold(CoreGraph core, HeldChunk chunk) {
    HeldChunks held = heldBy(core);
    if (held.isEmpty()) {
      held.setTold(0); // of an earlier gap, which a state that was read does not know of
      held.setOpened(taken);
      holding.put(core.key(), core);
    }
    CoreGraph shown = held.shown();
    if (shown != null && chunk.sequence() < shown.progress().nextSequence()) {
      held.show(null);
    }
    held.add(chunk);
    bytes += chunk.bytes();
    core.account().charge(chunk.bytes());
  }

  private void bound(CoreGraph core, GraphEvents events) {
    HeldChunks held = heldBy(core);
    while (held.size() > limits.chunksPerCore()
        || held.bytes() > limits.bytesPerCore()
        || (!held.isEmpty() && !fits(core))) {
      giveUp(core, events);
    }
    while (bytes > limits.bytes()) {
      giveUp(oldest(), events);
    }
  }

  /** Whether there is room for what it holds, and for the copy that is shown of it. */
  private boolean fits(CoreGraph core) {
    return core.account().fits(heldBy(core).shown() == null ? core.account().used() : 0);
  }

  /** The first gap of a core is final. */
  private void giveUp(CoreGraph core, GraphEvents events) {
    applyFirst(core, events);
    fold(core, events);
  }

  /** Applies what is held up to the next gap. */
  private void fold(CoreGraph core, GraphEvents events) {
    HeldChunks held = heldBy(core);
    while (!held.isEmpty() && held.first().sequence() == core.progress().nextSequence()) {
      applyFirst(core, events);
    }
    held.show(null);
    if (holding.remove(core.key()) != null && !held.isEmpty()) {
      held.setOpened(taken);
      holding.put(core.key(), core);
    }
  }

  private void applyFirst(CoreGraph core, GraphEvents events) {
    HeldChunk first = heldBy(core).removeFirst();
    bytes -= first.bytes();
    core.account().give(first.bytes());
    apply(core, first, first.sequence() < heldBy(core).told() ? null : events);
  }

  private void apply(CoreGraph core, HeldChunk chunk, GraphEvents events) {
    try {
      batch = chunk.records().unpack(batch, chunk.meta());
      if (!batch.isLinked()) {
        links.fill(batch);
      }
      core.apply(chunk.meta(), batch, events);
    } catch (CorruptChunkException | RuntimeException | StackOverflowError e) {
      throw BrokenCoreException.of(core.key(), chunk.sequence(), e); // it was whole when it came
    }
  }

  private void count(CoreGraph core, Stat stat) {
    core.count(stat, 1);
    if (heldBy(core).shown() != null) {
      heldBy(core).shown().count(stat, 1);
    }
  }

  private static boolean isLost(CoreGraph core, long sequence) {
    for (Loss loss : core.losses().rows()) {
      if (loss.kind() == Loss.Kind.MISSING
          && loss.fromChunk() <= sequence
          && sequence < loss.toChunk()) {
        return true;
      }
    }
    return false;
  }

  /**
   * A core takes no chunks from this one on: gaps ahead of it are final, and what is held behind is
   * left out.
   */
  public void breakOff(CoreGraph core, long sequence, GraphEvents events) {
    HeldChunks held = heldBy(core);
    while (!held.isEmpty() && held.first().sequence() < sequence) {
      applyFirst(core, events);
    }
    if (events != null && held.told() > sequence) {
      core.setRevision(core.revision() + 1);
      events.amended(core, sequence, core.progress().time());
    }
    while (!held.isEmpty()) {
      HeldChunk left = held.removeFirst();
      bytes -= left.bytes();
      core.account().give(left.bytes());
      core.leaveOut(left.meta(), left.records().count());
      if (left.records().position() >= 0) {
        leftOut.add(left.records().position());
      }
    }
    held.show(null);
    holding.remove(core.key());
  }

  /** Where chunks stood that were held and then left out, since this was asked last. */
  public long[] takeLeftOut() {
    long[] positions = leftOut.toLongArray();
    leftOut.clear();
    return positions;
  }

  /** Gives up all gaps: the state is what is shown of it. */
  public void settle(GraphEvents events) {
    while (!holding.isEmpty()) {
      giveUp(oldest(), events);
    }
  }

  /** A core is dropped, with what it holds, and leaves the log of the state. */
  public void drop(CoreGraph core, StateLog log) {
    holding.remove(core.key());
    HeldChunks held = chunks.remove(core.key());
    if (held != null) {
      bytes -= held.bytes();
      held.show(null);
      held.leave(log);
    }
  }

  /** Tells of what is held and was not told yet. */
  public void tell(GraphEvents events) {
    for (CoreGraph core : List.copyOf(holding.values())) {
      if (!hasRoom(core, events)) {
        continue;
      }
      HeldChunks held = heldBy(core);
      CoreGraph shown = held.shown();
      long told = Math.max(held.told(), core.progress().nextSequence());
      if (shown != null && shown.progress().nextSequence() > told) {
        held.show(null); // shown to somebody, but not told
      }
      held.setTold(shown(core, told, events).progress().nextSequence());
      settle(core, events);
    }
  }

  /** Gives gaps up until there is room for what is shown; false where none is left. */
  private boolean hasRoom(CoreGraph core, GraphEvents events) {
    HeldChunks held = heldBy(core);
    while (!held.isEmpty() && !fits(core)) {
      giveUp(core, events);
    }
    return !held.isEmpty();
  }

  /** What is shown of a core; a gap that there is no room to show is given up. */
  public CoreGraph shown(CoreGraph core, GraphEvents events) {
    if (!holds(core) || !hasRoom(core, events)) {
      return core;
    }
    CoreGraph shown = shown(core, Long.MAX_VALUE, null);
    return settle(core, events) ? core : shown;
  }

  /** Puts the calls of held chunks, and then those that are open, into a pyramid. */
  public void place(CoreGraph core, Pyramid into) {
    CoreGraph copy;
    try {
      copy = copier.apply(core);
    } catch (RuntimeException | StackOverflowError e) {
      throw BrokenCoreException.of(core.key(), heldBy(core).first().sequence(), e);
    }
    try {
      copy.placeIn(into);
      for (HeldChunk chunk : heldBy(core).from(copy.progress().nextSequence())) {
        apply(copy, chunk, null);
      }
      copy.placeOpen(into);
    } finally {
      copy.account().close();
    }
  }

  /** Gives all its gaps up where the copy that is shown has become larger than there is room. */
  private boolean settle(CoreGraph core, GraphEvents events) {
    boolean settles = !fits(core);
    while (settles && holds(core)) {
      giveUp(core, events);
    }
    return settles;
  }

  private CoreGraph shown(CoreGraph core, long tellFrom, GraphEvents events) {
    HeldChunks held = heldBy(core);
    if (held.shown() == null) {
      try {
        held.show(copier.apply(core));
      } catch (RuntimeException | StackOverflowError e) {
        throw BrokenCoreException.of(core.key(), held.first().sequence(), e);
      }
    }
    CoreGraph shown = held.shown();
    for (HeldChunk chunk : held.from(shown.progress().nextSequence())) {
      apply(shown, chunk, chunk.sequence() < tellFrom ? null : events);
    }
    return shown;
  }

  /** These profiles, with what is shown of the cores that hold chunks; one copy at a time. */
  public void merged(
      Map<ProfileKey, CallProfile> profiles,
      GraphEvents events,
      BiConsumer<ProfileKey, CallProfile> reader) {
    Map<ProfileKey, List<CallProfile>> beside = new HashMap<>();
    for (CoreGraph core : holding(events)) {
      ProfileKey key = new ProfileKey(core.key().session(), core.image().id(), core.unit());
      beside.computeIfAbsent(key, _ -> new ArrayList<>()).add(core.profile());
    }
    profiles.forEach(
        (key, profile) -> {
          CallProfile shown = beside.containsKey(key) ? profile.copy() : profile;
          beside.getOrDefault(key, List.of()).forEach(shown::merge);
          reader.accept(key, shown);
        });
  }

  /** A core as it is at hand. */
  public CoreGraph glance(CoreGraph core) {
    CoreGraph shown = holds(core) ? heldBy(core).shown() : null;
    return shown == null ? core : shown;
  }

  /** Writes what is not what the log of the state holds of them. */
  public void writeChanges(StateLog log, StateChanges to) throws IOException {
    for (HeldChunks held : chunks.values()) {
      held.writeChanges(log, to);
    }
    chunks.values().removeIf(HeldChunks::isEmpty);
  }

  /** How many chunks were taken, which cores hold some, in order, and what they hold. */
  public void writeTo(DataOutput out) throws IOException {
    out.writeLong(taken);
    out.writeInt(holding.size());
    for (CoreGraph core : holding.values()) {
      Fields.writeText(out, core.key().session());
      Fields.writeText(out, core.key().core());
      heldBy(core).writeTo(out);
    }
  }

  /** The same without what they hold, which is {@linkplain #writeChanges written apart}. */
  public void writeOrderTo(DataOutput out) throws IOException {
    out.writeLong(taken);
    out.writeInt(holding.size());
    for (CoreGraph core : holding.values()) {
      Fields.writeVarint(out, core.number());
    }
  }

  /** Reads what {@link #writeTo} wrote; the cores are complete already. */
  public void readFrom(DataInput in, Function<CoreKey, CoreGraph> cores, int most)
      throws IOException {
    int count = readTaken(in, most);
    for (int i = 0; i < count; i++) {
      readHeld(cores.apply(new CoreKey(Fields.readText(in), Fields.readText(in))), in);
    }
  }

  /**
   * Reads what {@link #writeOrderTo} wrote; the cores are complete already.
   *
   * @param cores those that hold chunks, by their numbers, as {@code held} has these
   */
  public void readOrderFrom(DataInput in, Map<Long, CoreGraph> cores, Map<Long, byte[]> held)
      throws IOException {
    int count = readTaken(in, cores.size());
    if (count != held.size()) {
      throw new IOException(
          "corrupt state: %d cores hold chunks, and %d do".formatted(count, held.size()));
    }
    for (int i = 0; i < count; i++) {
      long number = Fields.readVarint(in);
      ByteInput part = new ByteInput(held.getOrDefault(number, new byte[0]));
      CoreGraph core = cores.get(number);
      readHeld(core, part);
      if (part.remaining() > 0) {
        throw new IOException("corrupt state: core %s holds more".formatted(core.key().core()));
      }
      heldBy(core).isWritten(held.get(number));
    }
  }

  private int readTaken(DataInput in, int most) throws IOException {
    restored = true;
    taken = in.readLong();
    if (taken < 0) {
      throw new IOException("corrupt snapshot: %d chunks were taken".formatted(taken));
    }
    return Fields.readCount(in, most, "cores that hold chunks");
  }

  private void readHeld(CoreGraph core, DataInput in) throws IOException {
    if (core == null) {
      throw new IOException("corrupt snapshot: chunks are held of an unknown core");
    }
    if (holding.putIfAbsent(core.key(), core) != null) {
      throw new IOException("corrupt snapshot: a core holds chunks twice");
    }
    heldBy(core).readFrom(in, core.progress().nextSequence(), taken);
    bytes += heldBy(core).bytes();
    core.account().charge(heldBy(core).bytes());
  }

  /** After a snapshot was read: limits may have become smaller. */
  private void enforce(GraphEvents events) {
    restored = false;
    for (CoreGraph core : List.copyOf(holding.values())) {
      bound(core, events);
    }
  }
}
