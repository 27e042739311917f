package dev.retstack.cli;

import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.viewer.TraceServer;
import dev.retstack.cli.broker.BrokerException;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Terminal;
import dev.retstack.graph.input.LateSymbols;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Does once what users of a group of verbs do, so that the class archive which the JVM makes at its
 * end serves them. The launcher makes one for each group after a build: short verbs start later
 * with a large archive.
 */
public final class ArchiveTraining {
  private static final String IMAGE = "zoo-x86_64-fentry";

  private ArchiveTraining() {}

  /**
   * Ends the JVM. A part that fails, such as emulation without libunicorn or a broker without a
   * free port, is missing in the archive and no error.
   *
   * @param arguments a group: classes, record, view, servers or all; a recorded trace; a folder
   *     that is made for the time
   */
  public static void main(String[] arguments) throws Exception {
    String group = arguments[0];
    String trace = arguments[1];
    Path folder = Files.createDirectories(Path.of(arguments[2]));
    boolean all = group.equals("all");
    if (all || group.equals("classes")) {
      run("--version");
      run("isa");
      run("report", trace);
      run("graph", trace);
      run("anomalies", trace, "--format", "json");
    }
    if (all || group.equals("record")) {
      record(folder);
    }
    if (all || group.equals("view") || group.equals("servers")) {
      view(trace);
    }
    if (all || group.equals("servers")) {
      try {
        cluster(folder);
      } catch (BrokerException e) {
        System.err.println("no broker for the training: " + e.getMessage());
      }
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
    System.exit(ExitCode.OK);
  }

  /** A program of the zoo, and a dynamic one as users have them, where there is a compiler. */
  private static void record(Path folder) throws IOException, InterruptedException {
    String output = folder.resolve("t.avro").toString();
    run("record", "--image", IMAGE, "-o", output, "--", "fib", "5");
    Path program = folder.resolve("a.out");
    try {
      Process gcc =
          new ProcessBuilder("gcc", "-pg", "-x", "c", "-", "-o", program.toString()).start();
      try (OutputStream source = gcc.getOutputStream()) {
        source.write("int main(void) { return 0; }".getBytes(StandardCharsets.US_ASCII));
      }
      if (gcc.waitFor() == 0) {
        run("record", "--image", program.toString(), "-o", output);
        run("report", output);
      }
    } catch (IOException e) {
      System.err.println("no gcc for the training: " + e.getMessage());
    }
  }

  private static void view(String trace) throws Exception {
    try (TraceServer server =
        TraceServer.start(Path.of(trace), LateSymbols.NONE, HttpSettings.LOCAL)) {
      server.askItself();
    }
  }

  /** A broker, a member and a fleet in one process: what {@code demo} starts in two. */
  private static void cluster(Path folder) throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder, 0)) {
      String kafka = broker.bootstrap();
      try (Pipeline member = PipelineService.start(PipelineConfig.of(KafkaSettings.of(kafka)))) {
        int code = run("emulate", "--bootstrap", kafka, "--image", IMAGE, "--", "fib", "5");
        if (code == ExitCode.OK) {
          var _ = member.awaitCoresEnded(1).toCompletableFuture().get(1, TimeUnit.MINUTES);
        }
        run("report", "--live", "--bootstrap", kafka);
      }
    }
  }

  private static int run(String... line) {
    return Main.run(Terminal.system(), line);
  }
}
