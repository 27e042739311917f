package dev.retstack.cli.source;

import dev.retstack.cli.CommandException;
import dev.retstack.cli.Terminal;
import dev.retstack.cli.option.KafkaOptions;
import dev.retstack.service.LiveAccess;
import dev.retstack.service.LiveClient;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.query.HttpToken;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** A running pipeline: where it answers, or in which cluster its members say so. */
public final class LiveOptions {
  /** Where {@code retstack pipeline} answers unless told otherwise. */
  public static final String PIPELINE = "http://127.0.0.1:7070";

  @Option(
      names = {"--http", "--url"},
      paramLabel = "URL",
      description =
          "Where the pipeline answers (default: what its members say in the Kafka cluster that was"
              + " named; without one "
              + PIPELINE
              + ").")
  private URI http;

  @Option(
      names = "--group",
      defaultValue = PipelineConfig.DEFAULT_GROUP,
      paramLabel = "NAME",
      description = "Consumer group of the pipeline in that cluster (default: ${DEFAULT-VALUE}).")
  private String group;

  @Option(
      names = "--http-token-file",
      paramLabel = "FILE",
      description = "Show the token in this file, where the pipeline wants one.")
  private Path tokenFile;

  @Option(
      names = "--http-ca",
      paramLabel = "FILE",
      description = "Trust the certificates in this PEM file, for a pipeline that serves HTTPS.")
  private Path ca;

  @Option(
      names = "--http-cert",
      paramLabel = "FILE",
      description =
          "Show the certificate in this PEM file, where the pipeline lets clients in by those.")
  private Path certificate;

  @Option(
      names = "--http-key",
      paramLabel = "FILE",
      description = "The certificate's private key: a PEM file, PKCS #8 without a password.")
  private Path key;

  private LiveAccess access() {
    if ((certificate == null) != (key == null)) {
      throw CommandException.badInput("give --http-cert and --http-key together");
    }
    try {
      Optional<LiveAccess.Identity> shown =
          Optional.ofNullable(certificate).map(file -> new LiveAccess.Identity(file, key));
      return new LiveAccess(
          Optional.ofNullable(tokenFile).map(HttpToken::read),
          ca == null && shown.isEmpty()
              ? Optional.empty()
              : Optional.of(LiveAccess.tls(Optional.ofNullable(ca), shown)));
    } catch (IllegalArgumentException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
  }

  /**
   * Asks the running pipeline.
   *
   * @param resource such as {@code report}
   * @param parameters such as {@code format=text}
   * @throws CommandException where nobody answers, or with an error
   */
  public String ask(
      String resource, Map<String, String> parameters, KafkaOptions kafka, Terminal terminal)
      throws InterruptedException {
    LiveClient.Reply reply;
    try {
      Deque<URI> members = new ArrayDeque<>(LiveMembers.of(http, group, kafka, terminal));
      boolean given = http != null || tokenFile == null;
      if (!given && !members.stream().allMatch(LiveAccess::keepsSecrets)) {
        throw new IOException(
            "the token could be read on its way to %s, as found on Kafka: name an address with --http"
                .formatted(members));
      }
      reply = ask(resource, parameters, members);
    } catch (LiveClient.RefusedException e) {
      throw CommandException.badInput(e.getMessage(), e);
    } catch (IOException e) {
      throw CommandException.environment(
          e.getMessage() + "; start one with \"retstack pipeline\", or name it with --http", e);
    }
    if (!reply.missing().isEmpty()) {
      terminal.note(
          "partitions %s are missing in this answer; resource /parts of the pipeline says why"
              .formatted(reply.missing()));
    }
    return reply.body();
  }

  /** Asks the first that answers: one that ended without a word may still be in the list. */
  private LiveClient.Reply ask(String resource, Map<String, String> parameters, Deque<URI> members)
      throws IOException, InterruptedException {
    LiveAccess access = access();
    while (true) {
      try (LiveClient client = new LiveClient(members.poll(), access)) {
        return client.ask(resource, parameters);
      } catch (LiveClient.UnreachableException e) {
        if (members.isEmpty()) {
          throw e;
        }
      }
    }
  }
}
