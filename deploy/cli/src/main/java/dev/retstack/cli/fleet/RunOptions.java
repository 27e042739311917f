package dev.retstack.cli.fleet;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.fleet.plan.FleetOptions;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of a fleet as a whole, independent of its cores. */
public final class RunOptions {
  @Mixin private IsolateOptions isolation;

  @Mixin private CodecOption codec;

  @Option(
      names = "--session",
      paramLabel = "NAME",
      description = "Name of this run of the fleet, new for each run (default: a random one).")
  private String session;

  @Option(
      names = "--flush-ms",
      defaultValue = "500",
      paramLabel = "MS",
      description =
          "Longest time that records wait for their chunk to fill (default:"
              + " ${DEFAULT-VALUE}).")
  private long flushMs;

  @Mixin private KafkaOptions kafka;

  /**
   * Checks what makes no sense whatever the fleet is.
   *
   * @throws CommandException in one sentence
   */
  public void check() {
    kafka.check();
    if (session != null && session.isBlank()) {
      throw CommandException.badInput("session '%s': give a name".formatted(session));
    }
  }

  /** For a fleet whose records go to Kafka. */
  public FleetOptions intoKafka() {
    return intoFile().withFlushInterval(Duration.ofMillis(flushMs));
  }

  /** For a fleet whose records go into a file: only full chunks, the same in each run. */
  public FleetOptions intoFile() {
    FleetOptions options = FleetOptions.standard().withCodec(codec.codec());
    return session == null ? options : options.withSession(session);
  }

  /** Name of this start of the fleet; empty: a random one. */
  public Optional<String> session() {
    return Optional.ofNullable(session);
  }

  /** Whether cores run in separate processes. */
  public IsolateOptions isolation() {
    return isolation;
  }

  /** The cluster. */
  public KafkaOptions kafka() {
    return kafka;
  }
}
