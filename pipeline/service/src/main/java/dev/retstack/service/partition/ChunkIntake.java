package dev.retstack.service.partition;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.graph.calls.CoreSummary;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.input.ApplyResult;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.places.LogPlaces;
import dev.retstack.graph.places.Place;
import dev.retstack.graph.pyramid.JobPyramids;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.StateChanges;
import dev.retstack.graph.state.SessionAges;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.checkpoint.Checkpoint;
import dev.retstack.service.images.ImageRegistry;
import dev.retstack.service.metrics.PartitionMeter;
import dev.retstack.service.publish.DerivedRecords;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes records of one partition into its state. A record that is not a chunk, or contradicts the
 * others, goes to dead letters. The position in the topic advances with each. It knows no actor: a
 * {@link Listener} passes on what others must know.
 */
final class ChunkIntake {
  /** Hears what happens to the partition, and answers its questions for images. */
  interface Listener {
    /** A chunk of a core was applied, or its state was loaded. */
    void advanced(CoreProgress core);

    /** All records below this offset are in the state. */
    void reached(long nextOffset);

    /** These sessions left the state. */
    void forgotten(Set<String> sessions);

    /** An image is needed: {@link #imageAnswered} takes the answer. */
    void find(String buildId);

    /** An image is no longer waited for. */
    void giveUp(String buildId);
  }

  private static final Logger log = LoggerFactory.getLogger(ChunkIntake.class);

  /** Chunks that are tried on copies first after one made reconstruction fail. */
  private static final int CAREFUL_CHUNKS = 4096;

  private static final int NAMELESS_MOST = 1 << 10;

  /** Of the part of a checkpoint that has the chunks which wait for images. */
  private static final String WAITS = "waits";

  private final int partition;
  private final PartitionSettings settings;
  private final StateBudget budget;
  private final PartitionMeter meter;
  private final DerivedRecords derived;
  private final TotalsTurns totals;
  private final RefusalLog refusals;
  private final Listener listener;

  /** Where reconstruction failed, until a checkpoint says so. */
  private final Map<CoreKey, BrokenCoreException> broken = new HashMap<>();

  /** Images that cores map beside their own and that did not come: nobody waits for them. */
  private final Set<String> nameless = new HashSet<>();

  private Set<CoreKey> written = Set.of();
  private ChunkApplier applier;
  private JobPyramids pyramids = new JobPyramids(StateBudget.UNLIMITED);
  private LogPlaces places = new LogPlaces(StateBudget.UNLIMITED);
  private ImageWaits waits = new ImageWaits(0, StateBudget.UNLIMITED.open(0));
  private byte[] waitsWritten;
  private boolean waited;
  private int careful;
  private long nextOffset;
  private long reachedOffset;
  private long skippedOffsets;

  /** Events below this offset were published by a state that was lost. */
  private long published;

  /** Has no state until it is opened; what is found goes to {@code derived}. */
  ChunkIntake(
      int partition,
      PartitionSettings settings,
      StateBudget budget,
      PartitionMeter meter,
      DerivedRecords derived,
      Listener listener) {
    this.partition = partition;
    this.settings = settings;
    this.budget = budget;
    this.meter = meter;
    this.derived = derived;
    this.listener = listener;
    this.refusals = new RefusalLog(partition);
    this.totals = new TotalsTurns(settings.totalsInterval());
  }

