package dev.retstack.answers.http;

import org.apache.pekko.event.LoggingAdapter;
import org.apache.pekko.http.ParsingErrorHandler;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.scaladsl.model.ErrorInfo;
import org.apache.pekko.http.scaladsl.model.StatusCode;
import org.apache.pekko.http.scaladsl.settings.ServerSettings;

/**
 * Answers to bytes that cannot be read as HTTP, or are longer than allowed. Named in {@code
 * retstack-pekko.conf}; no route sees them. The connection is closed behind the answer, because the
 * start of the next request is unknown.
 */
public final class ParsingErrors extends ParsingErrorHandler {
  /** Pekko HTTP takes the one instance from a field of this name. */
  @SuppressWarnings({"checkstyle:ConstantName", "NonFinalStaticField"})
  public static final ParsingErrors MODULE$ = new ParsingErrors();

  private ParsingErrors() {}

  @Override
  public HttpResponse handle(
      StatusCode status, ErrorInfo error, LoggingAdapter log, ServerSettings settings) {
    return switch (status.intValue()) {
      case 413 -> Refusals.error(413, error.summary(), "send no body: questions have none");
      case 414 -> Refusals.error(414, error.summary(), "ask with a shorter address");
      case 431 -> Refusals.error(431, error.summary(), "send fewer and shorter headers");
      // a method that nobody knows is refused like one that everybody does
      case 501 -> Refusals.notGet();
      // a server that is at fault has another number than a client
      case 505 -> Refusals.error(400, error.summary(), "use HTTP/1.1");
      default -> Refusals.error(400, error.summary(), "send a request of HTTP/1.1");
    };
  }
}
