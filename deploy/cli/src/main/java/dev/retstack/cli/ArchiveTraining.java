package dev.retstack.cli;

import dev.retstack.cli.broker.BrokerException;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Terminal;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.http.HttpSettings;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.viewer.TraceServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Does once what users do, so that the class archive which the JVM makes at its end serves them
 * all. The launcher makes two after a build: short verbs start later with a large archive.
 */
public final class ArchiveTraining {
  private ArchiveTraining() {}

  /**
   * Ends the JVM. A part that fails, such as emulation without libunicorn or a broker without a
   * free port, is missing in the archive and no error.
   *
   * @param arguments a recorded trace; and for verbs that serve, a folder that is made for the time
   */
  public static void main(String[] arguments) throws Exception {
    String trace = arguments[0];
    run("isa");
    run("report", trace);
    run("graph", trace);
    run("anomalies", trace, "--format", "json");
    if (arguments.length > 1) {
      try (TraceServer server =
          TraceServer.start(Path.of(trace), LateSymbols.NONE, HttpSettings.LOCAL)) {
        server.askItself();
      }
      try {
        cluster(Path.of(arguments[1]));
      } catch (BrokerException e) {
        System.err.println("no broker for the training: " + e.getMessage());
      }
    }
    System.exit(ExitCode.OK);
  }

  /** A broker, a member and a fleet in one process: what {@code demo} starts in two. */
  private static void cluster(Path folder) throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder, 0)) {
      String kafka = broker.bootstrap();
      try (Pipeline member = PipelineService.start(PipelineConfig.of(KafkaSettings.of(kafka)))) {
        String image = "zoo-x86_64-fentry";
        int code = run("emulate", "--bootstrap", kafka, "--image", image, "--", "fib", "5");
        if (code == ExitCode.OK) {
          var _ = member.awaitCoresEnded(1).toCompletableFuture().get(1, TimeUnit.MINUTES);
        }
        run("report", "--live", "--bootstrap", kafka);
      }
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
        Files.delete(file);
      }
    }
  }

  private static int run(String... line) {
    return Main.run(Terminal.system(), line);
  }
}