  /**
   * Continues from this checkpoint.
   *
   * @throws IOException where its state is not one that can be used here
   */
  void open(Checkpoint checkpoint) throws IOException {
    Map<String, byte[]> parts = checkpoint.parts();
    waitsWritten = parts.remove(WAITS);
    published = Checkpoint.takePublished(parts);
    places = LogPlaces.takeFrom(parts, budget);
    try {
      pyramids = JobPyramids.takeFrom(parts, budget);
    } catch (IOException e) {
      places.close();
      throw e;
    }
    try {
      applier =
          new ChunkApplier(
                  StateCopy.state(
                      parts, settings.limits(), settings.rules(), budget, settings.names()))
              .oneOfMany();
    } catch (IOException e) {
      places.close();
      pyramids.close();
      throw e;
    }
    StateBudget.Account account = budget.open(0);
    waits =
        waitsWritten == null
            ? new ImageWaits(settings.waitingBytes(), account)
            : ImageWaits.readFrom(new ByteInput(waitsWritten), settings.waitingBytes(), account);
    waited = false;
    nextOffset = checkpoint.nextOffset();
    applier.state().events(derived);
    applier.state().pyramids(pyramids);
    applier.leaveOut(broken.values());
    derived.opened();
    applier.state().careful(careful > 0);
    waits.images().forEach(listener::find);
    totals.opened(nextOffset);
    applier.state().summaries().forEach(this::watch);
    listener.reached(nextOffset);
  }

  /** Takes nothing any more: what the state holds is free for other partitions. */
  void close() {
    if (isOpen()) {
      applier.state().close();
      waits.close();
      places.close();
      pyramids.close();
    }
  }

  /**
   * A chunk made reconstruction fail: the state is of no use any more. Once it is opened again, the
   * core of the chunk takes it no more.
   *
   * @return false where it was to be left out already
   */
  boolean broke(BrokenCoreException why) {
    giveUp();
    return noted(why);
  }

  /** The state is of no use any more, until it is opened again. */
  void giveUp() {
    close();
    applier = null;
    derived.take();
    written = Set.of();
  }

  private boolean noted(BrokenCoreException why) {
    careful = CAREFUL_CHUNKS;
    BrokenCoreException known = broken.get(why.key());
    boolean news = known == null || known.sequence() > why.sequence();
    if (news) {
      broken.put(why.key(), why);
      if (!why.clean()) { // there are few of these; the others are refused with a line
        log.error("partition {}: {}", partition, why.getMessage(), why.getCause());
      }
    }
    return news;
  }

