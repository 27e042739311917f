package dev.retstack.cli.broker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An {@link EmbeddedBroker} in a separate JVM. The child lives while its standard input is open:
 * when this process ends in any way, the kernel closes the pipe and the child stops.
 */
public final class BrokerProcess implements AutoCloseable {
  /** Name of the log file in the broker's folder. */
  public static final String LOG = "broker.log";

  /** Hidden option of {@code retstack broker}: stop when standard input closes. */
  public static final String CHILD_OPTION = "--until-stdin-closes";

  private static final int STOP_SECONDS_MAX = 30;

  private final Process process;
  private final Path log;
  private final String bootstrap;

  private BrokerProcess(Process process, Path log, String bootstrap) {
    this.process = process;
    this.log = log;
    this.bootstrap = bootstrap;
  }

  /**
   * Starts the child and returns when it serves.
   *
   * @param dir the broker's folder; its log goes to {@code broker.log} there
   * @param port to listen on; 0 = any that is free
   * @throws BrokerException with the child's own last words where it did not start
   */
  public static BrokerProcess start(Path dir, int port) throws IOException, InterruptedException {
    Files.createDirectories(dir);
    Path log = dir.resolve(LOG);
    Process process =
        new ProcessBuilder(command(dir, port))
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    long logStart = Files.size(log);
    String bootstrap = null;
    try {
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
      bootstrap = lines.readLine(); // blocks until the child serves, or ends
    } finally {
      if (bootstrap == null) {
        process.destroyForcibly().waitFor();
      }
    }
    if (bootstrap == null) {
      throw new BrokerException(
          "the kafka broker did not start (exit "
              + process.exitValue()
              + "): "
              + lastWords(log, logStart)
              + " (log: "
              + log
              + ")");
    }
    return new BrokerProcess(process, log, bootstrap);
  }

  /** {@code host:port} for clients. */
  public String bootstrap() {
    return bootstrap;
  }

  /** Process id of the child. */
  public long pid() {
    return process.pid();
  }

  /** The child's log. */
  public Path log() {
    return log;
  }

  /** Stops the child in order, by force only where that takes too long; returns when it is gone. */
  @Override
  public void close() throws IOException {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  private static List<String> command(Path dir, int port) {
    List<String> command = new ArrayList<>();
    // Ctrl-C in a terminal reaches the whole group. The broker must outlive what drains into it, so
    // it does not listen to the keyboard: a signal ignored at the start stays so in a JVM.
    command.addAll(List.of("/bin/sh", "-c", "trap '' INT HUP; exec \"$@\"", "retstack-broker"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // of an archive of classes it has the same use
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(flag -> flag.startsWith("-XX:SharedArchiveFile=") || flag.startsWith("-Xlog:"))
        .forEach(command::add);
    command.addAll(
        List.of(
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-cp",
            System.getProperty("java.class.path"),
            "dev.retstack.cli.Main",
            "broker",
            "--dir",
            dir.toString(),
            "--port",
            String.valueOf(port),
            CHILD_OPTION));
    return command;
  }

  /** The child's message to its human: the last line that it wrote as such. */
  private static String lastWords(Path log, long from) throws IOException {
    byte[] all = Files.readAllBytes(log);
    int start = (int) Math.min(from, all.length);
    String said = new String(all, start, all.length - start, StandardCharsets.UTF_8).strip();
    return said.lines()
        .filter(line -> line.startsWith("retstack: "))
        .map(line -> line.substring("retstack: ".length()))
        .reduce((_, last) -> last)
        .orElse(
            said.isEmpty() ? "it said nothing" : said.lines().reduce((_, l) -> l).orElseThrow());
  }
}
