package dev.retstack.service;

import dev.retstack.answers.http.HttpSettings;
import dev.retstack.service.kafka.TopicAdmin;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.pekko.actor.typed.ActorSystem;

/**
 * One member of the pipeline: {@code Kafka → consume → partition → checkpoint and publish → query}.
 * Members of one group share the partitions. Each answers for all, by asking the others.
 */
public final class PipelineService {
  private static final Duration KAFKA_PATIENCE = Duration.ofSeconds(60);

  private PipelineService() {}

  /**
   * Creates the topics that are missing, reads all images, serves HTTP, and joins the group.
   *
   * @throws IOException when Kafka does not answer or the HTTP port is taken; nothing runs then
   */
  public static Pipeline start(PipelineConfig config) throws IOException, InterruptedException {
    CompletableFuture<Pipeline> started = new CompletableFuture<>();
    // topics and actors both take their time, and neither needs the other
    var topics = new CompletableFuture<Guardian.TopicSizes>();
    Thread.ofVirtual().name("retstack-topics").start(() -> prepare(config, topics));
    ActorSystem<Guardian.Command> system =
        ActorSystem.create(
            Guardian.create(config, topics, started), "retstack", HttpSettings.ofPekko());
    try {
      return started.get();
    } catch (ExecutionException e) {
      system.terminate();
      switch (e.getCause()) {
        case IOException why -> throw why;
        case RuntimeException why -> throw why;
        default -> throw new IOException("cannot start: " + e.getCause().getMessage(), e);
      }
    } catch (InterruptedException e) {
      system.terminate();
      throw e;
    }
  }

  private static void prepare(
      PipelineConfig config, CompletableFuture<Guardian.TopicSizes> topics) {
    try (TopicAdmin admin = new TopicAdmin(config.kafka(), KAFKA_PATIENCE)) {
      admin.ensure(config.topics(), config.partitions());
      topics.complete(
          new Guardian.TopicSizes(
              admin.partitions(config.topics().events()),
              admin.partitions(config.topics().anomalies()),
              admin.endOffsets(config.topics().images())));
    } catch (IOException | InterruptedException | RuntimeException e) {
      topics.completeExceptionally(e);
    }
  }
}
