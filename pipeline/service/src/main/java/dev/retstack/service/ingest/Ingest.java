package dev.retstack.service.ingest;

import dev.retstack.service.reconstruct.Partitions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
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
 * joined anew after a while, from the last checkpoints: any fault is met in this one way, but for
 * state of another version, which no repetition makes readable.
 */
public final class Ingest extends AbstractMatchingBehavior<Ingest.Command> {
  private static final Duration FIRST_BACKOFF = Duration.ofMillis(200);
  private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(20);

  /** A stream that ran this long was well; the next failure is a new one. */
  private static final long WELL_NANOS = Duration.ofMinutes(1).toNanos();

  private static final Duration RELEASE_TIMEOUT = Duration.ofMinutes(2);

  /** What it understands. */
  public sealed interface Command {}

  /** Drains the stream, writes the last checkpoints, leaves the group; then answers and stops. */
  public record Stop(ActorRef<Done> replyTo) implements Command {}

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
  private final Consumer<OtherVersionException> onRefusal;
  private Duration backoff = FIRST_BACKOFF;
  private long startedNanos;

  /** A stream runs, or partitions are given up after one. */
  private boolean busy;

  private OtherVersionException refusal;

  /**
   * Joins the group.
   *
   * @param member what the group gives this one
   * @param onRefusal hears of state that only another release reads: then this member gave up its
   *     partitions, and does not join again
   */
  public static Behavior<Command> create(
      KafkaSettings kafka,
      String topic,
      String group,
      ActorRef<Partitions.Command> partitions,
      GroupMember member,
      Consumer<OtherVersionException> onRefusal) {
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
                          partitions,
                          member,
                          EventStream.FEED_WAIT);
                  return new Ingest(context, timers, stream::run, partitions, member, onRefusal);
                }));
  }

  private Ingest(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      Supplier<EventStream.Running> stream,
      ActorRef<Partitions.Command> partitions,
      GroupMember member,
      Consumer<OtherVersionException> onRefusal) {
    super(context);
    this.onRefusal = onRefusal;
    context.setLoggerName(Ingest.class);
    this.timers = timers;
    this.stream = stream;
    this.partitions = partitions;
    this.member = member;
    context.getSelf().tell(Run.INSTANCE);
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case Run _ -> run();
      case Ended m -> onEnded(m.failure());
      case Released m -> onReleased(m.failure());
      case Stop m -> onStop(m);
    };
  }

  private Behavior<Command> run() {
    if (!stops.isEmpty()) {
      return this;
    }
    busy = true;
    startedNanos = System.nanoTime();
    running = stream.get();
    getContext().pipeToSelf(running.completion(), (_, failure) -> new Ended(failure));
    return this;
  }

  private Behavior<Command> onStop(Stop m) {
    stops.add(m);
    if (running != null && stops.size() == 1) {
      running.drain(getContext().getExecutionContext());
    } else if (!busy) {
      timers.cancel(Run.INSTANCE);
      releaseAll();
    }
    return this; // Ended follows, in order or as a failure
  }

  private Behavior<Command> onEnded(Throwable failure) {
    running = null;
    member.left();
    refusal = refusal(failure);
    if (failure != null && refusal == null && stops.isEmpty()) {
      getContext()
          .getLog()
          .warn(
              "this member joins its group again, with all its partitions from their last"
                  + " checkpoints: {}",
              Reason.of(failure));
    }
    releaseAll();
    return this;
  }

  private static OtherVersionException refusal(Throwable failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof OtherVersionException)) {
      cause = cause.getCause();
    }
    return (OtherVersionException) cause;
  }

  private void releaseAll() {
    busy = true;
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
    busy = false;
    if (failure != null) {
      getContext().getLog().warn("partitions are not given up yet: {}", Reason.of(failure));
    }
    if (!stops.isEmpty()) {
      stops.forEach(m -> m.replyTo().tell(Done.done()));
      return Behaviors.stopped();
    }
    if (refusal != null) {
      onRefusal.accept(refusal);
      return this;
    }
    boolean wasWell = System.nanoTime() - startedNanos > WELL_NANOS;
    backoff = wasWell ? FIRST_BACKOFF : backoff;
    timers.startSingleTimer(Run.INSTANCE, Run.INSTANCE, backoff);
    Duration twice = backoff.multipliedBy(2);
    backoff = twice.compareTo(LONGEST_BACKOFF) > 0 ? LONGEST_BACKOFF : twice;
    return this;
  }
}
