package dev.retstack.cli.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.retstack.schema.Span;
import dev.retstack.schema.wire.ConfluentFrame;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A member whose clock is an hour ahead, one an hour behind, a fleet an hour ahead and a broker an
 * hour behind; then the second member's clock jumps ahead by two hours, and back again. The library
 * libfaketime gives processes a clock of their own; time that only goes on (monotonic) it leaves
 * alone, as a wrong wall clock does.
 */
final class Clocks {
  private static final Duration ANSWER = Duration.ofSeconds(30);

  /** For all partitions to flow after a clock was set back. */
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static final Pattern SAMPLE = Pattern.compile("(?m)^(retstack_\\S+) (\\S+)$");
  private static final int BROKER = 2;

  private final Path library;
  private final Path folder;
  private final int seconds;

  /**
   * @param library libfaketime
   * @param folder for the files with the clocks
   * @param seconds how long it runs before and after the jump
   */
  Clocks(Path library, Path folder, int seconds) {
    this.library = library;
    this.folder = folder;
    this.seconds = seconds;
  }

  /** The library, where it is installed. */
  static Optional<Path> library() throws IOException {
    Path all = Path.of("/usr/lib");
    try (Stream<Path> folders = Files.list(all)) {
      return folders
          .map(one -> one.resolve("faketime/libfaketimeMT.so.1"))
          .filter(Files::isReadable)
          .findFirst();
    }
  }

  /** Sets a clock, such as {@code +1h}; a process that has it sees it within a second. */
  private Path set(String name, String offset) throws IOException {
    Path made = Files.writeString(folder.resolve(name + ".next"), offset + "\n");
    return Files.move(
        made,
        folder.resolve(name + ".clock"),
        java.nio.file.StandardCopyOption.ATOMIC_MOVE,
        java.nio.file.StandardCopyOption.REPLACE_EXISTING);
  }

  private Map<String, String> environment(Path clock) {
    return Map.of(
        "LD_PRELOAD",
        library.toString(),
        "DONT_FAKE_MONOTONIC",
        "1",
        // its cure of waits by the monotonic clock makes a JVM's waits return at once
        "FAKETIME_FORCE_MONOTONIC_FIX",
        "0",
        "FAKETIME_CACHE_DURATION",
        "1",
        "FAKETIME_TIMESTAMP_FILE",
        clock.toString());
  }

  private String launcher(Path clock) {
    StringBuilder line = new StringBuilder("env");
    environment(clock).forEach((name, value) -> line.append(" %s=%s".formatted(name, value)));
    return line.append(" retstack").toString();
  }

  /** Runs; returns the figures. */
  String run(Job job) throws Exception {
    BrokerCluster brokers = job.brokers();
    brokers.stop(BROKER);
    brokers.start(BROKER, environment(set("broker", "-1h")));
    try {
      brokers.awaitAll();
      brokers.leadAsPreferred(); // else the one that was away leads nothing
      job.members().get(0).become(launcher(set("member-1", "+1h")));
      job.members().get(1).become(launcher(set("member-2", "-1h")));
      for (Member member : job.members().subList(0, 2)) {
        member.terminate();
        member.start();
        member.awaitServing();
      }
      job.awaitSettled();
      TestFleet ahead = job.fleet("", launcher(set("fleet", "+1h")));
      String figures = Row.of(job, ahead, (fleet, _) -> jump(job, fleet));
      List<Boolean> spans =
          Published.in(
              job.kafka(),
              job.topics().spans(),
              value -> {
                Span span = ConfluentFrame.decode(value, Span.class);
                return span.getExit() >= span.getEnter() && span.getSelf() >= 0;
              });
      assertThat(spans).isNotEmpty().doesNotContain(false);
      return figures;
    } finally {
      brokers.kill(BROKER);
      brokers.start(BROKER);
      brokers.awaitAll();
    }
  }

  /** The second member's clock jumps ahead by two hours, and back again. */
  private String jump(Job job, TestFleet fleet) throws Exception {
    fleet.run(1_000L * seconds);
    check(job);
    set("member-2", "+1h");
    fleet.run(1_000L * seconds);
    check(job);
    Map<Integer, Long> before = job.positions();
    long back = System.nanoTime();
    set("member-2", "-1h");
    fleet.run(1_000L * seconds);
    long flows = job.awaitFlow(before, back, fleet, PATIENCE);
    job.awaitSettled();
    check(job);
    return "clocks from -1 h to +1 h; all partitions flow %.1f s after one was set back by two hours; no number below 0, nobody taken for dead"
        .formatted(flows / 1e3);
  }

  /** What every member says: all three there, no core dead, no time and no age below 0. */
  private static void check(Job job) throws Exception {
    for (Member member : job.members()) {
      Matcher samples = SAMPLE.matcher(member.page("/metrics", ANSWER));
      int count = 0;
      while (samples.find()) {
        count++;
        assertThat(Double.parseDouble(samples.group(2))).as(samples.group()).isNotNegative();
      }
      assertThat(count).isPositive();
      for (String path : List.of("/parts", "/cores", "/sessions", "/stats", "/report", "/top")) {
        JsonNode answer = member.ask(path, ANSWER);
        notNegative(path, answer);
        assertThat(answer.findValuesAsText("missing")).as(path).isEmpty();
        assertThat(answer.findValuesAsText("end")).as(path).doesNotContain("DEAD");
      }
      assertThat(member.ask("/parts", ANSWER).get("nodes")).hasSize(Job.MEMBERS);
    }
  }

  private static void notNegative(String path, JsonNode node) {
    if (node.isNumber()) {
      assertThat(node.doubleValue()).as(path).isNotNegative();
    }
    node.properties().forEach(one -> notNegative(path + " " + one.getKey(), one.getValue()));
    if (node.isArray()) {
      node.forEach(one -> notNegative(path, one));
    }
  }
}
