package dev.retstack.service.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.Image;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.service.metrics.ImageMeter;
import dev.retstack.service.support.CoreScript;
import java.time.Duration;
import java.util.Optional;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.ManualTime;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ImageRegistryTest {
  private final ActorTestKit kit = ActorTestKit.create(ManualTime.config());
  private final ManualTime time = ManualTime.get(kit.system());
  private final ActorRef<ImageRegistry.Command> registry =
      kit.spawn(
          ImageRegistry.create(
              1 << 20,
              (place, _) -> {
                throw new AssertionError("all is in memory, and %s read again".formatted(place));
              },
              new ImageMeter()));
  private final TestProbe<ImageRegistry.Found> probe =
      kit.createTestProbe(ImageRegistry.Found.class);

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  @Test
  void whoAsksEarlyIsAnsweredWhenTheImageComes() {
    Image image = CoreScript.image("later", "main");
    registry.tell(find("later"));
    registry.tell(
        new ImageRegistry.Store(
            new ImageRecord(image, new ImagePlace(0, 0), ConfluentFrame.encode(image))));
    assertThat(probe.receiveMessage().image()).contains(image);
    registry.tell(find("later"));
    assertThat(probe.receiveMessage().image()).contains(image);
    time.timePasses(Duration.ofSeconds(20));
    probe.expectNoMessage(Duration.ZERO);
  }

  @Test
  void whoWaitsTooLongIsToldSo() {
    registry.tell(find("never"));
    TestProbe<ImageRegistry.CaughtUp> passed = kit.createTestProbe(ImageRegistry.CaughtUp.class);
    registry.tell(ImageRegistry.CaughtUp.INSTANCE);
    registry.tell(new ImageRegistry.AwaitCaughtUp(passed.getRef()));
    passed.receiveMessage(); // the question before it has been taken too
    time.timePasses(Duration.ofSeconds(9));
    probe.expectNoMessage(Duration.ZERO);
    time.timePasses(Duration.ofSeconds(2));
    assertThat(probe.receiveMessage())
        .isEqualTo(new ImageRegistry.Found("never", Optional.empty(), Optional.empty()));
  }

  private ImageRegistry.Find find(String buildId) {
    return new ImageRegistry.Find(buildId, Duration.ofSeconds(10), probe.getRef());
  }
}
