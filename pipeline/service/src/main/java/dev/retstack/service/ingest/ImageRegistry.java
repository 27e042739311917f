package dev.retstack.service.ingest;

import dev.retstack.schema.Image;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractMatchingBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * Every image this member has heard of, by build-id. Who asks for one that has not come yet waits
 * for it, for a bounded time.
 */
public final class ImageRegistry extends AbstractMatchingBehavior<ImageRegistry.Command> {
  /** What the registry understands. */
  public sealed interface Command {}

  /** An image was read. */
  public record Store(Image image) implements Command {}

  /** The images topic was read up to the end it had at the start of this member. */
  public enum CaughtUp implements Command {
    INSTANCE
  }

  /** Asks for an image; the answer is empty when it does not come within {@code patience}. */
  public record Find(String buildId, Duration patience, ActorRef<Found> replyTo)
      implements Command {}

  /** Asks to be told when the registry has caught up. */
  public record AwaitCaughtUp(ActorRef<CaughtUp> replyTo) implements Command {}

  /** Answer to {@link Find}. */
  public record Found(String buildId, Optional<Image> image) {}

  private record Expired(Find request) implements Command {}

  private final TimerScheduler<Command> timers;
  private final Map<String, Image> images = new HashMap<>();
  private final Map<String, List<Find>> waiting = new HashMap<>();
  private final List<ActorRef<CaughtUp>> toTell = new ArrayList<>();
  private boolean caughtUp;

  /** An empty registry. */
  public static Behavior<Command> create() {
    return Behaviors.setup(
        context -> Behaviors.withTimers(timers -> new ImageRegistry(context, timers)));
  }

  private ImageRegistry(ActorContext<Command> context, TimerScheduler<Command> timers) {
    super(context);
    this.timers = timers;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case Store m -> onStore(m.image());
      case Find m -> onFind(m);
      case Expired m -> onExpired(m.request());
      case AwaitCaughtUp m -> onAwaitCaughtUp(m.replyTo());
      case CaughtUp _ -> onCaughtUp();
    };
  }

  private Behavior<Command> onStore(Image image) {
    images.put(image.getBuildId(), image);
    List<Find> answered = waiting.remove(image.getBuildId());
    if (answered != null) {
      for (Find find : answered) {
        timers.cancel(find);
        find.replyTo().tell(new Found(find.buildId(), Optional.of(image)));
      }
    }
    return this;
  }

  private Behavior<Command> onFind(Find find) {
    Image known = images.get(find.buildId());
    if (known != null) {
      find.replyTo().tell(new Found(find.buildId(), Optional.of(known)));
    } else {
      waiting.computeIfAbsent(find.buildId(), _ -> new ArrayList<>()).add(find);
      timers.startSingleTimer(find, new Expired(find), find.patience());
    }
    return this;
  }

  private Behavior<Command> onExpired(Find find) {
    List<Find> finds = waiting.get(find.buildId());
    if (finds != null && finds.remove(find)) {
      if (finds.isEmpty()) {
        waiting.remove(find.buildId());
      }
      find.replyTo().tell(new Found(find.buildId(), Optional.empty()));
    }
    return this;
  }

  private Behavior<Command> onAwaitCaughtUp(ActorRef<CaughtUp> replyTo) {
    if (caughtUp) {
      replyTo.tell(CaughtUp.INSTANCE);
    } else {
      toTell.add(replyTo);
    }
    return this;
  }

  private Behavior<Command> onCaughtUp() {
    caughtUp = true;
    toTell.forEach(waiter -> waiter.tell(CaughtUp.INSTANCE));
    toTell.clear();
    return this;
  }
}
