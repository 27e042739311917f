package dev.retstack.service.reconstruct;

import dev.retstack.graph.aggregate.ApplyResult;
import dev.retstack.graph.aggregate.CoreGraph;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.aggregate.DerivedRecords;
import dev.retstack.service.ingest.ImageRegistry;
import dev.retstack.service.metrics.PartitionMeter;
import dev.retstack.service.progress.CoreProgress;
import dev.retstack.service.progress.CoreWatch;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.PreRestart;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.javadsl.AbstractMatchingBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.apache.pekko.pattern.StatusReply;

/**
 * Owns one partition of events: its state, its checkpoints and what is derived from it. A thin
 * shell round {@link ChunkApplier}: one message per chunk, no decision about records is made here.
 *
 * <p>It opens its ledger first, which shuts out the owner before it and gives the last checkpoint;
 * only then is the offset known at which the stream starts. A failure of the ledger is final: the
 * actor stops, the stream that feeds it fails, and the partition is opened again from the last
 * checkpoint.
 */
public final class PartitionGraph extends AbstractMatchingBehavior<PartitionGraph.Command> {
  /** What a partition understands. */
  public sealed interface Command {}

  /** Asks for the offset of the first record that is wanted, once the state is loaded. */
  public record AwaitOpen(ActorRef<StatusReply<Long>> replyTo) implements Command {}

  /** A record of events; the answer comes when it is applied and what it gave is handed over. */
  public record Ingest(ConsumerRecord<byte[], byte[]> record, ActorRef<StatusReply<Done>> replyTo)
      implements Command {}

  /** Asks for a copy of the state, which the asker may read on any thread. */
  public record Copy(ActorRef<StateCopy> replyTo) implements Command {}

  /** Asks where it stands, in numbers; answered at any time. */
  public record Measure(ActorRef<PartitionMeasure> replyTo) implements Command {}

  /** Writes a last checkpoint and stops. */
  public enum Release implements Command {
    INSTANCE
  }

  private enum CheckpointDue implements Command {
    INSTANCE
  }

  private record Opened(Checkpoint checkpoint) implements Command {}

  private record Published(ActorRef<StatusReply<Done>> replyTo) implements Command {}

  private record CheckpointWritten(long nextOffset) implements Command {}

  private record ImageAnswered(ImageRegistry.Found found) implements Command {}

  private record Failed(Throwable cause) implements Command {}

  private final CheckpointPace<Command> pace;
  private final CheckpointTurns checkpoints;
  private final int partition;
  private final PartitionSettings settings;
  private final PartitionPeers peers;
  private final LedgerThread ledger;
  private final DerivedRecords derived;
  private final PartitionMeter meter;
  private final Deque<Ingest> queued = new ArrayDeque<>();
  private final List<AwaitOpen> awaitingOpen = new ArrayList<>();
  private final List<Copy> awaitingCopy = new ArrayList<>();

  private ChunkApplier applier;
  private ParkedChunk parked;
  private long epoch;
  private long nextOffset;
  private long skippedOffsets;
  private boolean releasing;

