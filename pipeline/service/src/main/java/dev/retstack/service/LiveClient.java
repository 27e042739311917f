package dev.retstack.service;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.LiveAccess;
import dev.retstack.answers.question.Questions;
import dev.retstack.schema.Node;
import dev.retstack.service.identity.MemberQuestion;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;

/** Asks a running pipeline over HTTP. */
public final class LiveClient implements AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration ANSWER = Duration.ofSeconds(60);
  private static final String MISSING = "; missing=";

  /** Statuses of questions that make no sense, or are about something that is not there. */
  private static final Set<Integer> AT_FAULT = Set.of(400, 404, 409, 410, 413, 414, 422);

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The address does not answer at all; another member may. */
  public static final class UnreachableException extends IOException {
    private static final long serialVersionUID = 1;

    UnreachableException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** A member that runs does not answer this: the question itself is at fault. */
  public static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1;

    RefusedException(String message) {
      super(message);
    }
  }

  /**
   * An answer.
   *
   * @param bytes its text in UTF-8, or what else was asked for
   * @param missing partitions that are not in it, as {@code 1,4}; empty where all are
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
  public record Reply(byte[] bytes, String missing) {
    /** Body as text. */
    public String body() {
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  private final URI base;
  private final Optional<Node> member;
  private final LiveAccess access;
  private final HttpClient http;

  /**
   * A client of one member.
   *
   * @param base its address, such as {@code http://127.0.0.1:8080}
   */
  public LiveClient(URI base) {
    this(base, LiveAccess.OPEN);
  }

  /**
   * A client of a member that wants to know who asks.
   *
   * @param base its address, such as {@code https://node-1:7070}
   * @param access token, and whom to trust
   */
  public LiveClient(URI base, LiveAccess access) {
    this(base, Optional.empty(), access);
  }

  /**
   * A client of a member that was found in Kafka: it has to prove who it is, and no secret is sent
   * to it.
   */
  public LiveClient(Node member, LiveAccess access) {
    this(URI.create(member.getUrl()), Optional.of(member), access);
  }

  private LiveClient(URI base, Optional<Node> member, LiveAccess access) {
    this.base = base;
    this.member = member;
    this.access = access;
    HttpClient.Builder builder = HttpClient.newBuilder().connectTimeout(CONNECT);
    access.trust().ifPresent(builder::sslContext);
    this.http = builder.build();
  }

  /**
   * Asks for a resource such as {@code report}, {@code graph}, {@code anomalies}, {@code cores} or
   * {@code stats}.
   *
   * @param parameters such as {@code format=text}
   * @return the answer's text
   * @throws IOException when nobody answers, or the answer is an error: the message has its cure
   */
  public String get(String resource, Map<String, String> parameters)
      throws IOException, InterruptedException {
    return ask(resource, parameters).body();
  }

  /** Asks for a resource. Returns the answer and what is missing in it. */
  public Reply ask(String resource, Map<String, String> parameters)
      throws IOException, InterruptedException {
    String query =
        parameters.entrySet().stream()
            .map(p -> encode(p.getKey()) + "=" + encode(p.getValue()))
            .collect(Collectors.joining("&"));
    String question = "/" + resource + (query.isEmpty() ? "" : "?" + query);
    URI uri = base.resolve(question);
    MemberQuestion.Answer answer;
    try {
      answer = member.isPresent() ? askMember(member.get(), question) : askNamed(uri);
    } catch (IOException e) {
      throw new UnreachableException(
          "no answer from %s: %s: %s"
              .formatted(
                  uri,
                  e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage(),
                  e instanceof SSLException
                      ? "one of the two does not trust the other: see --http-ca, --http-cert"
                      : "is a pipeline running there?"),
          e);
    }
    if (answer.status() != 200) {
      throw failure(uri, answer);
    }
    return new Reply(answer.body(), missing(answer));
  }

  private MemberQuestion.Answer askMember(Node found, String question)
      throws IOException, InterruptedException {
    return MemberQuestion.to(found, http, ANSWER).askWhole(question, access.token());
  }

  /** The user named it: it gets the token. */
  private MemberQuestion.Answer askNamed(URI uri) throws IOException, InterruptedException {
    HttpRequest.Builder asked = HttpRequest.newBuilder(uri).timeout(ANSWER);
    access.token().ifPresent(token -> asked.header("Authorization", token.authorization()));
    HttpResponse<byte[]> response =
        http.send(asked.build(), HttpResponse.BodyHandlers.ofByteArray());
    return new MemberQuestion.Answer(
        response.statusCode(),
        response.headers().firstValue(Questions.PARTITIONS).orElse(""),
        response.body());
  }

  private static String missing(MemberQuestion.Answer answer) {
    String covered = answer.partitions();
    int at = covered.indexOf(MISSING);
    return at < 0 ? "" : covered.substring(at + MISSING.length());
  }

  private static IOException failure(URI uri, MemberQuestion.Answer answer) {
    int status = answer.status();
    try {
      JsonNode body = JSON.readTree(text(answer));
      if (body != null && body.hasNonNull("error")) {
        String said =
            "%s: %s: %s".formatted(uri, body.path("error").asText(), body.path("cure").asText());
        return AT_FAULT.contains(status) ? new RefusedException(said) : new IOException(said);
      }
    } catch (JacksonException e) {
      return new IOException(
          "%s: answer %d that is not JSON: is this a pipeline?".formatted(uri, status), e);
    }
    return new IOException("%s: answer %d: %s".formatted(uri, status, text(answer)));
  }

  private static String text(MemberQuestion.Answer answer) {
    return new String(answer.body(), StandardCharsets.UTF_8);
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    http.close();
  }
}
