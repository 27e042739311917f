package dev.retstack.service.support;

import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.nodes.Role;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A member in a process of its own, which signals can stop without a word. */
public final class MemberProcess implements AutoCloseable {
  private static final String LOG = "member.log";
  private static final String GC_LOG = "gc.log";
  private static final Waits WAITS = new Waits(Duration.ofSeconds(30));

  /** Of the heap in MiB, before and after a collection. */
  private static final Pattern COLLECTION = Pattern.compile("Pause .* (\\d+)M->(\\d+)M\\(");

  private final Process process;
  private final URI uri;

  private final Optional<Path> folder;

  /** Starts one that owns partitions of these topics and answers no questions. */
  public MemberProcess(LiveBench bench) throws IOException {
    this(bench, Optional.empty(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
  }

  /**
   * One with the heap of a small member that answers questions, as {@code retstack pipeline} would
   * run: it ends where it runs out of memory.
   *
   * @param folder where its logs are
   */
  public static MemberProcess small(LiveBench bench, Path folder) throws IOException {
    return new MemberProcess(
        bench,
        Optional.of(folder),
        "-XX:+UseG1GC",
        "-XX:TieredStopAtLevel=1", // the better compiler costs more than a short run gives back
        "-XX:+ExitOnOutOfMemoryError",
        "-Xlog:gc:file=" + folder.resolve(GC_LOG));
  }

  private MemberProcess(LiveBench bench, Optional<Path> folder, String... jvm) throws IOException {
    this.folder = folder;
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("--sun-misc-unsafe-memory-access=allow"));
    command.addAll(List.of(jvm));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(MemberProcess.class.getName(), bench.kafka().bootstrap()));
    command.add(bench.topics().prefix());
    command.add(folder.isPresent() ? "answers" : "");
    process =
        new ProcessBuilder(command)
            .redirectError(
                folder
                    .map(in -> ProcessBuilder.Redirect.to(in.resolve(LOG).toFile()))
                    .orElse(ProcessBuilder.Redirect.DISCARD))
            .start();
    BufferedReader said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = said.readLine();
    while (line != null && !line.startsWith("http")) {
      line = said.readLine();
    }
    if (line == null) {
      throw new IOException("the member ended without having said where it answers");
    }
    uri = URI.create(line);
  }

  /**
   * The member itself: arguments are Kafka's address, the prefix of the topics, and whether it
   * answers questions.
   */
  public static void main(String[] arguments) throws Exception {
    Topics topics = new Topics(arguments[1]);
    PipelineConfig config =
        PipelineConfig.of(KafkaSettings.of(arguments[0]))
            .but()
            .topics(topics)
            .groupId(topics.prefix())
            .partitions(LiveBench.PARTITIONS)
            .roles(
                EnumSet.copyOf(
                    arguments[2].isEmpty() ? List.of(Role.INGEST) : List.of(Role.values())))
            .http("127.0.0.1", 0)
            .build();
    Pipeline pipeline = PipelineService.start(config);
    System.out.println(pipeline.httpUri());
    System.out.flush();
  }

  /** Where it answers. */
  public URI uri() {
    return uri;
  }

  /** Whether it runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** What it had to say. */
  public String said() throws IOException {
    return Files.readString(folder.orElseThrow().resolve(LOG));
  }

  /** The most that its heap held. */
  public long heapPeakMiB() throws IOException {
    return collections().mapToLong(found -> Long.parseLong(found.group(1))).max().orElse(0);
  }

  /** The most that its heap held after a collection. */
  public long heapLeastPeakMiB() throws IOException {
    return collections().mapToLong(found -> Long.parseLong(found.group(2))).max().orElse(0);
  }

  private Stream<MatchResult> collections() throws IOException {
    return COLLECTION.matcher(Files.readString(folder.orElseThrow().resolve(GC_LOG))).results();
  }

  /** Stops it, and returns when the kernel has stopped each of its threads. */
  public void freeze() throws Exception {
    signal("STOP");
    Path tasks = Path.of("/proc", String.valueOf(process.pid()), "task");
    WAITS.await(
        "all threads are stopped",
        () -> {
          try (Stream<Path> each = Files.list(tasks)) {
            return each.allMatch(MemberProcess::isStopped);
          }
        });
  }

  /** Whether a thread runs no more; see proc(5), the state of {@code stat}. */
  private static boolean isStopped(Path task) {
    try {
      String stat = Files.readString(task.resolve("stat"));
      return stat.startsWith(") T", stat.lastIndexOf(')'));
    } catch (IOException _) {
      return true; // it has ended meanwhile
    }
  }

  /** Lets it run again. */
  public void thaw() throws Exception {
    signal("CONT");
  }

  private void signal(String name) throws Exception {
    Process kill =
        new ProcessBuilder(List.of("sh", "-c", "kill -" + name + " " + process.pid())).start();
    if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
      throw new IOException("no signal " + name);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
