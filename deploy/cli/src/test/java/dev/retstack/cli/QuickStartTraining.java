package dev.retstack.cli;

import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.house.Repository;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.ingest.KafkaSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What most processes of tests do, in one JVM: {@link QuickStart} keeps what it learns. */
final class QuickStartTraining {
  private QuickStartTraining() {}

  /** Runs; the argument is a folder for its files. */
  public static void main(String[] args) throws Exception {
    System.setProperty("retstack.root", Repository.root().toString());
    Path folder = Files.createDirectories(Path.of(args[0]));
    String trace = folder.resolve("trace.avro").toString();
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"), 0);
        Pipeline pipeline =
            PipelineService.start(PipelineConfig.of(KafkaSettings.of(broker.bootstrap())))) {
      List<String> cluster = List.of("--bootstrap", broker.bootstrap());
      run(cluster, "emulate", "--image", "zoo-x86_64-fentry", "--arg", "fib", "--arg", "5");
      run(cluster, "report", "--live");
      run(cluster, "top", "--once");
      run(cluster, "record", "--from-kafka", "-o", trace);
      run(List.of(trace), "report");
      run(List.of(trace), "anomalies");
      assert pipeline.httpUri() != null;
    }
  }

  private static void run(List<String> more, String... line) {
    List<String> all = new java.util.ArrayList<>(List.of(line));
    all.addAll(more);
    Ran ran = Ran.retstack(all.toArray(String[]::new));
    System.out.println(String.join(" ", all) + ": exit " + ran.code() + " " + ran.err());
  }
}
