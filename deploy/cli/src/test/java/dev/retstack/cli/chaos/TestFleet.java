package dev.retstack.cli.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Pacer;
import dev.retstack.cli.RetstackScript;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;

/**
 * A process of cores that go on until they are stopped. Some have too small a ret_stack, which
 * makes anomalies, some call functions that are long, which makes spans, so that members have
 * something to publish all the time. A shell stops it most of the time: what is tested is not how
 * much the machine carries.
 */
final class TestFleet {
  /** Calls of this length and longer, in instructions, are spans: some tens a second. */
  static final int SPAN_THRESHOLD = 200_000;

  /** Exit code of a process that Ctrl-C ended. */
  private static final int INTERRUPTED = 130;

  private static final int ENDS_SECONDS = 180;

  private static final String FILE =
      """
      flush-ms = 50
      groups {
        small {
          image = [zoo-x86_64-fentry, zoo-riscv64-mcount, zoo-aarch64-mcount, zoo-s390x-mcount]
          cores = 2
          ret-stack = 2
          arg = [dispatch, "1000000000"]
        }
        long {
          image = [zoo-x86_64-fentry, zoo-riscv64-mcount, zoo-aarch64-mcount, zoo-s390x-mcount]
          arg = [fib, "60"]
        }
      }
      """;

  /** Cores of a fleet. */
  static final int CORES = 12;

  private final Process process;
  private final Process pacer;
  private final Path log;
  private final Thread reader;

  /**
   * Starts a fleet; returns when it sends.
   *
   * @param launcher {@code retstack}, or another one
   * @param options of {@code retstack emulate}: which Kafka, which topics
   */
  TestFleet(Processes processes, Path folder, String launcher, String options) throws IOException {
    Path file = Files.writeString(Files.createTempFile(folder, "fleet", ".conf"), FILE);
    String line = "exec %s emulate --fleet %s %s".formatted(launcher, file, options);
    process =
        processes.start(
            processes
                .retstack(folder, line)
                .redirectOutput(Files.createTempFile(folder, "fleet", ".out").toFile()));
    BufferedReader notes = process.errorReader(UTF_8);
    log = Files.createTempFile(folder, "fleet", ".log");
    for (String note = notes.readLine(); !isSending(note); note = notes.readLine()) {
      keep(note, log);
    }
    reader = Thread.ofVirtual().start(() -> notes.lines().forEach(note -> keep(note, log)));
    pacer = processes.start(Pacer.of(process));
  }

  private static boolean isSending(String note) {
    if (note == null) {
      throw new AssertionError("the fleet ended");
    }
    return Pacer.hasSent(note);
  }

  private static void keep(String note, Path log) {
    try {
      Files.writeString(log, note + "\n", StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What it had to say. */
  String said() throws IOException {
    return Files.readString(log);
  }

  /** Lets it run for a while. */
  void run(long millis) throws InterruptedException {
    if (process.waitFor(millis, TimeUnit.MILLISECONDS)) {
      throw new AssertionError("the fleet ended by itself, exit " + process.exitValue());
    }
  }

  /** Ends its cores in order and waits until all that they sent is kept. */
  void end() throws Exception {
    Pacer.end(pacer, process);
    RetstackScript.signal("INT", process.pid());
    Processes.awaitEnd(process, ENDS_SECONDS);
    reader.join();
    assertThat(process.exitValue()).as(said()).isEqualTo(INTERRUPTED);
    assertThat(said())
        .containsPattern(
            "stopped: %d of %d cores ended, .* [0-9,]+ records in ".formatted(CORES, CORES));
  }
}
