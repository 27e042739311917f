package dev.retstack.cli.source;

import dev.retstack.cli.CommandException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Asks a running pipeline over HTTP. */
public final class PipelineClient implements AutoCloseable {
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration ANSWER = Duration.ofSeconds(60);
  private static final int ERROR_TEXT_MAX = 300;

  private final URI base;
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(CONNECT).build();

  /**
   * Asks at this address.
   *
   * @param base such as {@code http://127.0.0.1:7070}
   */
  public PipelineClient(URI base) {
    this.base = base;
  }

  /**
   * The body of the answer.
   *
   * @param pathAndQuery such as {@code /report?format=text}
   * @throws CommandException where nobody answers, or with an error
   */
  public InputStream get(String pathAndQuery) throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(base.resolve(pathAndQuery)).timeout(ANSWER).GET().build();
    try {
      HttpResponse<InputStream> answer =
          client.send(request, HttpResponse.BodyHandlers.ofInputStream());
      if (answer.statusCode() != 200) {
        try (InputStream body = answer.body()) {
          throw CommandException.environment(
              "the pipeline at %s refuses %s: %d %s"
                  .formatted(base, pathAndQuery, answer.statusCode(), firstWords(body)));
        }
      }
      return answer.body();
    } catch (IOException e) {
      throw CommandException.environment(
          "no pipeline answers at %s (%s): start one with \"retstack pipeline\", or name it with --http"
              .formatted(base, e),
          e);
    }
  }

  private static String firstWords(InputStream body) throws IOException {
    return new String(body.readNBytes(ERROR_TEXT_MAX), StandardCharsets.UTF_8).strip();
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
