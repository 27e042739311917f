package dev.retstack.cli.web;

import dev.retstack.answers.http.HttpSettings;
import dev.retstack.cli.Applied;
import dev.retstack.cli.Ran;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.trace.FleetCommandRules;
import dev.retstack.cli.trace.TracedFleet;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import java.nio.file.Path;
import java.util.List;

/** A broker, a fleet that runs, and a member that commands it. */
final class CommandedFleet implements AutoCloseable {
  private final EmbeddedBroker broker;
  private final TracedFleet fleet;
  private final Pipeline pipeline;

  /** Starts all three; the fleet listens and the member has counted. */
  CommandedFleet(Path dir, String prefix) throws Exception {
    this(dir, prefix, TracedFleet.IMAGES);
  }

  /** The same with a fleet of these images. */
  CommandedFleet(Path dir, String prefix, List<String> images) throws Exception {
    broker = EmbeddedBroker.start(dir.resolve("broker"), 0);
    fleet = new TracedFleet(broker, prefix, "s-1", images);
    pipeline = PipelineService.start(member("first", HttpSettings.LOCAL, true));
    fleet.awaitListening();
    Applied.await(pipeline, 1_000);
  }

  /** A member of another group, for the caller to start. */
  PipelineConfig member(String group, HttpSettings http, boolean commands) {
    return PipelineConfig.of(settings())
        .but()
        .topics(topics())
        .groupId(group)
        .http(http)
        .commands(new FleetCommandRules(), commands)
        .build();
  }

  /** The member that commands. */
  Pipeline pipeline() {
    return pipeline;
  }

  KafkaSettings settings() {
    return fleet.link().settings();
  }

  Topics topics() {
    return fleet.link().topics();
  }

  /** Where the broker is. */
  String bootstrap() {
    return broker.bootstrap();
  }

  /** What {@code retstack trace} says of the fleet. */
  Ran trace(String... arguments) {
    return fleet.trace(arguments);
  }

  @Override
  public void close() {
    pipeline.close();
    fleet.close();
    broker.close();
  }
}
