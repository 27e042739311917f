package dev.retstack.service.ingest;

import dev.retstack.service.reconstruct.Partitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractMatchingBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * Keeps the event stream running. When it fails, all partitions are given up and the group is
 * joined anew after a while, from the last checkpoints: any fault is met in this one way.
 */
public final class Ingest extends AbstractMatchingBehavior<Ingest.Command> {
  private static final Duration FIRST_BACKOFF = Duration.ofMillis(200);
  private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(20);

  /** A stream that ran this long was well; the next failure is a new one. */
  private static final long WELL_NANOS = Duration.ofMinutes(1).toNanos();

  /**
   * A member that cannot read what it was given, while others can, stays out of the group for so
   * long: time for them to take it over, and to write it so that this one can read it.
   */
  private static final Duration FIRST_STAND_BY = Duration.ofSeconds(20);

  private static final Duration LONGEST_STAND_BY = Duration.ofMinutes(5);

  private static final Duration LOOK_ROUND = Duration.ofSeconds(3);

  private static final Duration RELEASE_TIMEOUT = Duration.ofMinutes(2);

  /** What it understands. */
  public sealed interface Command {}

  /** Drains the stream, writes the last checkpoints, leaves the group; then answers and stops. */
  public record Stop(ActorRef<Done> replyTo) implements Command {}

  /** A partition was given to this member whose checkpoint it cannot go on from. */
  private record Unreadable(int version) implements Command {}

  /** Others that can be joined were; after a while it may run. */
  private record Joined(Duration first) implements Command {}

  private enum LookRound implements Command {
    INSTANCE
  }

  private enum Run implements Command {
    INSTANCE
  }

  private record Ended(Throwable failure) implements Command {}

  private record Released(Throwable failure) implements Command {}

  private final TimerScheduler<Command> timers;
  private final Supplier<EventStream.Running> stream;
  private final ActorRef<Partitions.Command> partitions;
  private final GroupMember member;
  private final List<Stop> stops = new ArrayList<>();
  private EventStream.Running running;
  private final IntPredicate othersRead;
  private Duration backoff = FIRST_BACKOFF;
  private Duration standBy = FIRST_STAND_BY;
  private int unreadable;
  private boolean leaving;
  private long startedNanos;
  private boolean hasRun;

  /**
   * Joins the group.
   *
   * @param member what the group gives this one
   * @param others whether another member that runs reads a version of state
   * @param first how long it waits before it joins
   * @param mayRun when it may: a member that cannot reach the others leaves the partitions to them
   */
  public static Behavior<Command> create(
      KafkaSettings kafka,
      String topic,
      String group,
      int partitionCount,
      ActorRef<Partitions.Command> partitions,
      GroupMember member,
      IntPredicate others,
      Duration first,
      CompletionStage<Done> mayRun) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> {
                  EventStream stream =
                      new EventStream(
                          context.getSystem(),
                          kafka,
                          topic,
                          group,
                          partitionCount,
                          partitions,
                          member,
                          EventStream.FEED_WAIT,
                          e -> context.getSelf().tell(new Unreadable(e.version())));
                  return new Ingest(
                      context, timers, stream::run, partitions, member, others, first, mayRun);
                }));
  }

  private Ingest(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      Supplier<EventStream.Running> stream,
      ActorRef<Partitions.Command> partitions,
      GroupMember member,
      IntPredicate othersRead,
      Duration first,
      CompletionStage<Done> mayRun) {
    super(context);
    this.othersRead = othersRead;
    context.setLoggerName(Ingest.class);
    this.timers = timers;
    this.stream = stream;
    this.partitions = partitions;
    this.member = member;
    context.pipeToSelf(mayRun, (_, _) -> new Joined(first));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case Joined m -> onJoined(m.first());
      case Run _ -> run();
      case Unreadable m -> {
        unreadable = m.version();
        yield onLookRound();
      }
      case LookRound _ -> onLookRound();
      case Ended m -> onEnded(m.failure());
      case Released m -> onReleased(m.failure());
      case Stop m -> onStop(m);
    };
  }

  private Behavior<Command> onJoined(Duration first) {
    if (first.isZero()) {
      return run();
    }
    timers.startSingleTimer(Run.INSTANCE, Run.INSTANCE, first);
    return this;
  }

  private Behavior<Command> run() {
    if (!stops.isEmpty()) {
      return this;
    }
    hasRun = true;
    startedNanos = System.nanoTime();
    unreadable = 0;
    leaving = false;
    running = stream.get();
    getContext().pipeToSelf(running.completion(), (_, failure) -> new Ended(failure));
    return this;
  }

  /** Leaves the group where others can go on with what this member cannot. */
  private Behavior<Command> onLookRound() {
    if (running == null || unreadable == 0 || leaving || !stops.isEmpty()) {
      return this;
    }
    if (othersRead.test(unreadable)) {
      leaving = true;
      getContext()
          .getLog()
          .warn(
              "this member leaves the group for {} s: others read state version {}, it does not",
              standBy.toSeconds(),
              unreadable);
      running.drain(getContext().getExecutionContext());
    } else {
      timers.startSingleTimer(LookRound.INSTANCE, LookRound.INSTANCE, LOOK_ROUND);
    }
    return this;
  }

  private Behavior<Command> onStop(Stop m) {
    stops.add(m);
    if (running != null && leaving) {
      return this; // drained already
    }
    if (running != null && stops.size() == 1) {
      running.drain(getContext().getExecutionContext());
    } else if (running == null && (!hasRun || timers.isTimerActive(Run.INSTANCE))) {
      timers.cancel(Run.INSTANCE);
      releaseAll();
    }
    return this; // Ended follows, in order or as a failure
  }

  private Behavior<Command> onEnded(Throwable failure) {
    running = null;
    member.left();
    if (failure != null && stops.isEmpty()) {
      getContext()
          .getLog()
          .warn(
              "this member joins its group again, with all its partitions from their last checkpoints:"
                  + " {}",
              Reason.of(failure));
    }
    releaseAll();
    return this;
  }

  private void releaseAll() {
    getContext()
        .pipeToSelf(
            AskPattern.<Partitions.Command, Done>ask(
                partitions,
                Partitions.ReleaseAll::new,
                RELEASE_TIMEOUT,
                getContext().getSystem().scheduler()),
            (_, failure) -> new Released(failure));
  }

  private Behavior<Command> onReleased(Throwable failure) {
    if (failure != null) {
      getContext().getLog().warn("partitions are not given up yet: {}", Reason.of(failure));
    }
    if (!stops.isEmpty()) {
      stops.forEach(m -> m.replyTo().tell(Done.done()));
      return Behaviors.stopped();
    }
    if (leaving) {
      timers.startSingleTimer(Run.INSTANCE, Run.INSTANCE, standBy);
      standBy = longest(standBy.multipliedBy(2), LONGEST_STAND_BY);
      return this;
    }
    boolean wasWell = System.nanoTime() - startedNanos > WELL_NANOS;
    backoff = wasWell ? FIRST_BACKOFF : backoff;
    timers.startSingleTimer(Run.INSTANCE, Run.INSTANCE, backoff);
    backoff = longest(backoff.multipliedBy(2), LONGEST_BACKOFF);
    return this;
  }

  private static Duration longest(Duration wanted, Duration most) {
    return wanted.compareTo(most) > 0 ? most : wanted;
  }
}
