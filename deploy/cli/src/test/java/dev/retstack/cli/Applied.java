package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Pipelines of this JVM, and what they have applied. */
public final class Applied {
  private static final long PATIENCE_MINUTES = 2;
  private static final long PAUSE_NANOS = 20_000_000; // who is waited for has the processor then

  private Applied() {}

  /** Sends traces to a broker, and starts a pipeline there that has applied all of them. */
  public static Pipeline start(String bootstrap, Path... traces) throws Exception {
    return start(bootstrap, Topics.standard(), traces);
  }

  /** The same in these topics. */
  public static Pipeline start(String bootstrap, Topics topics, Path... traces) throws Exception {
    String[] cluster = {"--into-kafka", "--bootstrap", bootstrap, "--prefix", topics.prefix()};
    long records = 0;
    for (Path trace : traces) {
      Ran.well(
          Stream.concat(Stream.of("replay", trace.toString()), Stream.of(cluster))
              .toArray(String[]::new));
      String replayed = Ran.well("replay", trace.toString(), "--format", "json").out();
      records += new ObjectMapper().readTree(replayed).path("records").asLong();
    }
    PipelineConfig config =
        PipelineConfig.of(KafkaSettings.of(bootstrap))
            .but()
            .topics(topics)
            .groupId(topics.prefix() + "-pipeline")
            .build();
    Pipeline pipeline = PipelineService.start(config);
    await(pipeline, records);
    return pipeline;
  }

  /** Waits until the cores of the job have so many records together. */
  public static void await(Pipeline pipeline, long records) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
    for (long are = applied(pipeline); are < records; are = applied(pipeline)) {
      assertThat(System.nanoTime())
          .as("%,d of %,d records are applied", are, records)
          .isLessThan(deadline);
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private static long applied(Pipeline pipeline) throws Exception {
    return pipeline
        .progress()
        .toCompletableFuture()
        .get(PATIENCE_MINUTES, TimeUnit.MINUTES)
        .stream()
        .mapToLong(CoreProgress::records)
        .sum();
  }
}
