package dev.retstack.service.query;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.extractRequest;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.handleExceptions;
import static org.apache.pekko.http.javadsl.server.Directives.handleRejections;
import static org.apache.pekko.http.javadsl.server.Directives.mapResponse;
import static org.apache.pekko.http.javadsl.server.Directives.parameterMap;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.pathPrefix;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.retstack.graph.report.MixedUnitsException;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.export.Coverage;
import dev.retstack.service.metrics.Samples;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.Uri;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.ExceptionHandler;
import org.apache.pekko.http.javadsl.server.MethodRejection;
import org.apache.pekko.http.javadsl.server.RejectionHandler;
import org.apache.pekko.http.javadsl.server.Route;

/**
 * The HTTP side of a member: questions about what it has reconstructed, its health, and the schemas
 * of what it publishes. Answers are true for the partitions of this member; the header {@value
 * #PARTITIONS} says which.
 */
public final class HttpApi {
  /** Header of every answer: {@code owned=0,1; of=8}. */
  public static final String PARTITIONS = "Retstack-Partitions";

  /** First parts of the paths there are; clients cannot make the label grow. */
  private static final Set<String> PATHS =
      Set.of(
          "report",
          "graph",
          "anomalies",
          "stats",
          "cores",
          "health",
          "metrics",
          "subjects",
          "schemas",
          "config");

  private static final ContentType PROMETHEUS = ContentTypes.parse(Samples.CONTENT_TYPE);
  private static final Duration READY = Duration.ofSeconds(2);

  private final Queries queries;
  private final SchemaRoutes schemas;
  private final Scrape scrape;

  public HttpApi(Queries queries, Topics topics, Scrape scrape) {
    this.queries = queries;
    this.scrape = scrape;
    this.schemas = new SchemaRoutes(topics);
  }

  /** All routes. */
  public Route routes() {
    // one variable each: nested, their overloads cost the compiler minutes
    Route report = path("report", () -> answer(Answers::report));
    Route graph = path("graph", () -> answer(Answers::graph));
    Route anomalies = path("anomalies", () -> answer(Answers::anomalies));
    Route stats = path("stats", () -> answer(Answers::stats));
    Route cores = path("cores", this::cores);
    Route health = pathPrefix("health", this::health);
    Route metrics = path("metrics", this::metrics);
    Route all = concat(report, graph, anomalies, stats, cores, health, metrics, schemas.routes());
    Route getOnly = get(() -> all);
    Route known = handleRejections(rejections(), () -> getOnly);
    Route safe = handleExceptions(failures(), () -> known);
    return extractRequest(request -> counted(request.getUri(), safe));
  }

  private Route counted(Uri uri, Route route) {
    String path = uri.getPathString();
    int end = path.indexOf('/', 1);
    String first = path.isEmpty() ? "" : path.substring(1, end < 0 ? path.length() : end);
    String label = PATHS.contains(first) ? first : "other";
    return mapResponse(
        response -> {
          scrape.meters().answered(label, response.status().intValue());
          return response;
        },
        () -> route);
  }

  private Route health() {
    Route live = path("live", this::live);
    Route ready = path("ready", this::ready);
    return concat(live, ready);
  }

  private Route live() {
    return complete(json(200, "{\"status\":\"live\"}\n"));
  }

  private Route answer(BiFunction<View, Map<String, String>, String> renderer) {
    return parameterMap(parameters -> answer(renderer, parameters));
  }

  private Route answer(
      BiFunction<View, Map<String, String>, String> renderer, Map<String, String> parameters) {
    Format format = Answers.format(parameters);
    CompletionStage<HttpResponse> response =
        queries
            .view()
            .thenApply(
                view ->
                    text(format, renderer.apply(view, parameters))
                        .addHeader(covered(view.coverage())));
    return completeWithFuture(response.exceptionally(HttpApi::failed));
  }

  private Route cores() {
    return parameterMap(this::cores);
  }

  private Route cores(Map<String, String> parameters) {
    Format format = Answers.format(parameters);
    CompletionStage<HttpResponse> response =
        queries.cores().thenApply(cores -> text(format, Answers.cores(cores, parameters)));
    return completeWithFuture(response.exceptionally(HttpApi::failed));
  }

  private Route metrics() {
    CompletionStage<HttpResponse> response =
        scrape
            .text()
            .thenApply(
                text ->
                    HttpResponse.create()
                        .withEntity(HttpEntities.create(PROMETHEUS, text.getBytes(UTF_8))));
    return completeWithFuture(response.exceptionally(HttpApi::failed));
  }

  private static HttpResponse text(Format format, String body) {
    return HttpResponse.create().withEntity(HttpEntities.create(format.contentType(), body));
  }

  private Route ready() {
    CompletionStage<HttpResponse> response =
        queries
            .open(READY)
            .thenApply(
                open ->
                    json(200, "{\"status\":\"ready\"}\n")
                        .addHeader(covered(new Coverage(open, queries.partitionCount()))))
            .exceptionally(
                _ -> error(503, "a partition is still being loaded", "ask again in a moment"));
    return completeWithFuture(response);
  }

  private static HttpHeader covered(Coverage coverage) {
    String owned = coverage.owned().stream().map(String::valueOf).collect(Collectors.joining(","));
    return RawHeader.create(PARTITIONS, "owned=" + owned + "; of=" + coverage.of());
  }

  private ExceptionHandler failures() {
    return ExceptionHandler.newBuilder().matchAny(failure -> complete(failed(failure))).build();
  }

  private RejectionHandler rejections() {
    Route unknown =
        complete(
            error(
                404,
                "no such resource",
                "use /report /graph /anomalies /cores /stats /health/live /health/ready /metrics /subjects"
                    + " /schemas/ids/{id}"));
    Route notGet = complete(error(405, "method not allowed", "use GET"));
    return RejectionHandler.newBuilder()
        .handleNotFound(unknown)
        .handleAll(MethodRejection.class, _ -> notGet)
        .build();
  }

  private static HttpResponse failed(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    if (cause instanceof BadRequestException bad) {
      return error(bad.status(), bad.getMessage(), bad.cure());
    }
    if (cause instanceof MixedUnitsException mixed) {
      return error(409, mixed.getMessage(), "add ?unit=instructions or ?unit=nanoseconds");
    }
    return error(503, "no answer from a partition: " + cause, "ask again; it may be on the move");
  }

  static HttpResponse error(int status, String fact, String cure) {
    String body =
        JsonNodeFactory.instance.objectNode().put("error", fact).put("cure", cure).toString();
    return json(status, body + "\n");
  }

  private static HttpResponse json(int status, String body) {
    return HttpResponse.create()
        .withStatus(status)
        .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, body));
  }
}
