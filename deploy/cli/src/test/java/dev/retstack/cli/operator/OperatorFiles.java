package dev.retstack.cli.operator;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import dev.retstack.cli.Main;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.house.Repository;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.ParameterException;

/** What an operator copies from deploy/, read strictly. */
final class OperatorFiles {
  /** Refuses fields that a model does not have. */
  static final ObjectMapper YAML =
      new ObjectMapper(new YAMLFactory())
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY);

  private OperatorFiles() {}

  /** A path under deploy/. */
  static Path deploy(String path) {
    return Repository.root().resolve("deploy").resolve(path);
  }

  /** All documents of a YAML file. */
  static List<JsonNode> documents(Path file) throws IOException {
    try (YAMLParser parser = new YAMLFactory().createParser(file.toFile());
        MappingIterator<JsonNode> all = YAML.readerFor(JsonNode.class).readValues(parser)) {
      return all.readAll();
    }
  }

  /** What the command says against these words of a command line; empty where it takes them. */
  static Optional<String> refusal(List<String> words) {
    try {
      Main.commandLine(Terminal.system()).parseArgs(words.toArray(String[]::new));
      return Optional.empty();
    } catch (ParameterException e) {
      return Optional.of(e.getMessage());
    }
  }
}
