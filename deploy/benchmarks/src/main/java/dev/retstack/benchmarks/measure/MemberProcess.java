package dev.retstack.benchmarks.measure;

import dev.retstack.service.LiveClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A member of the pipeline in its own JVM, which is measured from outside and can be killed. */
public final class MemberProcess implements AutoCloseable {
  private static final int STOP_SECONDS_MAX = 60;

  private final Process process;
  private final Thread end;
  private final URI http;

  private MemberProcess(Process process, Thread end, URI http) {
    this.process = process;
    this.end = end;
    this.http = http;
  }

  /**
   * Starts a member and returns when its HTTP side serves.
   *
   * @param jvm flags of its JVM, such as {@code -Xmx256m}
   * @param arguments of the verb {@code pipeline}
   * @param log takes what it says, in addition to what stands there
   */
  public static MemberProcess start(List<String> jvm, List<String> arguments, Path log)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+ExitOnOutOfMemoryError"));
    command.addAll(jvm);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), "dev.retstack.cli.Main", "pipeline"));
    command.addAll(List.of("--http-port", "0"));
    command.addAll(arguments);
    Process process =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .start();
    Thread end = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(end);
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String address = lines.readLine();
    if (address == null) {
      process.destroyForcibly();
      throw new IOException("the member did not start, its log says why: " + log);
    }
    return new MemberProcess(process, end, URI.create(address));
  }

  private void forget() {
    try {
      Runtime.getRuntime().removeShutdownHook(end);
    } catch (IllegalStateException _) {
      // this JVM ends as well
    }
  }

  /** Address of its HTTP server. */
  public URI http() {
    return http;
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Waits at most {@code millis}. Returns whether the process ended. */
  public boolean endsWithin(long millis) throws InterruptedException {
    return process.waitFor(millis, TimeUnit.MILLISECONDS);
  }

  /**
   * What it counts.
   *
   * @throws IOException where it ended; a member that is too busy to answer is asked again
   */
  public MetricsPage metrics() throws IOException, InterruptedException {
    try (LiveClient client = new LiveClient(http)) {
      while (true) {
        try {
          return MetricsPage.parse(client.get("metrics", Map.of()));
        } catch (LiveClient.UnreachableException e) {
          if (endsWithin(1_000)) {
            throw e;
          }
        }
      }
    }
  }

  /** Collects its garbage: what the heap holds then is what it needs. */
  public void collectGarbage() throws IOException, InterruptedException {
    new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
            String.valueOf(pid()),
            "GC.run")
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  /** Ends it as a power cut would. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
    forget();
  }

  /** Ends it in order, by force only where that takes too long. */
  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
      forget();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