  /** A partition that opens itself at once. */
  public static Behavior<Command> create(
      int partition, PartitionSettings settings, Supplier<Ledger> ledger, PartitionPeers peers) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers ->
                    new PartitionGraph(context, timers, partition, settings, ledger.get(), peers)));
  }

  private PartitionGraph(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      int partition,
      PartitionSettings settings,
      Ledger ledger,
      PartitionPeers peers) {
    super(context);
    context.setLoggerName(PartitionGraph.class);
    this.pace = new CheckpointPace<>(timers, CheckpointDue.INSTANCE);
    this.checkpoints = new CheckpointTurns(settings.checkpointChunks(), peers.meter());
    this.partition = partition;
    this.settings = settings;
    this.peers = peers;
    this.meter = peers.meter();
    this.ledger = new LedgerThread(ledger, partition);
    this.derived =
        new DerivedRecords(settings.topics(), partition, settings.spanThreshold(), peers.meter());
    timers.startTimerWithFixedDelay(CheckpointDue.INSTANCE, settings.checkpointInterval());
    then(this.ledger.open(), Opened::new);
  }

  @Override
  public Behavior<Command> onMessage(Command command) throws IOException {
    return switch (command) {
      case Opened m -> onOpened(m.checkpoint());
      case AwaitOpen m -> onAwaitOpen(m);
      case Ingest m -> onIngest(m);
      case ImageAnswered m -> onImageAnswered(m.found());
      case Published m -> {
        m.replyTo().tell(StatusReply.ack());
        yield this;
      }
      case CheckpointDue _ -> onCheckpointDue();
      case CheckpointWritten m -> onCheckpointWritten(m.nextOffset());
      case Copy m -> onCopy(m);
      case Measure m -> onMeasure(m);
      case Release _ -> onRelease();
      case Failed m -> onFailed(m.cause());
    };
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop || signal instanceof PreRestart) {
      ledger.close();
    }
    return this;
  }

  private Behavior<Command> onOpened(Checkpoint checkpoint) throws IOException {
    epoch = checkpoint.epoch();
    nextOffset = checkpoint.nextOffset();
    checkpoints.opened(nextOffset);
    applier =
        new ChunkApplier(StateCopy.state(checkpoint.state(), settings.limits(), settings.rules()));
    applier.state().events(derived);
    for (CoreGraph core : applier.state().cores()) {
      peers.watch().tell(new CoreWatch.Advanced(CoreProgress.of(partition, core)));
    }
    getContext()
        .getLog()
        .info("partition {} opened, epoch {}, offset {}", partition, epoch, nextOffset);
    awaitingOpen.forEach(m -> m.replyTo().tell(StatusReply.success(nextOffset)));
    awaitingOpen.clear();
    awaitingCopy.forEach(this::copy);
    awaitingCopy.clear();
    return releasing ? onRelease() : drain();
  }

  private Behavior<Command> onAwaitOpen(AwaitOpen m) {
    if (applier == null) {
      awaitingOpen.add(m);
    } else {
      m.replyTo().tell(StatusReply.success(nextOffset));
    }
    return this;
  }

  private Behavior<Command> onIngest(Ingest m) {
    queued.add(m);
    return drain();
  }

  /** Applies what is queued, up to a chunk that has to wait. The stream bounds the queue. */
  private Behavior<Command> drain() {
    while (applier != null && parked == null && !queued.isEmpty()) {
      ingest(queued.poll());
    }
    return this;
  }

  private void ingest(Ingest m) {
    long offset = m.record().offset();
    meter.received(m.record().serializedValueSize());
    if (offset < nextOffset) {
      m.replyTo().tell(StatusReply.ack()); // came again after a move: it is in the state
      return;
    }
    if (offset > nextOffset) {
      long gone = offset - nextOffset;
      skippedOffsets += gone;
      log("partition {}: {} records of the topic are gone before offset {}", gone, offset);
      nextOffset = offset;
    }
    try {
      apply(m, ConfluentFrame.decode(m.record().value(), Chunk.class));
    } catch (CorruptChunkException e) {
      applier.refused();
      refuse(m, e.getMessage());
    }
  }

  private void apply(Ingest m, Chunk chunk) {
    derived.unit(chunk.getClockUnit());
    ApplyResult result;
    try {
      result = applier.apply(chunk);
    } catch (CorruptChunkException e) {
      refuse(m, e.getMessage());
      return;
    }
    switch (result) {
      case APPLIED -> {
        meter.applied(chunk.getRecordCount());
        applied(m, chunk);
      }
      case STALE -> {
        meter.stale();
        applied(m, chunk);
      }
      case REFUSED -> refuse(m, "contradicts the chunks before it of core " + chunk.getCore());
      case NEEDS_IMAGE -> park(m, chunk);
    }
  }

  private void applied(Ingest m, Chunk chunk) {
    CoreGraph core = applier.state().core(ChunkApplier.key(chunk)).orElseThrow();
    CoreProgress progress = CoreProgress.of(partition, core);
    peers.watch().tell(new CoreWatch.Advanced(progress));
    if (progress.ended()) {
      pace.coreEnded();
    }
    advance(m);
  }

  private void refuse(Ingest m, String reason) {
    log("partition {} offset {} goes to dead letters: {}", m.record().offset(), reason);
    derived.deadLetter(m.record(), reason);
    meter.refused();
    advance(m);
  }

  /** The record is done: hands over what it gave, and answers when that is taken. */
  private void advance(Ingest m) {
    nextOffset = m.record().offset() + 1;
    List<ProducerRecord<byte[], byte[]>> records = derived.take();
    if (records.isEmpty()) {
      m.replyTo().tell(StatusReply.ack());
    } else {
      then(ledger.publish(records), _ -> new Published(m.replyTo()));
    }
    if (checkpoints.applied()) {
      checkpoint();
    }
  }

  private void park(Ingest m, Chunk chunk) {
    parked = new ParkedChunk(m, chunk);
    peers
        .images()
        .tell(
            new ImageRegistry.Find(
                chunk.getImage(),
                settings.imagePatience(),
                getContext().messageAdapter(ImageRegistry.Found.class, ImageAnswered::new)));
  }

  private Behavior<Command> onImageAnswered(ImageRegistry.Found found) {
    ParkedChunk waiting = parked;
    parked = null;
    found.image().ifPresent(applier::image);
    if (found.image().isPresent()) {
      apply(waiting.ingest(), waiting.chunk());
    } else {
      applier.refused();
      refuse(waiting.ingest(), waiting.reason(settings));
    }
    return drain();
  }

  private Behavior<Command> onCheckpointDue() {
    if (applier != null && nextOffset != checkpoints.writtenOffset()) {
      checkpoint();
    }
    return this;
  }

  /** Takes a checkpoint, or another one after the one that is being written, or a little later. */
  private void checkpoint() {
    if (checkpoints.isOnItsWay()) {
      checkpoints.askAgain();
      return;
    }
    if (!releasing && pace.tooEarly()) {
      return;
    }
    checkpoints.began();
    long offset = nextOffset;
    long start = System.nanoTime();
    byte[] state = StateCopy.bytes(applier.state());
    meter.checkpointBytes(state.length);
    List<ProducerRecord<byte[], byte[]>> profiles = derived.profiles(applier.state(), offset);
    pace.took(meter.stalledSince(start));
    then(
        ledger.commit(profiles, new Checkpoint(partition, epoch, offset, state)),
        CheckpointWritten::new);
  }

  private Behavior<Command> onCheckpointWritten(long offset) {
    if (checkpoints.written(offset, nextOffset)) {
      checkpoint();
      return this;
    }
    return releasing ? Behaviors.stopped() : this;
  }

  private Behavior<Command> onCopy(Copy m) {
    if (applier == null) {
      awaitingCopy.add(m);
    } else {
      copy(m);
    }
    return this;
  }

  private void copy(Copy m) {
    m.replyTo().tell(position(StateCopy.bytes(applier.state())));
  }

  private StateCopy position(byte[] state) {
    return new StateCopy(
        partition,
        epoch,
        nextOffset,
        checkpoints.writtenOffset(),
        skippedOffsets,
        state,
        settings.limits());
  }

  private Behavior<Command> onMeasure(Measure m) {
    int waiting = queued.size() + (parked == null ? 0 : 1);
    boolean stuck = parked != null;
    m.replyTo()
        .tell(
            PartitionMeasure.of(position(new byte[0]), checkpoints.age(), waiting, stuck, applier));
    return this;
  }

  private Behavior<Command> onRelease() {
    releasing = true;
    if (applier == null) {
      return this; // still opening; goes on when that is done
    }
    if (checkpoints.isOnItsWay() || nextOffset != checkpoints.writtenOffset()) {
      checkpoint();
      return this;
    }
    return Behaviors.stopped();
  }

  private Behavior<Command> onFailed(Throwable cause) {
    log("partition {} goes back to offset {}: {}", checkpoints.writtenOffset(), cause.toString());
    meter.failed();
    awaitingOpen.forEach(m -> m.replyTo().tell(StatusReply.error(cause)));
    queued.forEach(m -> m.replyTo().tell(StatusReply.error(cause)));
    return Behaviors.stopped();
  }

  private void log(String form, Object first, Object second) {
    getContext().getLog().warn(form, partition, first, second);
  }

  /** The outcome of what the ledger does comes back as a message. */
  private <T> void then(CompletionStage<T> step, Function<T, Command> done) {
    getContext()
        .pipeToSelf(
            step, (result, failure) -> failure == null ? done.apply(result) : new Failed(failure));
  }
}
