package dev.retstack.service.support;

import dev.retstack.schema.wire.Topics;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.ingest.KafkaSettings;
import dev.retstack.service.nodes.Role;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A member in a process of its own, which signals can stop without a word. */
public final class MemberProcess implements AutoCloseable {
  private final Process process;
  private final URI uri;

  /** Starts one that owns partitions of these topics and answers no questions. */
  public MemberProcess(LiveBench bench) throws IOException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("java.class.path"),
                MemberProcess.class.getName(),
                bench.kafka().bootstrap(),
                bench.topics().prefix())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
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

  /** The member itself: arguments are Kafka's address and the prefix of the topics. */
  public static void main(String[] arguments) throws Exception {
    Topics topics = new Topics(arguments[1]);
    PipelineConfig config =
        PipelineConfig.of(KafkaSettings.of(arguments[0]))
            .but()
            .topics(topics)
            .groupId(topics.prefix())
            .partitions(LiveBench.PARTITIONS)
            .roles(EnumSet.of(Role.INGEST))
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

  /** Sends a signal, such as {@code STOP} or {@code CONT}. */
  public void signal(String name) throws Exception {
    Process kill =
        new ProcessBuilder(List.of("kill", "-" + name, String.valueOf(process.pid()))).start();
    if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
      throw new IOException("no signal " + name);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
