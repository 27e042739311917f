package dev.retstack.service.support;

import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/** A client that shows what was really answered: status, headers, text. */
public final class HttpAsk implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final URI base;
  private final HttpClient http;

  public HttpAsk(URI base) {
    this(base, Optional.empty());
  }

  /** Trusts what the context trusts. */
  public HttpAsk(URI base, Optional<SSLContext> trust) {
    this.base = base;
    HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
    trust.ifPresent(builder::sslContext);
    this.http = builder.build();
  }

  /**
   * Asks.
   *
   * @param headers name, value, name, value, ...
   */
  public HttpResponse<String> get(String pathAndQuery, String... headers) throws Exception {
    return http.send(request(pathAndQuery, headers), HttpResponse.BodyHandlers.ofString());
  }

  /** Asks for something that has no end; close the body. */
  public HttpResponse<InputStream> open(String pathAndQuery, String... headers) throws Exception {
    return http.send(request(pathAndQuery, headers), HttpResponse.BodyHandlers.ofInputStream());
  }

  /** Sends a body. */
  public HttpResponse<String> post(String path, String body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(base.resolve(path))
            .timeout(PATIENCE)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest request(String pathAndQuery, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(base.resolve(pathAndQuery)).timeout(PATIENCE);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return request.build();
  }

  @Override
  public void close() {
    http.shutdownNow();
    http.close();
  }
}
