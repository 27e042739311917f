package dev.retstack.service.ingest;

import dev.retstack.schema.Image;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.metrics.ImageMeter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractMatchingBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;

/**
 * Every image this member has heard of, by build-id. Those used last are in memory, the others are
 * read again from where they stand in the topic. Who asks for one that has not come yet waits for
 * it, for a bounded time. What is where, {@link ImageTable} decides.
 */
public final class ImageRegistry extends AbstractMatchingBehavior<ImageRegistry.Command> {
  /** What the registry understands. */
  public sealed interface Command {}

  /** An image was read. */
  public record Store(ImageRecord image) implements Command {}

  /** The images topic was read up to the end it had at the start of this member. */
  public enum CaughtUp implements Command {
    INSTANCE
  }

  /**
   * Asks for an image. The answer is empty when it does not come within {@code patience}; one that
   * came and went from memory is waited for until Kafka says whether it is still there.
   */
  public record Find(String buildId, Duration patience, ActorRef<Found> replyTo)
      implements Command {}

  /** Asks to be told when the registry has caught up. */
  public record AwaitCaughtUp(ActorRef<CaughtUp> replyTo) implements Command {}

  /**
   * Answer to {@link Find}.
   *
   * @param goneFrom where it stood, if it came once and is in the topic no longer
   */
  public record Found(String buildId, Optional<Image> image, Optional<ImagePlace> goneFrom) {}

  private record Expired(Find request) implements Command {}

  private record ReadAgain(String buildId, ImagePlace place, Optional<ImageRecord> image)
      implements Command {}

  private final TimerScheduler<Command> timers;
  private final ImageTable images;
  private final ImageSource source;
  private final ImageMeter meter;
  private final Map<String, List<Find>> waiting = new HashMap<>();
  private final Set<String> beingRead = new HashSet<>();
  private final List<ActorRef<CaughtUp>> toTell = new ArrayList<>();
  private boolean caughtUp;

  /**
   * An empty registry.
   *
   * @param bytesMax of the topic's messages that it holds in memory
   * @param source gives what went from memory
   */
  public static Behavior<Command> create(long bytesMax, ImageSource source, ImageMeter meter) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new ImageRegistry(context, timers, bytesMax, source, meter)));
  }

  private ImageRegistry(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      long bytesMax,
      ImageSource source,
      ImageMeter meter) {
    super(context);
    this.timers = timers;
    this.images = new ImageTable(bytesMax);
    this.source = source;
    this.meter = meter;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case Store m -> onStore(m.image());
      case Find m -> onFind(m);
      case ReadAgain m -> onReadAgain(m);
      case Expired m -> onExpired(m.request());
      case AwaitCaughtUp m -> onAwaitCaughtUp(m.replyTo());
      case CaughtUp _ -> onCaughtUp();
    };
  }

  private Behavior<Command> onStore(ImageRecord record) {
    Image image = record.image();
    images.came(image.getBuildId(), record.place(), record.message());
    answer(image);
    return measured();
  }

  private Behavior<Command> onFind(Find find) {
    waiting.computeIfAbsent(find.buildId(), _ -> new ArrayList<>()).add(find);
    serve(find.buildId());
    return this;
  }

  /** Answers those who wait for this image, or does what it takes that they can be. */
  private void serve(String buildId) {
    switch (images.find(buildId)) {
      case ImageTable.Held held -> answer(decoded(held.message()));
      case ImageTable.InTopic(ImagePlace place) -> {
        if (beingRead.add(buildId)) {
          ActorRef<Command> self = getContext().getSelf();
          source.read(place, found -> self.tell(new ReadAgain(buildId, place, found)));
        }
      }
      case ImageTable.Gone _, ImageTable.Unknown _ -> {
        for (Find find : waiting.getOrDefault(buildId, List.of())) {
          if (!timers.isTimerActive(find)) {
            timers.startSingleTimer(find, new Expired(find), find.patience());
          }
        }
      }
    }
  }

  private Behavior<Command> onReadAgain(ReadAgain m) {
    beingRead.remove(m.buildId());
    Optional<ImageRecord> found =
        m.image().filter(record -> record.image().getBuildId().equals(m.buildId()));
    if (found.isPresent()) {
      meter.readAgain();
      images.readAgain(m.buildId(), m.place(), found.get().message());
      answer(found.get().image());
    } else {
      images.missing(m.buildId(), m.place());
      if (waiting.containsKey(m.buildId())) {
        serve(m.buildId()); // it may have come anew elsewhere
      }
    }
    return measured();
  }

  private void answer(Image image) {
    List<Find> answered = waiting.remove(image.getBuildId());
    if (answered != null) {
      for (Find find : answered) {
        timers.cancel(find);
        find.replyTo().tell(new Found(find.buildId(), Optional.of(image), Optional.empty()));
      }
    }
  }

  private static Image decoded(byte[] message) {
    try {
      return ConfluentFrame.decode(message, Image.class);
    } catch (CorruptChunkException e) {
      throw new IllegalStateException("an image that was read can be read again", e);
    }
  }

  private Behavior<Command> onExpired(Find find) {
    List<Find> finds = waiting.get(find.buildId());
    if (finds != null && finds.remove(find)) {
      if (finds.isEmpty()) {
        waiting.remove(find.buildId());
      }
      Optional<ImagePlace> goneFrom =
          images.find(find.buildId()) instanceof ImageTable.Gone(ImagePlace place)
              ? Optional.of(place)
              : Optional.empty();
      find.replyTo().tell(new Found(find.buildId(), Optional.empty(), goneFrom));
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

  private Behavior<Command> measured() {
    meter.holds(images.known(), images.bytes());
    return this;
  }
}
