package dev.retstack.service.reconstruct;

import dev.retstack.graph.aggregate.BrokenCoreException;
import dev.retstack.service.aggregate.DerivedRecords;
import dev.retstack.service.ingest.ImageRegistry;
import dev.retstack.service.ingest.OtherVersionException;
import dev.retstack.service.metrics.PartitionMeter;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.CommitFailedException;
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
 *
 * <p>A chunk that makes reconstruction fail costs its core and nobody else: the partition gives up
 * what it has not committed, opens its last checkpoint again, reads from events what it had taken
 * since, without that chunk, and goes on with its feed, which has not noticed.
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

  /** The group gave the partition to another member: nothing is written any more. */
  public enum Lost implements Command {
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

  /** Nobody waits for it where the record had been taken before. */
  private record Published(Optional<Ingest> of) implements Command {}

  /** Why records are read again. */
  private enum Again {
    /** The state went back to before them. */
    BEFORE_FEED,
    /** Their wait for an image is over. */
    WAITED,
    /** They were held and left out: their dead letters are owed. */
    LEFT_OUT
  }

  /**
   * Records were read again.
   *
   * @param opening for which state, by the number of its opening
   * @param asked their offsets
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
  private record ReadAgain(int opening, Again why, long[] asked, Ledger.Found found)
      implements Command {}

  private record CheckpointWritten(LedgerThread.Committed of) implements Command {}

  private record ImageAnswered(ImageRegistry.Found found) implements Command {}

  private record Failed(Throwable cause) implements Command {}

  /** Longest wait for the checkpoint that holds the end of a core: readers wait for its calls. */
  private static final Duration CORE_ENDED = Duration.ofMillis(100);

  /** Records that are read again at a time. */
  private static final int READ_AGAIN = 256;

  private final TimerScheduler<Command> timers;
  private final CheckpointTurns checkpoints;
  private final int partition;
  private final LedgerThread ledger;
  private final DerivedRecords derived;
  private final ChunkIntake intake;
  private final PartitionMeter meter;
  private final PartitionAnswers answers;
  private final FeedQueue feed = new FeedQueue();
  private final Waiting<AwaitOpen> awaitingOpen = new Waiting<>(this::tellOffset);
  private final Waiting<HandOver> handingOver = new Waiting<>(m -> m.replyTo().tell(Done.done()));

  private long epoch;

  /** What lies below is not fed any more: it is read again. */
  private long readAgainTo;

  private int opening;
  private boolean reading;
  private boolean checkpointSoon;
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
    this.timers = timers;
    this.partition = partition;
    this.meter = peers.meter();
    this.ledger = new LedgerThread(ledger, partition);
    this.derived =
        new DerivedRecords(settings.topics(), partition, settings.spanThreshold(), peers.meter());
    this.intake =
        new ChunkIntake(
            partition,
            settings,
            peers,
            derived,
            context.messageAdapter(ImageRegistry.Found.class, ImageAnswered::new));
    this.answers = new PartitionAnswers(partition, settings.limits(), intake, checkpoints, feed);
    timers.startTimerWithFixedDelay(CheckpointDue.INSTANCE, settings.checkpointInterval());
    then(this.ledger.open(), Opened::new);
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    try {
      return on(command);
    } catch (BrokenCoreException e) {
      switch (command) {
        case Copy _, Totals _, HandOver _, Release _ -> getContext().getSelf().tell(command);
        default -> {} // what it was for is done again
      }
      return onBroken(e);
    }
  }

  private Behavior<Command> on(Command command) {
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
      case ReadAgain m -> onReadAgain(m);
      case Published m -> {
        m.of().ifPresent(record -> record.replyTo().tell(StatusReply.ack()));
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
      case Lost _ -> onLost();
      case Release _ -> onRelease();
      case Failed m -> onFailed(m.cause());
    };
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop || signal instanceof PreRestart) {
      neverOpens(new IOException("it stopped before it was open"));
      ledger.close();
      intake.close();
    }
    return this;
  }

  private Behavior<Command> onOpened(Checkpoint checkpoint) {
    epoch = checkpoint.epoch();
    checkpoints.opened(checkpoint.nextOffset());
    try {
      intake.open(checkpoint);
    } catch (IOException e) {
      return onFailed(new UnreadableCheckpointException(checkpoint, e));
    }
    long nextOffset = intake.nextOffset();
    getContext()
        .getLog()
        .info("partition {} opened, epoch {}, offset {}", partition, epoch, nextOffset);
    awaitingOpen.answerAll();
    answers.opened(epoch);
    opening++;
    reading = false;
    return releasing ? onRelease() : drain();
  }

  /** The state is of no use: it is opened again, and the chunk left out. */
  private Behavior<Command> onBroken(BrokenCoreException why) {
    readAgainTo = Math.max(readAgainTo, intake.nextOffset());
    if (!intake.broke(why)) {
      return onFailed(why); // though it was left out
    }
    checkpointSoon = true;
    log(
        "partition {} goes back to offset {} by itself, and leaves out core {}",
        checkpoints.writtenOffset(),
        why.key().core());
    return goBack();
  }

  /** It was refused as a member of before a move in the group; it may be its owner all the same. */
  private Behavior<Command> onRefused(CommitFailedException why) {
    readAgainTo = Math.max(readAgainTo, intake.nextOffset());
    intake.giveUp();
    checkpoints.gaveUp();
    log(
        "partition {} goes back to offset {} by itself: {}",
        checkpoints.writtenOffset(),
        why.getMessage());
    return goBack();
  }

  private Behavior<Command> goBack() {
    meter.failed();
    then(ledger.goBack(), Opened::new);
    return this;
  }

  private void neverOpens(Throwable why) {
    awaitingOpen.answerAll(m -> m.replyTo().tell(StatusReply.error(why)));
  }

  private void tellOffset(AwaitOpen m) {
    m.replyTo().tell(StatusReply.success(intake.nextOffset()));
  }

  /** Takes what is there to be taken: first what is read again. The stream bounds the queue. */
  private Behavior<Command> drain() {
    while (intake.isOpen() && !reading && !feed.isHeld()) {
      if (intake.owesLetters()) {
        readAgain(Again.LEFT_OUT, intake.owedLetters());
        return this;
      }
      if (intake.nextOffset() < readAgainTo) {
        long end = Math.min(readAgainTo, intake.nextOffset() + READ_AGAIN);
        readAgain(Again.BEFORE_FEED, LongStream.range(intake.nextOffset(), end).toArray());
        return this;
      }
      long[] over = intake.waits().next();
      if (over.length > 0) {
        takeWaiting(over);
        continue;
      }
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
      return;
    }
    boolean coreEnded;
    try {
      coreEnded = intake.take(m.record());
    } catch (BrokenCoreException e) {
      feed.putBack(m);
      throw e;
    }
    advance(coreEnded, Optional.of(m));
  }

  /**
   * A record is done: hands over what it gave, and answers when that is taken.
   *
   * @param m none where it was read again
   */
  private void advance(boolean coreEnded, Optional<Ingest> m) {
    if (coreEnded && !timers.isTimerActive(CORE_ENDED)) {
      timers.startSingleTimer(CORE_ENDED, CheckpointDue.INSTANCE, CORE_ENDED);
    }
    List<ProducerRecord<byte[], byte[]>> records = derived.take();
    if (records.isEmpty()) {
      m.ifPresent(record -> record.replyTo().tell(StatusReply.ack()));
    } else {
      then(ledger.publish(records), _ -> new Published(m));
    }
    if (checkpoints.applied() || (checkpointSoon && intake.nextOffset() > readAgainTo)) {
      checkpoint();
    }
  }

  private void takeWaiting(long[] offsets) {
    List<ConsumerRecord<byte[], byte[]>> kept = intake.waits().kept(offsets);
    if (kept == null) {
      readAgain(Again.WAITED, offsets);
    } else {
      takeWaiting(kept);
    }
  }

  private void takeWaiting(List<ConsumerRecord<byte[], byte[]>> records) {
    for (ConsumerRecord<byte[], byte[]> record : records) {
      advance(intake.takeWaiting(record), Optional.empty());
    }
  }

  private void readAgain(Again why, long[] offsets) {
    int of = opening;
    reading = true;
    then(ledger.read(offsets), found -> new ReadAgain(of, why, offsets, found));
  }

  private Behavior<Command> onReadAgain(ReadAgain m) {
    if (m.opening() != opening || feed.isHeld()) {
      return this; // the state that it was for is gone, or goes
    }
    reading = false;
    switch (m.why()) {
      case WAITED -> {
        takeWaiting(m.found().records());
        intake.dropMissing(m.asked(), m.found().end());
      }
      case BEFORE_FEED -> {
        for (ConsumerRecord<byte[], byte[]> record : m.found().records()) {
          advance(intake.take(record), Optional.empty());
        }
        intake.reach(m.found().end());
      }
      case LEFT_OUT -> {
        intake.writeLetters(m.asked(), m.found());
        advance(false, Optional.empty());
      }
    }
    return drain();
  }

  private Behavior<Command> onImageAnswered(ImageRegistry.Found found) {
    if (intake.isOpen()) { // it is asked for again otherwise
      intake.imageAnswered(found);
    }
    return drain();
  }

  /** True where the last checkpoint lacks something. */
  private boolean isAhead() {
    return intake.isOpen()
        && (intake.nextOffset() != checkpoints.writtenOffset() || intake.hasTakenWaiting());
  }

  /** Takes a checkpoint, or another one after the one that is being written, or a little later. */
  private void checkpoint() {
    if (failed) {
      return;
    }
    if (intake.owesLetters()) { // they go out with the state that lacks their chunks
      checkpointSoon = true;
      return;
    }
    if (checkpoints.isOnItsWay()) {
      checkpoints.askAgain();
      return;
    }
    checkpoints.began();
    long offset = intake.nextOffset();
    Supplier<List<ProducerRecord<byte[], byte[]>>> told;
    long cpu;
    Checkpoint changed;
    try {
      told = intake.tell(feed.isHeld());
      cpu = CpuClock.nanos();
      changed = new Checkpoint(partition, epoch, offset, intake.changes());
    } catch (BrokenCoreException e) {
      checkpoints.gaveUp();
      throw e;
    }
    checkpointSoon = false;
    checkpoints.made(changed.bytes(), CpuClock.nanos() - cpu);
    then(ledger.commit(told, changed), CheckpointWritten::new);
  }

  private Behavior<Command> onCheckpointWritten(LedgerThread.Committed done) {
    intake.told(done.tellingNanos());
    intake.written();
    boolean again = checkpoints.written(done) && !intake.owesLetters();
    if (again && (isAhead() || hasToTellAll())) {
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
    if (!feed.isHeld() || releasing) {
      return this;
    }
    handingOver.answerAll();
    failed = false; // whether it was written or not, its feed has to end
    return onFailed(new IOException("given back while it was handed over"));
  }

  /** Another owner may be there: what was not committed is that one's work. */
  private Behavior<Command> onLost() {
    feed.hold();
    failed = true;
    handingOver.answerAll();
    neverOpens(new IOException("the group took it away"));
    return this;
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
    if (!intake.isOpen() || failed || intake.owesLetters()) {
      return false; // where letters are owed, the next owner goes back by itself
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
    if (cause instanceof CommitFailedException why && intake.isOpen() && !feed.isHeld()) {
      return onRefused(why);
    }
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
    if (cause instanceof UnreadableCheckpointException || cause instanceof OtherVersionException) {
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
