package dev.retstack.service.partition;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.calls.BrokenCoreException;
import dev.retstack.service.checkpoint.Checkpoint;
import dev.retstack.service.checkpoint.Ledger;
import dev.retstack.service.checkpoint.Setback;
import dev.retstack.service.checkpoint.UnreadableCheckpointException;
import dev.retstack.service.images.ImageRegistry;
import dev.retstack.service.kafka.OtherVersionException;
import dev.retstack.service.metrics.PartitionMeter;
import dev.retstack.service.progress.CoreWatch;
import dev.retstack.service.publish.DerivedRecords;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
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
 * shell around {@link ChunkApplier}: one message per chunk, and no decision about records.
 *
 * <p>It opens its ledger first, which fences the former owner and gives the last checkpoint. Only
 * then is the offset known at which its feed starts. A failure of the ledger is final: the actor
 * reports to its feed and stops, and the partition is opened again from the last checkpoint.
 *
 * <p>A chunk that makes reconstruction fail costs only its core. The partition drops what it has
 * not committed, opens its last checkpoint again, and reads from events what it had taken since,
 * without that chunk. Then it continues with its feed, which has not noticed.
 */
public final class PartitionGraph extends AbstractMatchingBehavior<PartitionGraph.Command> {
  /** What a partition understands. */
  public sealed interface Command {}

  /** Asks for the offset of the first record that is wanted, once the state is loaded. */
  public record AwaitOpen(ActorRef<StatusReply<Long>> replyTo) implements Command {}

  /**
   * Records of events, in order. The feed hears of each when it is applied and what it gave is
   * handed over, and bounds how many are on their way.
   */
  public record Records(List<ConsumerRecord<byte[], byte[]>> records) implements Command {}

  /** Asks for a copy of the state, which the asker may read on any thread. */
  public record Copy(ActorRef<StateCopy> replyTo) implements Command {}

  /** Asks what the state adds up to; answered at once, with nothing until it is loaded. */
  public record Totals(ActorRef<Optional<PartitionTotals>> replyTo) implements Command {}

  /**
   * Asks where the chunks of cores stand in the log; answered at once, with nothing until the state
   * is loaded.
   *
   * @param core their name; empty for any
   * @param session theirs; empty for any
   * @param most cores of the answer
   * @param tiles whether their pyramids are wanted, too
   */
  public record Places(
      String core,
      String session,
      int most,
      boolean tiles,
      ActorRef<Optional<PartitionPlaces>> replyTo)
      implements Command {}

  /** The log has nothing below this offset any more. */
  private record LogBegins(OptionalLong offset) implements Command {}

  private enum LogStartDue implements Command {
    INSTANCE
  }

  /** Asks where it stands, in numbers; answered at any time. */
  public record Measure(ActorRef<PartitionMeasure> replyTo) implements Command {}

  /**
   * Asks whether its state is loaded; answered at any time.
   *
   * @param bytes whether its size is asked for too, which adds up all cores
   */
  public record Weigh(boolean bytes, ActorRef<Weight> replyTo) implements Command {}

  /**
   * Whether the state is loaded.
   *
   * @param stateBytes of memory that it takes: a copy takes no more. 0 where nobody asked
   */
  public record Weight(boolean open, long stateBytes) {}

  /** The group gave the partition to another member: stops, and writes nothing any more. */
  public enum Lost implements Command {
    INSTANCE
  }

  /** The partition goes to another member: applies no more, writes a last checkpoint and stops. */
  public enum Release implements Command {
    INSTANCE
  }

  private enum CheckpointDue implements Command {
    INSTANCE
  }

  private record Opened(Checkpoint checkpoint) implements Command {}

  /** What a record gave is handed over. */
  private record Published(boolean fed) implements Command {}

  /** Why records are read again. */
  private enum Again {
    /** The state went back to before them. */
    BEFORE_FEED,
    /** Their wait for an image is over. */
    WAITED
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

  private enum GoOn implements Command {
    INSTANCE
  }

  private record ImageAnswered(ImageRegistry.Found found) implements Command {}

  private record Failed(Throwable cause) implements Command {}

  /** Longest wait for the checkpoint that holds the end of a core: readers wait for its calls. */
  private static final Duration CORE_ENDED = Duration.ofMillis(100);

  /** Between two questions where the log begins: places before that go when room is short. */
  private static final Duration LOG_START = Duration.ofMinutes(1);

  /** Records that are read again at a time. */
  private static final int READ_AGAIN = 256;

  private final TimerScheduler<Command> timers;
  private final CheckpointTurns checkpoints;
  private final int partition;
  private final LedgerThread ledger;
  private final DerivedRecords derived;
  private final ChunkIntake intake;
  private final PartitionPeers peers;
  private final PartitionMeter meter;
  private final PartitionAnswers answers;
  private final Feed feed;

