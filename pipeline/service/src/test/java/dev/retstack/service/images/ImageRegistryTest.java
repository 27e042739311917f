package dev.retstack.service.images;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.answers.support.CoreScript;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.metrics.Meters;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ImageRegistryTest {
  /** Keeps what the registry asks of the topic, and answers when the test says. */
  private static final class Asked implements ImageSource {
    private final BlockingQueue<Set<String>> searches = new LinkedBlockingQueue<>();
    private final BlockingQueue<CompletableFuture<Map<String, ImageRecord>>> told =
        new LinkedBlockingQueue<>();

    @Override
    public CompletionStage<Optional<ImageRecord>> read(ImagePlace place) {
      throw new AssertionError("all is in memory, and %s read again".formatted(place));
    }

    @Override
    public CompletionStage<Map<String, ImageRecord>> search(
        Set<String> buildIds, Map<String, String> claimed) {
      searches.add(buildIds);
      CompletableFuture<Map<String, ImageRecord>> answer = new CompletableFuture<>();
      told.add(answer);
      return answer;
    }
  }

  private static final int SECONDS = 20;

  private final Asked topic = new Asked();
  private final BlockingQueue<Map<String, String>> written = new LinkedBlockingQueue<>();
  private final ActorTestKit kit = ActorTestKit.create(ManualTime.config());
  private final ManualTime time = ManualTime.get(kit.system());
  private final ActorRef<ImageRegistry.Command> registry =
      kit.spawn(ImageRegistry.create(1 << 20, 1 << 20, topic, written::add, new Meters()));
  private final TestProbe<ImageRegistry.Found> probe =
      kit.createTestProbe(ImageRegistry.Found.class);

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  /** One search at a time, for all that were asked for meanwhile; each image once. */
  @Test
  void untilItHasCaughtUpTheTopicIsSearchedForWhatItDoesNotKnow() throws Exception {
    registry.tell(find("early"));
    assertThat(search()).containsExactly("early");
    registry.tell(find("other"));
    registry.tell(find("early"));
    registry.tell(find("third"));
    topic.told.take().complete(Map.of("early", record("early")));
    assertThat(probe.receiveMessage().image()).isPresent();
    assertThat(probe.receiveMessage().image()).isPresent();
    assertThat(search()).containsExactlyInAnyOrder("other", "third");
    topic.told.take().complete(Map.of("other", record("other")));
    assertThat(probe.receiveMessage().buildId()).isEqualTo("other");
    awaitTaken();
    time.timePasses(Duration.ofSeconds(11)); // patience begins behind the search
    assertThat(probe.receiveMessage())
        .isEqualTo(new ImageRegistry.Found("third", Optional.empty(), Optional.empty()));
    assertThat(topic.searches).isEmpty();
  }

  @Test
  void aStartGoesOnWhereTheTopicTakesLongToRead() throws Exception {
    TestProbe<ImageRegistry.CaughtUp> start = kit.createTestProbe(ImageRegistry.CaughtUp.class);
    registry.tell(new ImageRegistry.AwaitCaughtUp(start.getRef()));
    store(record("first"));
    time.timePasses(Duration.ofSeconds(SECONDS - 1));
    start.expectNoMessage(Duration.ZERO);
    time.timePasses(Duration.ofSeconds(1));
    start.receiveMessage();
  }

  @Test
  void aStartDoesNotGoOnWhereNothingIsRead() throws Exception {
    TestProbe<ImageRegistry.CaughtUp> start = kit.createTestProbe(ImageRegistry.CaughtUp.class);
    registry.tell(new ImageRegistry.AwaitCaughtUp(start.getRef()));
    registry.tell(find("marker")); // the search is asked for behind it
    assertThat(search()).containsExactly("marker");
    time.timePasses(Duration.ofSeconds(3 * SECONDS));
    start.expectNoMessage(Duration.ZERO);
    registry.tell(ImageRegistry.CaughtUp.INSTANCE);
    start.receiveMessage();
  }

  @Test
  void whoAsksEarlyIsAnsweredWhenTheImageComes() {
    registry.tell(ImageRegistry.CaughtUp.INSTANCE);
    ImageRecord record = record("later");
    Image image = record.image();
    registry.tell(find("later"));
    store(record);
    assertThat(probe.receiveMessage().image()).contains(image);
    registry.tell(find("later"));
    assertThat(probe.receiveMessage().image()).contains(image);
    time.timePasses(Duration.ofSeconds(20));
    probe.expectNoMessage(Duration.ZERO);
  }

  @Test
  void whoWaitsTooLongIsToldSo() {
    registry.tell(ImageRegistry.CaughtUp.INSTANCE);
    registry.tell(find("never"));
    awaitTaken();
    time.timePasses(Duration.ofSeconds(9));
    probe.expectNoMessage(Duration.ZERO);
    time.timePasses(Duration.ofSeconds(2));
    assertThat(probe.receiveMessage())
        .isEqualTo(new ImageRegistry.Found("never", Optional.empty(), Optional.empty()));
  }

  private void store(ImageRecord record) {
    TestProbe<ImageRegistry.Stored> stored = kit.createTestProbe(ImageRegistry.Stored.class);
    registry.tell(new ImageRegistry.Store(List.of(record), stored.getRef()));
    stored.receiveMessage();
  }

  private static ImageRecord record(String buildId) {
    Image image = CoreScript.image(buildId, "main");
    return new ImageRecord(image, new ImagePlace(0, 0), ConfluentFrame.encode(image));
  }

  private Set<String> search() throws InterruptedException {
    Set<String> asked = topic.searches.poll(10, TimeUnit.SECONDS);
    assertThat(asked).as("a search").isNotNull();
    return asked;
  }

  /** Returns when all that the registry was told before this has been taken. */
  private void awaitTaken() {
    TestProbe<ImageRegistry.CaughtUp> passed = kit.createTestProbe(ImageRegistry.CaughtUp.class);
    registry.tell(ImageRegistry.CaughtUp.INSTANCE);
    registry.tell(new ImageRegistry.AwaitCaughtUp(passed.getRef()));
    passed.receiveMessage();
  }

  private ImageRegistry.Find find(String buildId) {
    return new ImageRegistry.Find(buildId, Duration.ofSeconds(10), probe.getRef());
  }
}
