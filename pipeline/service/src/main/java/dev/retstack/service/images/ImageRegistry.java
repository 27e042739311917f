package dev.retstack.service.images;

import dev.retstack.schema.Image;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Visible;
import dev.retstack.service.metrics.Meters;
import dev.retstack.service.metrics.Metric;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractMatchingBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The images, by build-id. Those used last are in memory. Others are read again from their place in
 * the topic. If that was dropped too, the topic is searched: one search at a time, for all awaited
 * images. A caller that asks for a missing image waits for a bounded time. {@link ImageTable}
 * decides what is kept.
 */
public final class ImageRegistry extends AbstractMatchingBehavior<ImageRegistry.Command> {
  /** What the registry understands. */
  public sealed interface Command {}

  /** Images that were read, in order. The answer comes when all are in the table. */
  public record Store(List<ImageRecord> images, ActorRef<Stored> replyTo) implements Command {
    public Store {
      images = List.copyOf(images);
    }
  }

  /** Digests of contents that were used first, by {@link ImageClaims#key}; before all images. */
  public record Claimed(Map<String, String> claims) implements Command {
    public Claimed {
      claims = Collections.unmodifiableMap(new LinkedHashMap<>(claims)); // in their order
    }
  }

  /** Answer to {@link Store}. */
  public enum Stored {
    INSTANCE
  }

  /** The images topic cannot be read any more: the registry stops. */
  public record Unreadable(Throwable cause) implements Command {}

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

  /** A caller does not wait for an image any more, and gets no answer. */
  public record GiveUp(String buildId, ActorRef<Found> replyTo) implements Command {}

  /**
   * Asks for an answer when the registry has caught up, or when it is clear that this takes long:
   * then an image that it does not know is searched until it has.
   */
  public record AwaitCaughtUp(ActorRef<CaughtUp> replyTo) implements Command {}

  /**
   * Answer to {@link Find}.
   *
   * @param goneFrom where it stood, if it came once and is in the topic no longer
   */
  public record Found(String buildId, Optional<Image> image, Optional<ImagePlace> goneFrom) {}

  private enum CatchesUpSlowly implements Command {
    INSTANCE
  }

  private record Expired(Find request) implements Command {}

  private record ReadAgain(String buildId, ImagePlace place, Optional<ImageRecord> image)
      implements Command {}

  private record Searched(Set<String> buildIds, Map<String, ImageRecord> found)
      implements Command {}

  private static final Logger log = LoggerFactory.getLogger(ImageRegistry.class);

  /** The longest that a member waits with its start, if images come at all. */
  private static final Duration CATCHES_UP = Duration.ofSeconds(20);

  private final TimerScheduler<Command> timers;
  private final ImageTable images;
  private final ImageSource source;
  private final Consumer<Map<String, String>> claims;
  private final Meters meters;
  private final Map<String, List<Find>> waiting = new HashMap<>();
  private final Set<String> beingRead = new HashSet<>();

  /**
   * Build-ids that callers wait for: those to search next, and those that a search did not find.
   */
  private final Set<String> toSearch = new HashSet<>();

  private final Set<String> searched = new HashSet<>();
  private boolean searching;
  private final List<ActorRef<CaughtUp>> toTell = new ArrayList<>();
  private boolean caughtUp;

