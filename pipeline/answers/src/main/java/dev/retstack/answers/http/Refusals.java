package dev.retstack.answers.http;

import static org.apache.pekko.http.javadsl.server.Directives.complete;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.retstack.graph.limits.AnswerTooLargeException;
import dev.retstack.schema.wire.Visible;
import java.util.Collection;
import java.util.concurrent.CompletionException;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.ExceptionHandler;
import org.apache.pekko.http.javadsl.server.MethodRejection;
import org.apache.pekko.http.javadsl.server.RejectionHandler;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.http.scaladsl.model.ExceptionWithErrorInfo;

/**
 * Every refusal in one form: <code>{"error": the fact, "cure": what to do}</code>, from the parser
 * of requests as from a partition.
 */
public final class Refusals {
  private static final String CURE_URI = "percent-encode all but letters and digits, as UTF-8";

  private Refusals() {}

  /**
   * A refusal.
   *
   * @param status 429 and 503 pass, and say when to come back
   */
  public static HttpResponse error(int status, String fact, String cure) {
    String body =
        JsonNodeFactory.instance.objectNode().put("error", fact).put("cure", cure).toString();
    HttpResponse response =
        HttpResponse.create()
            .withStatus(status)
            .withEntity(
                HttpEntities.create(ContentTypes.APPLICATION_JSON, Visible.lines(body + "\n")));
    boolean passes = status == 429 || status == 503;
    return passes ? response.addHeader(RawHeader.create("Retry-After", "1")) : response;
  }

  /** 405 for every method but GET. */
  static HttpResponse notGet() {
    return error(405, "method not allowed", "use GET")
        .addHeader(RawHeader.create("Allow", "GET, HEAD"));
  }

  /** 405 for every method but POST, where only that is meant. */
  public static HttpResponse notPost() {
    return error(405, "method not allowed", "use POST")
        .addHeader(RawHeader.create("Allow", "POST"));
  }

  /** No answer within the time that a request may take. */
  public static HttpResponse late() {
    return error(503, "no answer in time", "ask again, or for less");
  }

  /** What a failure means to who asked. */
  public static HttpResponse failed(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return switch (cause) {
      case BadRequestException bad -> error(bad.status(), bad.getMessage(), bad.cure());
      case AnswerTooLargeException large -> error(413, large.getMessage(), large.cure());
      case ExceptionWithErrorInfo unreadable ->
          error(400, "the address cannot be read: " + unreadable.info().summary(), CURE_URI);
      default -> error(503, "no answer from a partition: " + cause, "ask again; it may be moving");
    };
  }

  public static ExceptionHandler failures() {
    return ExceptionHandler.newBuilder().matchAny(failure -> complete(failed(failure))).build();
  }

  /**
   * What no route takes.
   *
   * @param served named to a caller who asked for something else
   */
  public static RejectionHandler rejections(Collection<Endpoint> served) {
    Route unknown = complete(error(404, "no such resource", "use " + Endpoint.paths(served)));
    Route notGet = complete(notGet());
    return RejectionHandler.newBuilder()
        .handleNotFound(unknown)
        .handleAll(MethodRejection.class, _ -> notGet)
        .build();
  }
}