  /** Records that came and are not taken yet. */
  private final Deque<ConsumerRecord<byte[], byte[]>> queue = new ArrayDeque<>();

  private final Waiting<AwaitOpen> awaitingOpen = new Waiting<>(this::tellOffset);

  private long epoch;

  /** Records that the feed gave, and that are not taken. */
  private int onHand;

  /** Records that were taken and not yet reported to the feed. */
  private int untold;

  /** A {@link GoOn} is on its way. */
  private boolean goesOn;

  /** What lies below is not fed any more: it is read again. */
  private long readAgainTo;

  private int opening;
  private boolean reading;
  private boolean checkpointSoon;
  private boolean releasing;

  /** A partition that opens itself at once. */
  public static Behavior<Command> create(
      int partition,
      PartitionSettings settings,
      Supplier<Ledger> ledger,
      PartitionPeers peers,
      Feed feed) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers ->
                    new PartitionGraph(
                        context, timers, partition, settings, ledger.get(), peers, feed)));
  }

  private PartitionGraph(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      int partition,
      PartitionSettings settings,
      Ledger ledger,
      PartitionPeers peers,
      Feed feed) {
    super(context);
    context.setLoggerName(PartitionGraph.class);
    this.checkpoints = new CheckpointTurns(settings.checkpointChunks(), peers);
    this.timers = timers;
    this.feed = feed;
    this.partition = partition;
    this.peers = peers;
    this.meter = peers.meter();
    this.ledger = new LedgerThread(ledger, partition);
    this.derived =
        new DerivedRecords(settings.topics(), partition, settings.spanThreshold(), peers.meter());
    this.intake =
        new ChunkIntake(
            partition, settings, peers.budget(), peers.meter(), derived, listener(settings));
    this.answers = new PartitionAnswers(partition, settings.limits(), intake, checkpoints, queue);
    timers.startTimerWithFixedDelay(CheckpointDue.INSTANCE, settings.checkpointInterval());
    timers.startTimerWithFixedDelay(LogStartDue.INSTANCE, Duration.ZERO, LOG_START);
    then(this.ledger.open(), Opened::new);
  }

  private ChunkIntake.Listener listener(PartitionSettings settings) {
    var found = getContext().messageAdapter(ImageRegistry.Found.class, ImageAnswered::new);
    return new ChunkIntake.Listener() {
      @Override
      public void advanced(CoreProgress core) {
        peers.watch().tell(new CoreWatch.Advanced(core));
      }

      @Override
      public void reached(long nextOffset) {
        peers.watch().tell(new CoreWatch.Reached(partition, nextOffset));
      }

      @Override
      public void forgotten(Set<String> sessions) {
        peers.watch().tell(new CoreWatch.Forgotten(partition, sessions));
      }

      @Override
      public void find(String buildId) {
        peers.images().tell(new ImageRegistry.Find(buildId, settings.imagePatience(), found));
      }

      @Override
      public void giveUp(String buildId) {
        peers.images().tell(new ImageRegistry.GiveUp(buildId, found));
      }
    };
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    try {
      return on(command);
    } catch (BrokenCoreException e) {
      switch (command) {
        case Copy _, Totals _, Places _, Release _ -> getContext().getSelf().tell(command);
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
        yield this;
      }
      case Records m -> {
        queue.addAll(m.records());
        onHand += m.records().size();
        yield drain();
      }
      case GoOn _ -> {
        goesOn = false;
        yield drain();
      }
      case ImageAnswered m -> onImageAnswered(m.found());
      case ReadAgain m -> onReadAgain(m);
      case Published m -> {
        countTaken(m.fed());
        yield this;
      }
      case CheckpointDue _ -> {
        intake.makeRoom(); // others may need it where nothing comes here
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
      case Places m -> {
        answers.on(m);
        yield this;
      }
      case LogStartDue _ -> {
        then(peers.logStart().get().exceptionally(_ -> OptionalLong.empty()), LogBegins::new);
        yield this;
      }
      case LogBegins m -> {
        m.offset().ifPresent(intake.places()::begins);
        yield this;
      }
      case Measure m -> {
        answers.on(m);
        yield this;
      }
      case Weigh m -> {
        answers.on(m);
        yield this;
      }
      case Lost _ -> Behaviors.stopped(); // what was not committed is the next owner's work
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
      var unreadable = new UnreadableCheckpointException(checkpoint, e);
      if (e instanceof StateCopy.OtherRulesException) {
        return onFailed(unreadable);
      }
      then(
          ledger.repair(),
          anew -> anew.<Command>map(Opened::new).orElseGet(() -> new Failed(unreadable)));
      return this;
    }
    long nextOffset = intake.nextOffset();
    getContext()
        .getLog()
        .info("partition {} opened, epoch {}, offset {}", partition, epoch, nextOffset);
    awaitingOpen.answerAll();
    answers.opened(epoch);
    reading = false;
    if (releasing) {
      return onRelease();
    }
    if (opening++ == 0) { // going back by itself is not the feed's business
      feed.tell(new Feed.Opened(nextOffset));
    }
    return drain();
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

  /** Takes what is there to be taken, a little at a time: other messages come in between. */
  private Behavior<Command> drain() {
    if (!goesOn && intake.isOpen() && !reading && !releasing && takesSome()) {
      goesOn = true;
      getContext().getSelf().tell(GoOn.INSTANCE);
    }
    return this;
  }

  /** First what is read again; false where there is nothing to take now. */
  private boolean takesSome() {
    if (intake.nextOffset() < readAgainTo) {
      long end = Math.min(readAgainTo, intake.nextOffset() + READ_AGAIN);
      readAgain(Again.BEFORE_FEED, LongStream.range(intake.nextOffset(), end).toArray());
      return false;
    }
    long[] over = intake.waits().next();
    if (over.length > 0) {
      takeWaiting(over);
      return true;
    }
    ConsumerRecord<byte[], byte[]> next = queue.poll();
    if (next != null) {
      take(next);
    }
    return next != null;
  }

  private void take(ConsumerRecord<byte[], byte[]> record) {
    meter.received(record.serializedValueSize());
    if (record.offset() < intake.nextOffset()) {
      countTaken(true); // it was read again, and is in the state
      return;
    }
    boolean coreEnded;
    try {
      coreEnded = intake.take(record);
    } catch (BrokenCoreException e) {
      queue.addFirst(record);
      throw e;
    }
    advance(coreEnded, true);
  }

  private void countTaken(boolean fed) {
    if (!fed) {
      return;
    }
    onHand--;
    untold++;
    if (onHand == Feed.FEW || onHand == 0) {
      feed.tell(new Feed.Taken(untold));
      untold = 0;
    }
  }

  /**
   * A record is done: hands over what it gave.
   *
   * @param fed false where it was read again: the feed knows nothing of that
   */
  private void advance(boolean coreEnded, boolean fed) {
    if (coreEnded && !timers.isTimerActive(CORE_ENDED)) {
      timers.startSingleTimer(CORE_ENDED, CheckpointDue.INSTANCE, CORE_ENDED);
    }
    List<ProducerRecord<byte[], byte[]>> records = derived.take();
    if (records.isEmpty()) {
      countTaken(fed);
    } else {
      then(ledger.publish(records), _ -> new Published(fed));
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
      advance(intake.takeWaiting(record), false);
    }
  }

  private void readAgain(Again why, long[] offsets) {
    int of = opening;
    reading = true;
    then(ledger.read(offsets), found -> new ReadAgain(of, why, offsets, found));
  }

  private Behavior<Command> onReadAgain(ReadAgain m) {
    if (m.opening() != opening || releasing) {
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
          advance(intake.take(record), false);
        }
        intake.reach(m.found().end());
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
      told = intake.tell(releasing);
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
    intake.written();
    boolean again = checkpoints.written(done);
    if (again && (isAhead() || hasToTellAll())) {
      checkpoint();
      return this;
    }
    return releasing ? Behaviors.stopped() : this;
  }

  private Behavior<Command> onRelease() {
    releasing = true;
    if (!intake.isOpen()) {
      return this; // still opening; continues when that is done
    }
    return writesLast() ? this : Behaviors.stopped();
  }

  /** True while a last checkpoint is on its way. */
  private boolean writesLast() {
    if (checkpoints.isOnItsWay() || isAhead() || hasToTellAll()) {
      checkpoint();
      return true;
    }
    return false;
  }

  /** True where it goes, and something waits for its turn. */
  private boolean hasToTellAll() {
    return releasing && intake.hasUntold();
  }

  private Behavior<Command> onFailed(Throwable cause) {
    if (cause instanceof CommitFailedException why && intake.isOpen() && !releasing) {
      return onRefused(why);
    }
    String why = Setback.why(cause);
    neverOpens(cause);
    if (cause instanceof CommitFailedException && !intake.isOpen()) {
      getContext().getLog().debug("partition {} is not opened: {}", partition, why);
      feed.tell(new Feed.Failed(cause));
      return Behaviors.stopped();
    }
    if (releasing) {
      log("partition {} is handed over at offset {}: {}", checkpoints.writtenOffset(), why);
      return Behaviors.stopped();
    }
    if (cause instanceof UnreadableCheckpointException || cause instanceof OtherVersionException) {
      getContext().getLog().warn(cause.getMessage());
    } else {
      log("partition {} goes back to offset {}: {}", checkpoints.writtenOffset(), why);
      meter.failed();
    }
    feed.tell(new Feed.Failed(cause));
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
