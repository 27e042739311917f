package dev.retstack.graph.aggregate;

import dev.retstack.graph.check.Stat;
import dev.retstack.graph.reconstruct.ChunkMeta;
import dev.retstack.graph.reconstruct.CoreEnd;
import dev.retstack.graph.reconstruct.CoreReconstructor;
import dev.retstack.graph.reconstruct.Loss;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.RecordBatch;
import dev.retstack.schema.codec.RecordLinks;
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
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The cores of a state that wait for a chunk. Such a core stands as it was before its first gap;
 * the chunks that came behind it are held, and applied in order of their numbers as soon as the gap
 * closes: in whatever order chunks come, within {@link LateLimits}, the core becomes what it would
 * have become had they come in order. What is shown of it meanwhile, and told, is a copy to which
 * the held chunks were applied with their gaps counted as losses.
 */
final class LateCores {
  private final LateLimits limits;
  private final RecordLinks links;
  private final UnaryOperator<CoreGraph> copier;

  /** Cores that hold chunks, that whose first gap is open for the longest ahead. */
  private final Map<CoreKey, CoreGraph> holding = new LinkedHashMap<>();

  /** Where chunks stood that were held, and were left out with their cores. */
  private final LongArrayList leftOut = new LongArrayList();

  private RecordBatch batch = new RecordBatch(0);
  private boolean restored;
  private long taken;
  private long bytes;

  /**
   * @param copier makes a copy of a core that adds up for itself
   */
  LateCores(LateLimits limits, RecordLinks links, UnaryOperator<CoreGraph> copier) {
    this.limits = limits;
    this.links = links;
    this.copier = copier;
  }

  /** Whether all cores are what they are shown as. */
  boolean isEmpty() {
    return holding.isEmpty();
  }

  /** What is shown of the cores that hold chunks. */
  Collection<CoreGraph> holding(GraphEvents events) {
    Collection<CoreGraph> all = shown(List.copyOf(holding.values()), events);
    all.removeIf(core -> holding.get(core.key()) == null); // it had no room for what is shown
    return all;
  }

  /** Chunks held. */
  int chunks() {
    return holding.values().stream().mapToInt(core -> core.held().size()).sum();
  }

  /** Takes a chunk that is not simply the next of a core which waits for none. */
  ApplyResult take(
      CoreGraph core,
      ChunkMeta meta,
      RecordBatch records,
      Supplier<PackedRecords> packed,
      GraphEvents events) {
    long next = core.progress().nextSequence();
    HeldChunks held = core.held();
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
    return core.isHolding() ? ApplyResult.HELD : ApplyResult.APPLIED;
  }

  /** Another chunk of the state was taken: gaps that are open for too long are final. */
  void tick(GraphEvents events) {
    taken++;
    if (restored) {
      enforce(events); // and not where it is read: what breaks a core then, breaks the reading
    }
    while (!holding.isEmpty() && taken - oldest().held().opened() > limits.chunks()) {
      giveUp(oldest(), events);
    }
  }

  private CoreGraph oldest() {
    return holding.values().iterator().next();
  }

  /** What was told of chunks from this one on was without it. */
  private static void amend(CoreGraph core, ChunkMeta meta, GraphEvents events) {
    core.held().setTold(meta.sequence());
    core.held().show(null);
    core.setRevision(core.revision() + 1);
    if (events != null) {
      events.amended(core, meta.sequence(), Math.max(meta.firstTime(), core.progress().time()));
    }
  }