  /**
   * An empty registry.
   *
   * @param bytesMax of the topic's messages that it holds in memory
   * @param placeBytesMax of memory for where others stand in the topic
   * @param source gives what went from memory
   * @param claims hears which contents are used, by {@link ImageClaims#key}
   */
  public static Behavior<Command> create(
      long bytesMax,
      long placeBytesMax,
      ImageSource source,
      Consumer<Map<String, String>> claims,
      Meters meters) {
    ImageTable images = new ImageTable(bytesMax, placeBytesMax);
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new ImageRegistry(context, timers, images, source, claims, meters)));
  }

  private ImageRegistry(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      ImageTable images,
      ImageSource source,
      Consumer<Map<String, String>> claims,
      Meters meters) {
    super(context);
    this.timers = timers;
    this.images = images;
    this.source = source;
    this.claims = claims;
    this.meters = meters;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case Claimed m -> onClaimed(m.claims());
      case Store m -> onStore(m);
      case Find m -> onFind(m);
      case GiveUp m -> onGiveUp(m);
      case ReadAgain m -> onReadAgain(m);
      case Searched m -> onSearched(m);
      case Expired m -> onExpired(m.request());
      case AwaitCaughtUp m -> onAwaitCaughtUp(m.replyTo());
      case CaughtUp _ -> onCaughtUp();
      case Unreadable m ->
          throw new IllegalStateException("cannot read the images topic any more", m.cause());
      case CatchesUpSlowly _ -> onCatchesUpSlowly();
    };
  }

  private Behavior<Command> onClaimed(Map<String, String> earlier) {
    images.claimed(earlier);
    return this;
  }

  private Behavior<Command> onStore(Store store) {
    boolean all = images.forgotten() == 0;
    for (ImageRecord record : store.images()) {
      take(record);
    }
    if (all && images.forgotten() > 0) {
      log.warn(
          "there is room for the places of {} images, and there are more: the whole images topic is"
              + " searched when a chunk names one of the others; raise --image-places-mib",
          images.known());
    }
    store.replyTo().tell(Stored.INSTANCE);
    return measured();
  }

  /** The first content of a build-id counts. */
  private void take(ImageRecord record) {
    String buildId = record.image().getBuildId();
    switch (images.came(buildId, record.place(), record.message())) {
      case TAKEN -> answer(record.image());
      case REFUSED -> {
        meters.count(Metric.IMAGES_REFUSED);
        log.warn(
            "image {} at {} is refused: another content came or was used first under this build-id, and its"
                + " names stay; see who may write to the images topic",
            Visible.line(buildId),
            record.place());
      }
      case UNSURE -> {
        if (searched.contains(buildId)) { // nothing was there before it
          images.found(buildId, record.place(), record.message());
          answer(record.image());
        } else if (waiting.containsKey(buildId)) {
          serve(buildId);
        }
      }
    }
  }

  private Behavior<Command> onFind(Find find) {
    waiting.computeIfAbsent(find.buildId(), _ -> new ArrayList<>()).add(find);
    serve(find.buildId());
    return this;
  }

  private Behavior<Command> onGiveUp(GiveUp m) {
    List<Find> finds = waiting.getOrDefault(m.buildId(), List.of());
    for (Find find : List.copyOf(finds)) {
      if (find.replyTo().equals(m.replyTo())) {
        timers.cancel(find);
        finds.remove(find);
      }
    }
    if (finds.isEmpty()) {
      waiting.remove(m.buildId());
      waitedEnough(m.buildId());
    }
    return this;
  }

  /** Answers the callers that wait for this image, or begins what their answer needs. */
  private void serve(String buildId) {
    switch (images.find(buildId)) {
      case ImageTable.Held held -> answer(decoded(held.message()));
      case ImageTable.InTopic(ImagePlace place) -> {
        if (beingRead.add(buildId)) {
          getContext()
              .pipeToSelf(
                  source.read(place),
                  (found, why) ->
                      why == null ? new ReadAgain(buildId, place, found) : new Unreadable(why));
        }
      }
      case ImageTable.Gone _ -> await(buildId);
      case ImageTable.Forgotten _ -> searchOnce(buildId);
      case ImageTable.Unknown _ -> {
        if (caughtUp) {
          await(buildId);
        } else {
          searchOnce(buildId);
        }
      }
    }
  }

  private void searchOnce(String buildId) {
    if (searched.contains(buildId)) {
      await(buildId);
    } else {
      toSearch.add(buildId);
      search();
    }
  }

  private void await(String buildId) {
    for (Find find : waiting.getOrDefault(buildId, List.of())) {
      if (!timers.isTimerActive(find)) {
        timers.startSingleTimer(find, new Expired(find), find.patience());
      }
    }
  }

  /** Images that come while the topic is searched are stored by the feed. */
  private void search() {
    if (!searching && !toSearch.isEmpty()) {
      searching = true;
      Set<String> asked = Set.copyOf(toSearch);
      toSearch.clear();
      Map<String, String> claimed = new HashMap<>();
      asked.forEach(id -> images.claim(id).ifPresent(digest -> claimed.put(id, digest)));
      getContext()
          .pipeToSelf(
              source.search(asked, claimed),
              (found, why) -> why == null ? new Searched(asked, found) : new Unreadable(why));
    }
  }

  private Behavior<Command> onSearched(Searched m) {
    searching = false;
    meters.count(Metric.IMAGES_SEARCHES);
    for (String buildId : m.buildIds()) {
      ImageRecord found = m.found().get(buildId);
      if (found != null) {
        images.found(buildId, found.place(), found.message());
        answer(found.image());
      } else if (waiting.containsKey(buildId)) {
        searched.add(buildId);
        serve(buildId);
      }
    }
    search();
    return measured();
  }

  private Behavior<Command> onReadAgain(ReadAgain m) {
    beingRead.remove(m.buildId());
    Optional<ImageRecord> found =
        m.image()
            .filter(record -> record.image().getBuildId().equals(m.buildId()))
            .filter(record -> images.readAgain(m.buildId(), m.place(), record.message()));
    if (found.isPresent()) {
      meters.count(Metric.IMAGES_READ_AGAIN);
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
    waitedEnough(image.getBuildId());
    if (answered != null) {
      Map<String, String> used = images.used(image.getBuildId());
      if (!used.isEmpty()) {
        claims.accept(used);
      }
      for (Find find : answered) {
        timers.cancel(find);
        find.replyTo().tell(new Found(find.buildId(), Optional.of(image), Optional.empty()));
      }
    }
  }

  /** Ends the search for an image that has no waiting caller. The next caller starts it again. */
  private void waitedEnough(String buildId) {
    toSearch.remove(buildId);
    searched.remove(buildId);
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
        waitedEnough(find.buildId());
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
      timers.startSingleTimer(CatchesUpSlowly.INSTANCE, CATCHES_UP);
    }
    return this;
  }

  private Behavior<Command> onCaughtUp() {
    caughtUp = true;
    goOn();
    return this;
  }

  private Behavior<Command> onCatchesUpSlowly() {
    if (toTell.isEmpty()) {
      return this;
    }
    if (images.known() == 0 && images.forgotten() == 0) {
      timers.startSingleTimer(CatchesUpSlowly.INSTANCE, CATCHES_UP); // Kafka may be away
      return this;
    }
    log.warn(
        "the images topic is not read to its end after {} s and {} images: the start continues, and"
            + " until then it is searched for what chunks name; see which fleet announces that many",
        CATCHES_UP.toSeconds(),
        images.known() + images.forgotten());
    goOn();
    return this;
  }

  private void goOn() {
    toTell.forEach(waiter -> waiter.tell(CaughtUp.INSTANCE));
    toTell.clear();
  }

  private Behavior<Command> measured() {
    meters.imagesHeld(images.known(), images.bytes(), images.forgotten());
    return this;
  }
}
