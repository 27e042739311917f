package dev.retstack.service.reconstruct;

import dev.retstack.graph.aggregate.ApplyResult;
import dev.retstack.graph.aggregate.CoreGraph;
import dev.retstack.graph.aggregate.SessionAges;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.aggregate.DerivedRecords;
import dev.retstack.service.ingest.ImageRegistry;
import dev.retstack.service.metrics.PartitionMeter;
import dev.retstack.service.progress.CoreProgress;
import dev.retstack.service.progress.CoreWatch;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records of one partition into its state: what is no chunk, or contradicts the others, goes to
 * dead letters, and the position in the topic goes on with each. Knows no actor.
 */
final class ChunkIntake {
  private static final Logger log = LoggerFactory.getLogger(PartitionGraph.class);

  /** What became of a record. */
  sealed interface Taken {}

  /**
   * It is done with, applied or refused.
   *
   * @param coreEnded whether it was the last of its core
   */
  record Done(boolean coreEnded) implements Taken {}

  /** It cannot be applied before the image that it names is known. */
  record NeedsImage(Chunk chunk) implements Taken {}

  private final int partition;
  private final PartitionSettings settings;
  private final PartitionPeers peers;
  private final PartitionMeter meter;
  private final DerivedRecords derived;
  private final TotalsTurns totals;
  private final RefusalLog refusals;
  private ChunkApplier applier;
  private long nextOffset;
  private long skippedOffsets;

  /** Without a state so far; what is found goes to {@code derived}. */
  ChunkIntake(
      int partition, PartitionSettings settings, PartitionPeers peers, DerivedRecords derived) {
    this.partition = partition;
    this.settings = settings;
    this.peers = peers;
    this.meter = peers.meter();
    this.derived = derived;
    this.refusals = new RefusalLog(partition);
    this.totals = new TotalsTurns(settings.totalsInterval(), peers.shares().totals());
  }

  /**
   * Goes on from this checkpoint.
   *
   * @throws IOException where its state is not one that can be gone on with here
   */
  void open(Checkpoint checkpoint) throws IOException {
    applier =
        new ChunkApplier(
            StateCopy.state(checkpoint.state().joined(), settings.limits(), settings.rules()));
    nextOffset = checkpoint.nextOffset();
    derived.open(applier.state());
    totals.opened(nextOffset);
    applier.state().cores().forEach(this::watch);
    peers.watch().tell(new CoreWatch.Reached(partition, nextOffset));
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
    long start = CpuClock.nanos();
    var told = derived.checkpoint(applier.state(), nextOffset, turn);
    if (turn) {
      totals.told(derived.isLeft(), nextOffset, CpuClock.nanos() - start, System.nanoTime());
    }
    // a core that holds chunks is told of here, others with each chunk
    applier.state().holding().forEach(this::watch);
    if (!totals.areBehind(nextOffset)) {
      forget();
    }
    return told;
  }

  /** What {@link #tell} gave took so many nanoseconds of a processor to make and send. */
  void told(long nanos) {
    totals.sent(nanos, System.nanoTime());
  }

  /** Sessions that are over leave the state once all of them is published; that stays as it is. */
  private void forget() {
    Set<String> gone = applier.state().forget();
    if (!gone.isEmpty()) {
      derived.forget(gone);
      peers.watch().tell(new CoreWatch.Forgotten(partition, gone));
      log.info(
          "partition {}: {} sessions are forgotten: nothing came of them for {}",
          partition,
          gone.size(),
          settings.keepEnded());
    }
  }

  /** Whether there is something of the state that a last checkpoint has to tell. */
  boolean hasUntold() {
    return isOpen() && totals.areOwed(nextOffset);
  }

  /** The same, and it is time to tell it. */
  boolean hasMoreToTell() {
    return isOpen() && totals.isTurn(nextOffset, System.nanoTime());
  }

  /** Tells how far a core came; true where it has ended. */
  private boolean watch(CoreGraph core) {
    CoreProgress progress = CoreProgress.of(partition, core);
    peers.watch().tell(new CoreWatch.Advanced(progress));
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

  /** Takes the next record; one below {@link #nextOffset} is in the state and not to be given. */
  Taken take(ConsumerRecord<byte[], byte[]> record) {
    if (record.offset() > nextOffset) {
      long gone = record.offset() - nextOffset;
      skippedOffsets += gone;
      log.warn(
          "partition {}: {} records of the topic are gone before offset {}: lost if they were"
              + " deleted before this member read them, see retention of the topic; nothing is"
              + " lost where a producer gave a transaction up",
          partition,
          gone,
          record.offset());
      nextOffset = record.offset();
    }
    try {
      return apply(record, ConfluentFrame.decode(record.value(), Chunk.class));
    } catch (CorruptChunkException e) {
      applier.refused();
      return refuse(record, e.getMessage());
    }
  }

  /** Goes on with a chunk that waited for its image; empty where that did not come in time. */
  Taken take(ParkedChunk parked, ImageRegistry.Found found) {
    found.image().ifPresent(applier::image);
    if (found.image().isPresent()) {
      return apply(parked.ingest().record(), parked.chunk());
    }
    applier.refused();
    return refuse(parked.ingest().record(), parked.reason(settings, found.goneFrom()));
  }

  private Taken apply(ConsumerRecord<byte[], byte[]> record, Chunk chunk) {
    SessionAges ages = applier.state().ages();
    if (!ages.reach(chunk.getSession(), record.timestamp(), settings.keepEnded().toMillis())) {
      return refuse(
          record,
          "session %s is forgotten: nothing had come of it for longer than --keep-ended; core %s"
              .formatted(chunk.getSession(), chunk.getCore()));
    }
    ApplyResult result;
    try {
      result = applier.apply(chunk);
    } catch (CorruptChunkException e) {
      return refuse(record, e.getMessage());
    }
    if (result != ApplyResult.REFUSED && result != ApplyResult.NEEDS_IMAGE) {
      ages.heard(chunk.getSession());
    }
    return switch (result) {
      case APPLIED -> {
        meter.applied(chunk.getRecordCount());
        boolean ended = watch(applier.state().core(ChunkApplier.key(chunk)).orElseThrow());
        if (ended) {
          totals.coreEnded();
        }
        yield done(record, ended);
      }
      case HELD -> {
        meter.applied(chunk.getRecordCount());
        yield done(record, false);
      }
      case STALE -> {
        meter.stale();
        yield done(record, false);
      }
      case REFUSED -> refuse(record, refusal(chunk));
      case NEEDS_IMAGE -> new NeedsImage(chunk);
    };
  }

  private Taken done(ConsumerRecord<byte[], byte[]> record, boolean coreEnded) {
    nextOffset = record.offset() + 1;
    peers.watch().tell(new CoreWatch.Reached(partition, nextOffset));
    return new Done(coreEnded);
  }

  private String refusal(Chunk chunk) {
    if (applier.state().core(ChunkApplier.key(chunk)).isPresent()) {
      return "contradicts the chunks before it of core " + chunk.getCore();
    }
    return "the partition holds %d cores, no more are allowed: begin a new --group, or give a higher"
            .formatted(applier.state().cores().size())
        + " --cores-per-partition and re-inject; core "
        + chunk.getCore();
  }

  private Taken refuse(ConsumerRecord<byte[], byte[]> record, String reason) {
    refusals.lines(record.offset(), reason, System.nanoTime()).forEach(log::warn);
    derived.deadLetter(record, reason);
    meter.refused();
    return done(record, false);
  }
}