  private void hold(CoreGraph core, HeldChunk chunk) {
    HeldChunks held = core.held();
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
    HeldChunks held = core.held();
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
  private static boolean fits(CoreGraph core) {
    return core.account().fits(core.held().shown() == null ? core.account().used() : 0);
  }

  /** The first gap of a core is final. */
  private void giveUp(CoreGraph core, GraphEvents events) {
    applyFirst(core, events);
    fold(core, events);
  }

  /** Applies what is held up to the next gap. */
  private void fold(CoreGraph core, GraphEvents events) {
    HeldChunks held = core.held();
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
    HeldChunk first = core.held().removeFirst();
    bytes -= first.bytes();
    core.account().give(first.bytes());
    apply(core, first, first.sequence() < core.held().told() ? null : events);
  }

  private void apply(CoreGraph core, HeldChunk chunk, GraphEvents events) {
    try {
      batch = chunk.records().unpack(batch);
      if (!batch.isLinked()) {
        links.fill(batch);
      }
      core.apply(chunk.meta(), batch, events);
    } catch (CorruptChunkException | RuntimeException | StackOverflowError e) {
      throw BrokenCoreException.of(core.key(), chunk.sequence(), e); // it was whole when it came
    }
  }

  private static void count(CoreGraph core, Stat stat) {
    core.count(stat, 1);
    if (core.held().shown() != null) {
      core.held().shown().count(stat, 1);
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
  void breakOff(CoreGraph core, long sequence, GraphEvents events) {
    HeldChunks held = core.held();
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
  long[] takeLeftOut() {
    long[] positions = leftOut.toLongArray();
    leftOut.clear();
    return positions;
  }

  /** Gives up all gaps: the state is what is shown of it. */
  void settle(GraphEvents events) {
    while (!holding.isEmpty()) {
      giveUp(oldest(), events);
    }
  }

  /** A core is dropped, with what it holds. */
  void drop(CoreGraph core) {
    if (holding.remove(core.key()) != null) {
      bytes -= core.held().bytes();
      core.held().show(null);
    }
  }

  /** Tells of what is held and was not told yet. */
  void tell(GraphEvents events) {
    for (CoreGraph core : List.copyOf(holding.values())) {
      if (!hasRoom(core, events)) {
        continue;
      }
      HeldChunks held = core.held();
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
    HeldChunks held = core.held();
    while (!held.isEmpty() && !fits(core)) {
      giveUp(core, events);
    }
    return !held.isEmpty();
  }

  /** What is shown of a core; a gap that there is no room to show is given up. */
  CoreGraph shown(CoreGraph core, GraphEvents events) {
    if (!core.isHolding() || !hasRoom(core, events)) {
      return core;
    }
    CoreGraph shown = shown(core, Long.MAX_VALUE, null);
    return settle(core, events) ? core : shown;
  }

  /** Gives all its gaps up where the copy that is shown has become larger than there is room. */
  private boolean settle(CoreGraph core, GraphEvents events) {
    boolean settles = !fits(core);
    while (settles && core.isHolding()) {
      giveUp(core, events);
    }
    return settles;
  }

  private CoreGraph shown(CoreGraph core, long tellFrom, GraphEvents events) {
    HeldChunks held = core.held();
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

  /** Cores as they are shown. */
  Collection<CoreGraph> shown(Collection<CoreGraph> cores, GraphEvents events) {
    List<CoreGraph> all = new ArrayList<>(cores.size());
    cores.forEach(core -> all.add(shown(core, events)));
    return all;
  }

  /** These profiles, with what is shown of the cores that hold chunks; one copy at a time. */
  void merged(
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

  /** Cores as they are at hand. */
  Collection<CoreGraph> glance(Collection<CoreGraph> cores) {
    List<CoreGraph> all = new ArrayList<>(cores.size());
    for (CoreGraph core : cores) {
      CoreGraph shown = core.isHolding() ? core.held().shown() : null;
      all.add(shown == null ? core : shown);
    }
    return all;
  }

  /** How many chunks were taken, which cores hold some, in order, and what they hold. */
  void writeTo(DataOutput out) throws IOException {
    out.writeLong(taken);
    out.writeInt(holding.size());
    for (CoreGraph core : holding.values()) {
      Fields.writeText(out, core.key().session());
      Fields.writeText(out, core.key().core());
      core.held().writeTo(out);
    }
  }

  /** The same without what they hold, which is {@linkplain CoreGraph#writeChanges theirs}. */
  void writeOrderTo(DataOutput out) throws IOException {
    out.writeLong(taken);
    out.writeInt(holding.size());
    for (CoreGraph core : holding.values()) {
      Fields.writeVarint(out, core.number());
    }
  }

  /** Reads what {@link #writeTo} wrote; the cores are complete already. */
  void readFrom(DataInput in, Map<CoreKey, CoreGraph> cores) throws IOException {
    int count = readTaken(in, cores.size());
    for (int i = 0; i < count; i++) {
      CoreGraph core = cores.get(new CoreKey(Fields.readText(in), Fields.readText(in)));
      readHeld(core, in);
    }
  }

  /**
   * Reads what {@link #writeOrderTo} wrote; the cores are complete already.
   *
   * @param held what cores hold, by their numbers
   */
  void readOrderFrom(DataInput in, Map<Long, CoreGraph> cores, Map<Long, byte[]> held)
      throws IOException {
    int count = readTaken(in, cores.size());
    if (count != held.size()) {
      throw new IOException(
          "corrupt state: %d cores hold chunks, and %d do".formatted(count, held.size()));
    }
    for (int i = 0; i < count; i++) {
      long number = Fields.readVarint(in);
      ByteInput chunks = new ByteInput(held.getOrDefault(number, new byte[0]));
      CoreGraph core = cores.get(number);
      readHeld(core, chunks);
      core.heldIs(held.get(number), chunks);
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
      throw new IOException("corrupt snapshot: chunks are held of what is no core");
    }
    if (holding.putIfAbsent(core.key(), core) != null) {
      throw new IOException("corrupt snapshot: a core holds chunks twice");
    }
    core.held().readFrom(in, core.progress().nextSequence(), taken);
    bytes += core.held().bytes();
    core.account().charge(core.held().bytes());
  }

  /** After a snapshot was read: limits may have become smaller. */
  private void enforce(GraphEvents events) {
    restored = false;
    for (CoreGraph core : List.copyOf(holding.values())) {
      bound(core, events);
    }
  }
}
