package dev.retstack.cli.result;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.answers.http.LiveAccess;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.schema.Node;
import dev.retstack.service.LiveClient;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.nodes.NodeRecords;
import dev.retstack.service.nodes.Role;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/**
 * Finds and asks a running pipeline: by its address, or by the cluster in which its members
 * announce themselves.
 */
public final class LiveOptions {
  /** Address of the pipeline by default. */
  public static final String PIPELINE = "http://127.0.0.1:7070";

  @Option(
      names = {"--http", "--url"},
      paramLabel = "URL",
      description =
          "Address of the pipeline (default: the one that its members announce in the Kafka cluster"
              + " that was named; without a cluster "
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
      description = "Show the token in this file, if the pipeline asks for one.")
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
          "Show the certificate in this PEM file, if the pipeline accepts clients by"
              + " certificate.")
  private Path certificate;

  @Option(
      names = "--http-key",
      paramLabel = "FILE",
      description = "The certificate's private key: a PEM file, PKCS #8 without a password.")
  private Path key;

  /**
   * Members that Kafka named: a verb that asks again asks Kafka only where none of them answers.
   */
  private List<Member> known = List.of();

  /**
   * A member, at an address that the user named, or found in Kafka.
   *
   * @param found what it says of itself; empty where the user named it
   */
  private record Member(URI url, Optional<Node> found) {
    static Member named(URI url) {
      return new Member(url, Optional.empty());
    }

    LiveClient client(LiveAccess access) {
      return found
          .map(node -> new LiveClient(node, access))
          .orElseGet(() -> new LiveClient(url, access));
    }
  }

  /** Reads an answer in JSON. */
  public static JsonNode read(String answer) throws IOException {
    return new ObjectMapper().readTree(answer);
  }

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
    return reply(resource, parameters, kafka, terminal).body();
  }

  /** A window of the running pipeline as a recorded trace, as {@link #ask}. */
  public byte[] trace(Map<String, String> window, KafkaOptions kafka, Terminal terminal)
      throws InterruptedException {
    return reply("trace", window, kafka, terminal).bytes();
  }

  /** Whether the user named the address of a pipeline. */
  public boolean isNamed() {
    return http != null;
  }

  private LiveClient.Reply reply(
      String resource, Map<String, String> parameters, KafkaOptions kafka, Terminal terminal)
      throws InterruptedException {
    LiveClient.Reply reply;
    try {
      reply = replyOfKnown(resource, parameters).orElse(null);
      if (reply == null) {
        known = members(kafka, terminal);
        requirePrivate();
        reply = ask(resource, parameters, new ArrayDeque<>(known));
      }
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
    return reply;
  }

  /** An answer that only who has the token may read is not sent where others can read it. */
  private void requirePrivate() throws IOException {
    List<URI> readable =
        known.stream()
            .filter(member -> tokenFile != null && member.found().isPresent())
            .map(Member::url)
            .filter(url -> !LiveAccess.keepsSecrets(url))
            .toList();
    if (!readable.isEmpty()) {
      throw new IOException(
          "the answer would travel unencrypted from %s, which Kafka named: name an address with --http"
              .formatted(readable));
    }
  }

  private Optional<LiveClient.Reply> replyOfKnown(String resource, Map<String, String> parameters)
      throws IOException, InterruptedException {
    if (known.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(ask(resource, parameters, new ArrayDeque<>(known)));
    } catch (LiveClient.UnreachableException e) {
      return Optional.empty(); // there may be others by now
    }
  }

  /**
   * Addresses of members, best first; any of them answers for all.
   *
   * @throws IOException where Kafka was named and knows of no member
   */
  private List<Member> members(KafkaOptions kafka, Terminal terminal) throws IOException {
    if (http != null) {
      return List.of(Member.named(http));
    }
    if (!kafka.isConfigured(terminal)) {
      return List.of(Member.named(URI.create(PIPELINE)));
    }
    KafkaLink link = kafka.link(terminal);
    List<Member> members =
        NodeRecords.running(link.settings(), link.topics(), group).stream()
            .filter(node -> node.getRoles().contains(Role.QUERY.word()))
            .map(node -> new Member(URI.create(node.getUrl()), Optional.of(node)))
            .toList();
    if (members.isEmpty()) {
      throw new IOException(
          "no member of group %s that answers questions has announced itself on Kafka at %s, as far as the group names it"
              .formatted(group, link.settings().bootstrap()));
    }
    return members;
  }

  /**
   * Asks the members in turn until one answers: the list may still have a member that has crashed.
   */
  private LiveClient.Reply ask(
      String resource, Map<String, String> parameters, Deque<Member> members)
      throws IOException, InterruptedException {
    LiveAccess access = access();
    while (true) {
      try (LiveClient client = members.poll().client(access)) {
        return client.ask(resource, parameters);
      } catch (LiveClient.UnreachableException e) {
        if (members.isEmpty()) {
          throw e;
        }
      }
    }
  }
}
