package dev.retstack.service.reconstruct;

import dev.retstack.schema.Chunk;
import dev.retstack.service.aggregate.DerivedRecords;
import dev.retstack.service.ingest.ImageRegistry;
import dev.retstack.service.metrics.PartitionMeter;
import java.io.IOException;
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

  /** Asks what the state adds up to; to be asked once it is loaded. */
  public record Totals(ActorRef<PartitionTotals> replyTo) implements Command {}

  /** Asks where it stands, in numbers; answered at any time. */
  public record Measure(ActorRef<PartitionMeasure> replyTo) implements Command {}

  /**
   * The partition goes to another member: applies nothing any more and writes a last checkpoint;
   * answers when that is done, or when it cannot be. Then it waits for {@link Release}.
   */
  public record HandOver(ActorRef<Done> replyTo) implements Command {}

  /** A partition that was handed over was given back: too late, it has to be opened again. */
  public enum TakeBack implements Command {
    INSTANCE
  }

  /** The stream that fed it is over: writes a last checkpoint and stops. */
  public enum Release implements Command {
    INSTANCE
  }

  private enum CheckpointDue implements Command {
    INSTANCE
  }

  private record Opened(Checkpoint checkpoint) implements Command {}

  private record Published(ActorRef<StatusReply<Done>> replyTo) implements Command {}

  private record CheckpointWritten(LedgerThread.Committed of) implements Command {}

  private record ImageAnswered(ImageRegistry.Found found) implements Command {}

  private record Failed(Throwable cause) implements Command {}

  private final CheckpointPace<Command> pace;
  private final CheckpointTurns checkpoints;
  private final int partition;
  private final PartitionSettings settings;
  private final PartitionPeers peers;
  private final LedgerThread ledger;
  private final DerivedRecords derived;
  private final ChunkIntake intake;
  private final WrittenVersion version;
  private final PartitionMeter meter;
  private final PartitionAnswers answers;
  private final FeedQueue feed = new FeedQueue();
  private final Waiting<AwaitOpen> awaitingOpen = new Waiting<>(this::tellOffset);
  private final Waiting<HandOver> handingOver = new Waiting<>(m -> m.replyTo().tell(Done.done()));

  private long epoch;
  private boolean releasing;
  private boolean failed;

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
    this.checkpoints = new CheckpointTurns(settings.checkpointChunks(), peers);
    this.pace = new CheckpointPace<>(timers, CheckpointDue.INSTANCE, checkpoints::waits);
    this.partition = partition;
    this.settings = settings;
    this.peers = peers;
    this.meter = peers.meter();
    this.ledger = new LedgerThread(ledger, partition);
    this.derived =
        new DerivedRecords(settings.topics(), partition, settings.spanThreshold(), peers.meter());
    this.version = new WrittenVersion(partition, peers.versions());
    this.intake = new ChunkIntake(partition, settings, peers, derived);
    this.answers =
        new PartitionAnswers(partition, settings.limits(), intake, checkpoints, version, feed);
    timers.startTimerWithFixedDelay(CheckpointDue.INSTANCE, settings.checkpointInterval());
    then(this.ledger.open(), Opened::new);
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case Opened m -> onOpened(m.checkpoint());
      case AwaitOpen m -> {
        awaitingOpen.ask(m, intake.isOpen());
        if (failed) {
          neverOpens(new IOException("it is being handed over"));
        }
        yield this;
      }
      case Ingest m -> {
        feed.add(m);
        yield drain();
      }
      case ImageAnswered m -> onImageAnswered(m.found());
      case Published m -> {
        m.replyTo().tell(StatusReply.ack());
        yield this;
      }
      case CheckpointDue _ -> {
        if (isAhead() || intake.hasMoreToTell()) {
          checkpoint();
        }
        yield this;
      }
      case CheckpointWritten m -> onCheckpointWritten(m.of());
      case Copy m -> {
        answers.on(m);
        yield this;
      }
      case Totals m -> {
        answers.on(m);
        yield this;
      }
      case Measure m -> {
        answers.on(m);
        yield this;
      }
      case HandOver m -> onHandOver(m);
      case TakeBack _ -> onTakeBack();
      case Release _ -> onRelease();
      case Failed m -> onFailed(m.cause());
    };
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop || signal instanceof PreRestart) {
      neverOpens(new IOException("it stopped before it was open"));
      ledger.close();
      checkpoints.end();
    }
    return this;
  }

  private Behavior<Command> onOpened(Checkpoint checkpoint) {
    epoch = checkpoint.epoch();
    checkpoints.opened(checkpoint.nextOffset(), checkpoint.state().length());
    try {
      intake.open(checkpoint);
    } catch (IOException e) {
      return onFailed(new UnreadableCheckpointException(checkpoint, e));
    }
    version.opened(checkpoint);
    long nextOffset = intake.nextOffset();
    getContext()
        .getLog()
        .info("partition {} opened, epoch {}, offset {}", partition, epoch, nextOffset);
    awaitingOpen.answerAll();
    answers.opened(epoch);
    return releasing ? onRelease() : drain();
  }

  private void neverOpens(Throwable why) {
    awaitingOpen.answerAll(m -> m.replyTo().tell(StatusReply.error(why)));
  }

  private void tellOffset(AwaitOpen m) {
    m.replyTo().tell(StatusReply.success(intake.nextOffset()));
  }

  /** Applies what is queued, up to a chunk that has to wait. The stream bounds the queue. */
  private Behavior<Command> drain() {
    while (intake.isOpen()) {
      Ingest next = feed.next();
      if (next == null) {
        break;
      }
      ingest(next);
    }
    return this;
  }

  private void ingest(Ingest m) {
    meter.received(m.record().serializedValueSize());
    if (m.record().offset() < intake.nextOffset()) {
      m.replyTo().tell(StatusReply.ack()); // came again after a move: it is in the state
    } else {
      taken(m, intake.take(m.record()));
    }
  }

  private void taken(Ingest m, ChunkIntake.Taken taken) {
    switch (taken) {
      case ChunkIntake.NeedsImage waits -> park(m, waits.chunk());
      case ChunkIntake.Done done -> {
        if (done.coreEnded()) {
          pace.coreEnded();
        }
        advance(m);
      }
    }
  }

  /** The record is done: hands over what it gave, and answers when that is taken. */
  private void advance(Ingest m) {
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
    feed.park(new ParkedChunk(m, chunk));
    peers
        .images()
        .tell(
            new ImageRegistry.Find(
                chunk.getImage(),
                settings.imagePatience(),
                getContext().messageAdapter(ImageRegistry.Found.class, ImageAnswered::new)));
  }

  private Behavior<Command> onImageAnswered(ImageRegistry.Found found) {
    ParkedChunk waiting = feed.unpark();
    if (waiting == null) {
      return this;
    }
    taken(waiting.ingest(), intake.take(waiting, found));
    return drain();
  }

  /** True where the last checkpoint lacks something, or is not in the version that it should be. */
  private boolean isAhead() {
    return intake.isOpen()
        && (intake.nextOffset() != checkpoints.writtenOffset() || version.isOutdated());
  }

  /** Takes a checkpoint, or another one after the one that is being written, or a little later. */
  private void checkpoint() {
    if (checkpoints.isOnItsWay()) {
      checkpoints.askAgain();
      return;
    }
    if (!feed.isHeld() && pace.tooEarly()) {
      return;
    }
    checkpoints.began();
    long offset = intake.nextOffset();
    var told = intake.tell(feed.isHeld());
    long cpu = CpuClock.nanos();
    StateBytes state = StateCopy.pieces(intake.applier().state(), version.next());
    checkpoints.made(state.length(), version.last(), CpuClock.nanos() - cpu);
    then(
        ledger.commit(told, new Checkpoint(partition, epoch, offset, state)),
        CheckpointWritten::new);
  }

  private Behavior<Command> onCheckpointWritten(LedgerThread.Committed done) {
    intake.told(done.tellingNanos());
    if (checkpoints.written(done) && (isAhead() || hasToTellAll())) {
      checkpoint();
      return this;
    }
    handingOver.answerAll();
    return releasing ? stopped() : this;
  }

  private Behavior<Command> onHandOver(HandOver m) {
    feed.hold();
    handingOver.ask(m, !writesLast());
    return this;
  }

  /** Its feed goes on where another owner may have been: only opening it again tells. */
  private Behavior<Command> onTakeBack() {
    return feed.isHeld() && !releasing
        ? onFailed(new IOException("given back while it was handed over"))
        : this;
  }

  private Behavior<Command> onRelease() {
    feed.hold();
    releasing = true;
    if (!intake.isOpen() && !failed) {
      return this; // still opening; goes on when that is done
    }
    return writesLast() ? this : stopped();
  }

  /** True while a last checkpoint is on its way. */
  private boolean writesLast() {
    if (!intake.isOpen() || failed) {
      return false;
    }
    if (checkpoints.isOnItsWay() || isAhead() || hasToTellAll()) {
      checkpoint();
      return true;
    }
    return false;
  }

  /** True where it goes, and something waits for its turn. */
  private boolean hasToTellAll() {
    return feed.isHeld() && intake.hasUntold();
  }

  private Behavior<Command> stopped() {
    feed.acknowledge();
    return Behaviors.stopped();
  }

  private Behavior<Command> onFailed(Throwable cause) {
    String why = Setback.why(cause);
    boolean last = failed || !handingOver.isEmpty();
    handingOver.answerAll();
    neverOpens(cause);
    if (last) {
      // goes to another member anyway; its feed ends in order, and the others' with it do not
      failed = true;
      log("partition {} is handed over at offset {}: {}", checkpoints.writtenOffset(), why);
      return releasing ? stopped() : this;
    }
    if (cause instanceof UnreadableCheckpointException) {
      getContext().getLog().warn(cause.getMessage());
    } else {
      log("partition {} goes back to offset {}: {}", checkpoints.writtenOffset(), why);
      meter.failed();
    }
    feed.fail(cause);
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