  /** What changed of the state since this was asked last: null for what is there no more. */
  Map<String, byte[]> changes() {
    written = new HashSet<>(broken.keySet());
    written.removeIf(key -> !applier.isBroken(key));
    waited = false;
    Map<String, byte[]> changes = new LinkedHashMap<>();
    StateChanges to =
        new StateChanges() {
          @Override
          public void put(String key, byte[] part) {
            changes.put(key, part);
          }

          @Override
          public void remove(String key) {
            changes.put(key, null);
          }
        };
    try {
      applier.state().writeChanges(to);
      places.writeChanges(to);
      pyramids.writeChanges(to);
      ByteOutput waiting = new ByteOutput(Integer.BYTES);
      waits.writeTo(waiting);
      byte[] now = waiting.take();
      if (!Arrays.equals(now, waitsWritten)) {
        waitsWritten = now;
        changes.put(WAITS, now);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("a part of the state that does not fit", e);
    }
    return changes;
  }

  /** What {@link #changes} gave is written, and says which cores are broken. */
  void written() {
    broken.keySet().removeAll(written);
    written = Set.of();
  }

  /** Whether chunks that waited were taken since the state was written down. */
  boolean hasTakenWaiting() {
    return waited;
  }

  /**
   * What goes out with a checkpoint of the state as it is now, which is to be written down after
   * this.
   *
   * @param last whether it is the last one here, with which everything goes out
   * @return makes the records, on any thread
   */
  Supplier<List<ProducerRecord<byte[], byte[]>>> tell(boolean last) {
    if (last) {
      totals.end();
    }
    boolean turn = last || totals.isTurn(nextOffset, System.nanoTime());
    var told = derived.checkpoint(applier.state(), nextOffset, turn);
    if (turn) {
      totals.published(derived.totalsRows(), derived.isLeft(), nextOffset, System.nanoTime());
    }
    if (!totals.areBehind(nextOffset)) {
      forget();
    }
    return told;
  }

  /** Sessions that are over leave the state once all of them is published; that stays as it is. */
  private void forget() {
    Set<String> gone = applier.state().forget(waits::sessions);
    if (!gone.isEmpty()) {
      derived.forget(gone);
      places.forget(gone);
      pyramids.forget(gone);
      listener.forgotten(gone);
      log.info(
          "partition {}: {} sessions are forgotten: they were silent for {}",
          partition,
          gone.size(),
          settings.keepEnded());
    }
  }

  /** Where memory is short, cores that were not used for longest go to rest. */
  void makeRoom() {
    if (isOpen()) {
      applier.state().makeRoom();
    }
  }

  /** Whether the state has totals that a last checkpoint must publish. */
  boolean hasUntold() {
    return isOpen() && totals.areOwed(nextOffset);
  }

  /** Whether totals are due for publishing now. */
  boolean hasMoreToTell() {
    return isOpen() && totals.isTurn(nextOffset, System.nanoTime());
  }

  /** Reports how far a core came; true where it has ended. */
  private boolean watch(CoreSummary core) {
    CoreProgress progress = CoreProgress.of(partition, core);
    listener.advanced(progress);
    return progress.ended();
  }

  /** Whether there is a state. */
  boolean isOpen() {
    return applier != null;
  }

  /** The state; null before it is open. */
  ChunkApplier applier() {
    return applier;
  }

  /** First offset that is not in the state. */
  long nextOffset() {
    return nextOffset;
  }

  /** Offsets that were never delivered. */
  long skippedOffsets() {
    return skippedOffsets;
  }

  /**
   * Takes the next record; one below {@link #nextOffset} is in the state and not to be given.
   *
   * @return whether it was the last of its core
   * @throws BrokenCoreException where the state is of no use any more: see {@link #broke}
   */
  boolean take(ConsumerRecord<byte[], byte[]> record) {
    reach(record.offset());
    Chunk chunk = begin(record);
    if (chunk == null) {
      return false;
    }
    SessionAges ages = applier.state().ages();
    if (!ages.reach(chunk.getSession(), record.timestamp(), settings.keepEnded().toMillis())) {
      return refuse(
          record,
          "session %s is forgotten: it was silent for longer than --keep-ended; core %s"
              .formatted(chunk.getSession(), chunk.getCore()));
    }
    String needed =
        !waits.isEmpty() && waits.has(ChunkApplier.key(chunk)) ? chunk.getImage() : needed(chunk);
    return needed == null ? apply(record, chunk, true) : await(record, chunk, needed);
  }

  /** No record comes any more from below this offset. */
  void reach(long offset) {
    long gone = offset - Math.max(nextOffset, reachedOffset);
    if (gone > 0) {
      skippedOffsets += gone;
      log.warn(
          "partition {}: {} records of the topic are gone before offset {}: lost if they were"
              + " deleted before this member read them, see retention of the topic; nothing is"
              + " lost if a producer aborted a transaction",
          partition,
          gone,
          offset);
    }
    nextOffset = Math.max(nextOffset, offset);
    reachedOffset = Math.max(reachedOffset, nextOffset);
  }

  /**
   * Begins to take a record.
   *
   * @return its chunk; null where there is none, which is refused
   */
  private Chunk begin(ConsumerRecord<byte[], byte[]> record) {
    derived.silent(record.offset() < published);
    try {
      return ConfluentFrame.decode(record.value(), Chunk.class);
    } catch (CorruptChunkException e) {
      applier.refused();
      refuse(record, e.getMessage());
    } catch (RuntimeException | StackOverflowError e) {
      applier.refused();
      refuse(record, "cannot be read as a chunk: " + e);
    }
    return null;
  }

  /** An image that a chunk names and that is not known yet; null where there is none. */
  private String needed(Chunk chunk) {
    if (!applier.state().hasImage(chunk.getImage())
        && applier.state().summary(ChunkApplier.key(chunk)).isEmpty()) {
      return chunk.getImage();
    }
    for (String other : chunk.getImages()) {
      if (!applier.state().hasImage(other) && !nameless.contains(other)) {
        return other;
      }
    }
    return null;
  }

  /** The chunk, and all behind it of its core, wait for an image. */
  private boolean await(ConsumerRecord<byte[], byte[]> record, Chunk chunk, String image) {
    boolean asked = waits.images().contains(image);
    CoreKey key = ChunkApplier.key(chunk);
    boolean first = !waits.has(key);
    waits.add(key, image, record);
    applier.state().ages().noteActivity(chunk.getSession());
    if (first && !asked) {
      listener.find(image);
    }
    if (waits.isFull()) {
      String reason =
          "its image is missing, and there is no room to wait longer, %,d chunks wait: publish images"
                  .formatted(waits.chunks())
              + " to topic %s first, or raise --state-mib".formatted(settings.topics().images());
      waits.giveUp(reason).forEach(listener::giveUp);
    }
    return done(record, false);
  }

  /** An image was found, or did not come in time: the wait of its chunks is over. */
  void imageAnswered(ImageRegistry.Found found) {
    String refusal = null;
    if (found.image().isEmpty()) {
      refusal = reason(found);
    } else if (!applier.image(found.image().get())) {
      refusal = noRoom("image " + found.buildId());
    }
    waits.answered(found.buildId(), refusal);
  }

  private String reason(ImageRegistry.Found found) {
    String topic = settings.topics().images();
    return found
        .goneFrom()
        .map(
            place ->
                "image %s is no longer in topic %s, where it was at %s: publish it again"
                    .formatted(found.buildId(), topic, place))
        .orElseGet(
            () ->
                "image %s did not come within %d s: publish it to topic %s first"
                    .formatted(found.buildId(), settings.imagePatience().toSeconds(), topic));
  }

  /** Where the chunks of each core stand in the log. */
  LogPlaces places() {
    return places;
  }

  /** Chunks that wait for images. */
  ImageWaits waits() {
    return waits;
  }

  /** Takes a record whose wait is over, as {@link #take} does. */
  boolean takeWaiting(ConsumerRecord<byte[], byte[]> record) {
    waited = true;
    totals.changed();
    Chunk chunk = begin(record);
    if (chunk == null || !waits.isOver(ChunkApplier.key(chunk))) {
      return false; // its core waits again; no chunk can stand there only where state was forged
    }
    CoreKey key = ChunkApplier.key(chunk);
    String refusal = waits.refusal(key);
    if (refusal != null && !waits.image(key).equals(chunk.getImage())) {
      if (nameless.size() == NAMELESS_MOST) {
        nameless.clear(); // they are asked for once more
      }
      nameless.add(waits.image(key));
      refusal = null;
    }
    String needed = refusal == null ? needed(chunk) : null;
    boolean ended;
    if (refusal != null) {
      applier.refused();
      ended = refuse(record, refusal + "; core " + chunk.getCore());
    } else if (needed != null) {
      boolean asked = waits.images().contains(needed);
      waits.again(key, needed);
      if (!asked) {
        listener.find(needed);
      }
      return false;
    } else {
      ended = apply(record, chunk, false); // its session was heard when it was read
    }
    waits.done(key);
    return ended;
  }

  /**
   * Gives up what waited and is in the topic no longer.
   *
   * @param offsets whose records {@link #takeWaiting} was given where they are there still
   * @param end below which they were looked for
   */
  void dropMissing(long[] offsets, long end) {
    Set<Long> asked = new HashSet<>();
    Arrays.stream(offsets).filter(offset -> offset < end).forEach(asked::add);
    int gone = waits.missing(asked);
    if (gone > 0) {
      waited = true;
      skippedOffsets += gone;
      log.warn(
          "partition {}: {} records that waited for an image are gone from the topic before it came:"
              + " see its retention",
          partition,
          gone);
    }
  }

  private boolean apply(ConsumerRecord<byte[], byte[]> record, Chunk chunk, boolean heard) {
    if (careful > 0 && --careful == 0) {
      applier.state().careful(false);
    }
    ApplyResult result;
    try {
      result = applier.apply(chunk);
    } catch (CorruptChunkException e) {
      return refuse(record, e.getMessage());
    } catch (BrokenCoreException e) {
      if (!e.clean()) {
        throw e;
      }
      noted(e);
      applier.breakCore(chunk, e);
      result = applier.refuseBroken(chunk);
    }
    if (heard
        && result != ApplyResult.REFUSED
        && result != ApplyResult.NEEDS_IMAGE
        && result != ApplyResult.NO_ROOM) {
      applier.state().ages().noteActivity(chunk.getSession());
    }
    return switch (result) {
      case APPLIED -> {
        places.add(ChunkApplier.key(chunk), place(chunk, record.offset()));
        meter.applied(chunk.getRecordCount());
        boolean ended = watch(applier.state().summary(ChunkApplier.key(chunk)).orElseThrow());
        if (ended) {
          totals.coreEnded();
        }
        yield done(record, ended);
      }
      case STALE -> {
        meter.stale();
        yield done(record, false);
      }
      case LATE -> refuse(record, late(chunk));
      case REFUSED -> refuse(record, refusal(chunk));
      case NO_ROOM -> refuse(record, noRoom("core " + chunk.getCore()));
      case NEEDS_IMAGE -> await(record, chunk, chunk.getImage());
    };
  }

  private static Place place(Chunk chunk, long offset) {
    return Place.of(
        offset,
        chunk.getSequence(),
        chunk.getRecordsBefore(),
        chunk.getFirstTime(),
        chunk.getLastTime(),
        chunk.getKeyframeRecords() != Chunks.NO_KEYFRAME);
  }

  private boolean done(ConsumerRecord<byte[], byte[]> record, boolean coreEnded) {
    nextOffset = Math.max(nextOffset, record.offset() + 1);
    reachedOffset = Math.max(reachedOffset, nextOffset);
    listener.reached(nextOffset);
    return coreEnded;
  }

  private String noRoom(String what) {
    return "the states of this member reserve %d MiB of %d, new cores have no room: give it"
            .formatted(budget.reserved() >> 20, budget.limit() >> 20)
        + " a higher --state-mib and more heap, or more members, and re-inject; "
        + what;
  }

  private String late(Chunk chunk) {
    CoreSummary core = applier.state().summary(ChunkApplier.key(chunk)).orElseThrow();
    return "came late: chunk %d of core %s, of which chunk %d was taken: it counts as lost"
        .formatted(chunk.getSequence(), chunk.getCore(), core.nextSequence() - 1);
  }

  private String refusal(Chunk chunk) {
    CoreKey key = ChunkApplier.key(chunk);
    if (applier.isBroken(key)) {
      CoreSummary core = applier.state().summary(key).orElseThrow();
      applier.state().ages().noteActivity(chunk.getSession());
      watch(core);
      return core.endDetail() + "; this is chunk " + chunk.getSequence();
    }
    if (applier.state().summary(key).isPresent()) {
      return "contradicts the chunks before it of core " + chunk.getCore();
    }
    return "the partition holds %s, no more are allowed: begin a new --group, or give a higher"
            .formatted(Count.of(applier.state().summaries().size(), "core"))
        + " --cores-per-partition and re-inject; core "
        + chunk.getCore();
  }

  private boolean refuse(ConsumerRecord<byte[], byte[]> record, String reason) {
    refusals.lines(record.offset(), reason, System.nanoTime()).forEach(log::warn);
    derived.deadLetter(record, reason);
    meter.refused();
    return done(record, false);
  }
}
