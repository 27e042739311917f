package dev.retstack.service.query;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.Endpoint;
import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.answers.http.LiveAccess;
import dev.retstack.schema.Node;
import dev.retstack.service.identity.MemberQuestion;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/** Asks other members for their parts. No answer of a member is an answer as well. */
final class PeerClient implements AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(3);

  /** A member that runs begins its answer at once. */
  private static final Duration FIRST = Duration.ofSeconds(5);

  /** Time to wait for a member that was not reached a moment ago; it may be back. */
  private static final Duration SILENT = Duration.ofSeconds(1);

  /** Bytes read of an answer that is none. */
  private static final int REFUSAL_MAX = 4096;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration ALL = Duration.ofSeconds(30);

  /**
   * What a member said.
   *
   * @param failure why it is not all; empty where it is
   */
  record MemberAnswer(Node node, List<Part> parts, String failure) {
    MemberAnswer {
      parts = List.copyOf(parts);
    }
  }

  private final HttpClient http;
  private final Optional<HttpToken> token;
  private final boolean guarded;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  PeerClient(HttpSettings settings) {
    HttpClient.Builder builder =
        HttpClient.newBuilder().connectTimeout(CONNECT).version(HttpClient.Version.HTTP_1_1);
    settings.tls().ifPresent(tls -> builder.sslContext(tls.peers()));
    this.http = builder.build();
    this.token = settings.token();
    this.guarded = token.isPresent() || settings.tls().isPresent();
  }

  /**
   * Asks one member; the answer always comes.
   *
   * @param isSilent whether it was not reached a moment ago
   */
  CompletableFuture<MemberAnswer> ask(
      Node node, Part.Wanted wanted, HeapRoom.Share room, boolean isSilent) {
    Duration first = isSilent ? SILENT : FIRST;
    List<Part> parts = new ArrayList<>();
    AtomicReference<InputStream> body = new AtomicReference<>();
    return CompletableFuture.runAsync(
            completing(() -> read(node, wanted, room, first, body, parts)), threads)
        .orTimeout(ALL.toSeconds(), TimeUnit.SECONDS)
        .handle(
            (_, failure) -> {
              closeQuietly(body.get());
              synchronized (parts) {
                String why = failure == null ? "" : why(failure, first);
                return new MemberAnswer(node, parts, why);
              }
            });
  }

  /** Whether a member is reached: empty where it is, otherwise why not. */
  CompletableFuture<String> look(Node node) {
    return CompletableFuture.runAsync(completing(() -> checkLive(node)), threads)
        .handle((_, failure) -> failure == null ? "" : why(failure, FIRST));
  }

  private void checkLive(Node node) throws IOException, InterruptedException {
    var _ = MemberQuestion.to(node, http, FIRST);
  }

  /** A question to a member. */
  private interface Exchange {
    void run() throws IOException, InterruptedException;
  }

  /** The exchange as a task of a future, which fails with what went wrong. */
  private static Runnable completing(Exchange exchange) {
    return () -> {
      try {
        exchange.run();
      } catch (IOException | IllegalArgumentException e) {
        throw new CompletionException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CompletionException(e);
      }
    };
  }

  private void read(
      Node node,
      Part.Wanted wanted,
      HeapRoom.Share room,
      Duration first,
      AtomicReference<InputStream> body,
      List<Part> parts)
      throws IOException, InterruptedException {
    String what = wanted.kind().name().toLowerCase(Locale.ROOT);
    String query =
        "?what=%s%s%s"
            .formatted(
                what, parameter("core", wanted.core()), parameter("session", wanted.session()));
    URI url = URI.create(node.getUrl()); // a sound one: others are not in the table
    if (guarded && !LiveAccess.keepsSecrets(url)) {
      throw new IOException(
          "it announces %s, on whose way token and answer could be read".formatted(url));
    }
    MemberQuestion question = MemberQuestion.to(node, http, first);
    HttpResponse<InputStream> response =
        question.ask(
            Endpoint.PARTS_OF.path() + query, token, HttpResponse.BodyHandlers.ofInputStream());
    body.set(response.body());
    if (response.statusCode() != 200) {
      throw new IOException(refusal(response));
    }
    PartStream.read(
        response.body(),
        room,
        question.seal(),
        question::isSigned,
        part -> {
          synchronized (parts) {
            parts.add(part);
          }
        });
  }

  private static String parameter(String name, String value) {
    return value.isEmpty() ? "" : "&" + name + "=" + URLEncoder.encode(value, UTF_8);
  }

  /** Status and, where the answer gives one, the reason. */
  private static String refusal(HttpResponse<InputStream> response) throws IOException {
    String text = new String(response.body().readNBytes(REFUSAL_MAX), UTF_8);
    String reason;
    try {
      reason = JSON.readTree(text).path("error").asText();
    } catch (JacksonException e) {
      reason = "";
    }
    return "it answered " + response.statusCode() + (reason.isEmpty() ? "" : ": " + reason);
  }

  private static String why(Throwable failure, Duration first) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (cause instanceof HttpConnectTimeoutException) {
      return "no connection within " + CONNECT.toSeconds() + " s";
    }
    if (cause instanceof HttpTimeoutException) {
      return "no answer within " + first.toSeconds() + " s";
    }
    if (cause instanceof TimeoutException) {
      return "no whole answer within " + ALL.toSeconds() + " s";
    }
    if (cause instanceof EOFException) {
      return "its answer was cut off";
    }
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  private static void closeQuietly(InputStream body) {
    if (body != null) {
      try {
        body.close();
      } catch (IOException _) {
        // it is of no use any more
      }
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
    threads.shutdownNow();
  }
}
