package dev.retstack.cli.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.RetstackScript;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A member of the pipeline as a process, started again as a supervisor would: at the same HTTP
 * port. Its log is one file over all its lives.
 */
final class Member {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern SAMPLE =
      Pattern.compile("(retstack_\\w+)\\{partition=\"(\\d+)\"\\} (\\S+)");

  private static final Duration SCRAPE = Duration.ofSeconds(3);

  /** It writes its last checkpoints before it goes. */
  private static final int STOPS_SECONDS = 150;

  private final Processes processes;
  private final HttpClient http = HttpClient.newHttpClient();
  private final Path folder;
  private final Path log;
  private final String options;
  private String launcher = "retstack";
  private final URI url;
  private final int number;
  private Process process;
  private CompletableFuture<Long> endNanos = new CompletableFuture<>();

  /**
   * A member that does not run yet.
   *
   * @param number from 1
   * @param options of {@code retstack pipeline}, beside those of its HTTP side
   */
  Member(Processes processes, Path folder, int number, String options) {
    this.processes = processes;
    this.folder = folder;
    this.number = number;
    int port = processes.freePort();
    this.url = URI.create("http://127.0.0.1:" + port);
    this.log = folder.resolve("member-" + number + ".log");
    this.options = "--http-port %d %s".formatted(port, options);
  }

  /**
   * Starts otherwise from its next life on.
   *
   * @param command another {@code retstack}
   */
  void become(String command) {
    launcher = command;
  }

  /** Starts it; does not wait. */
  void start() throws IOException {
    process =
        processes.start(
            processes
                .retstack(folder, "exec %s pipeline %s".formatted(launcher, options))
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile())));
  }

  /** Returns when it serves. */
  Member awaitServing() throws IOException {
    BufferedReader out = process.inputReader(UTF_8);
    if (out.readLine() == null) {
      throw new AssertionError("member %d does not serve: see %s".formatted(number, log));
    }
    return this;
  }

  /** Its address. */
  URI url() {
    return url;
  }

  /** From 1. */
  int number() {
    return number;
  }

  /** What it had to say, over all its lives. */
  String said() throws IOException {
    return Files.exists(log) ? Files.readString(log) : "";
  }

  /** {@code kill -9}; returns when it is dead. */
  void kill() {
    Processes.kill(process);
  }

  /** Stops in order; returns when it is gone. */
  void terminate() throws Exception {
    Path maps = Path.of("/proc/%d/maps".formatted(process.pid()));
    if (Files.exists(maps) && Files.readString(maps).contains("libunicorn")) {
      throw new AssertionError(
          "member %d has loaded libunicorn: no pipeline may".formatted(number));
    }
    process.toHandle().destroy();
    Processes.awaitEnd(process, STOPS_SECONDS);
  }

  /** SIGTERM; does not wait until it is gone. */
  void askToEnd() throws Exception {
    endNanos = process.onExit().thenApply(_ -> System.nanoTime());
    process.toHandle().destroy();
  }

  /** Returns when it is gone, with its exit code. */
  int awaitEnd() throws Exception {
    Processes.awaitEnd(process, STOPS_SECONDS);
    return process.exitValue();
  }

  /** How long it lived after this moment; it was asked to end, and did. */
  long millisOfLife(long fromNanos) {
    return (endNanos.join() - fromNanos) / 1_000_000;
  }

  /** SIGSTOP: it does nothing from now on, and knows nothing of it. */
  void freeze() throws Exception {
    RetstackScript.signal("STOP", process.pid());
  }

  /** SIGCONT. */
  void thaw() throws Exception {
    RetstackScript.signal("CONT", process.pid());
  }

  /** A member that was not asked to end runs on, whatever happens. */
  void requireAlive() throws IOException {
    if (!process.isAlive()) {
      throw new AssertionError(
          "member %d ended by itself, exit %d: %s".formatted(number, process.exitValue(), said()));
    }
  }

  boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** Waits a while; true where it ended meanwhile. */
  boolean endsWithin(int millis) throws InterruptedException {
    return process.waitFor(millis, TimeUnit.MILLISECONDS);
  }

  /** The numbers of its partitions, or nothing where it does not answer soon. */
  Optional<Scrape> scrape() throws InterruptedException {
    try {
      return Optional.of(Scrape.of(get("/metrics", SCRAPE)));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Whether it is in its group, and had all of its partitions open. */
  boolean isReady() throws InterruptedException {
    try {
      get("/health/ready", SCRAPE);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** What it answers as JSON. */
  JsonNode ask(String path, Duration patience) throws IOException, InterruptedException {
    return JSON.readTree(get(path, patience));
  }

  /** What it answers as text. */
  String page(String path, Duration patience) throws IOException, InterruptedException {
    return get(path, patience);
  }

  private String get(String path, Duration patience) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(url.resolve(path)).timeout(patience).build();
    HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString(UTF_8));
    if (answer.statusCode() != 200) {
      throw new IOException(path + " answers " + answer.statusCode() + ": " + answer.body());
    }
    return answer.body();
  }

  /** Samples by name and partition. */
  record Scrape(Map<String, Map<Integer, Double>> samples) {
    static Scrape of(String text) {
      Map<String, Map<Integer, Double>> found = new java.util.TreeMap<>();
      Matcher matcher = SAMPLE.matcher(text);
      while (matcher.find()) {
        found
            .computeIfAbsent(matcher.group(1), _ -> new java.util.TreeMap<>())
            .put(Integer.valueOf(matcher.group(2)), Double.valueOf(matcher.group(3)));
      }
      return new Scrape(found);
    }

    /** By partition; nothing where this member does not own it. */
    Map<Integer, Double> of(Names name) {
      return samples.getOrDefault(name.sample, Map.of());
    }
  }

  /** The samples that are looked at. */
  enum Names {
    OPEN("retstack_partition_open"),
    EPOCH("retstack_partition_epoch"),
    NEXT("retstack_next_offset"),
    LAG("retstack_lag_chunks"),
    BEHIND("retstack_checkpoint_behind_chunks");

    private final String sample;

    Names(String sample) {
      this.sample = sample;
    }
  }
}
