package dev.retstack.service.query;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.encodeResponse;
import static org.apache.pekko.http.javadsl.server.Directives.extractRequest;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.handleExceptions;
import static org.apache.pekko.http.javadsl.server.Directives.handleRejections;
import static org.apache.pekko.http.javadsl.server.Directives.mapResponse;
import static org.apache.pekko.http.javadsl.server.Directives.optionalHeaderValueByName;
import static org.apache.pekko.http.javadsl.server.Directives.parameterMap;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.pathPrefix;
import static org.apache.pekko.http.javadsl.server.Directives.withRequestTimeoutResponse;

import dev.retstack.schema.Node;
import dev.retstack.schema.wire.Topics;
import dev.retstack.schema.wire.Visible;
import dev.retstack.service.http.Access;
import dev.retstack.service.http.BadRequestException;
import dev.retstack.service.http.Endpoint;
import dev.retstack.service.http.HeapRoom;
import dev.retstack.service.http.HttpSettings;
import dev.retstack.service.http.Page;
import dev.retstack.service.http.QueryGate;
import dev.retstack.service.http.Refusals;
import dev.retstack.service.http.RequestDeadline;
import dev.retstack.service.http.SchemaRoutes;
import dev.retstack.service.metrics.Samples;
import dev.retstack.service.nodes.Role;
import dev.retstack.service.table.Format;
import dev.retstack.service.view.Coverage;
import dev.retstack.service.view.PartRow;
import dev.retstack.service.view.TimelineView;
import dev.retstack.service.web.PageRoutes;
import dev.retstack.service.window.WindowQuestion;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpCharsets;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.Uri;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.PathMatcher0;
import org.apache.pekko.http.javadsl.server.PathMatchers;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.stream.javadsl.Flow;

/**
 * The HTTP side of a member: questions about what the job has reconstructed, this member's health,
 * and the schemas of what is published. Any member answers for all: the headers {@value
 * #PARTITIONS} and {@value #PARTS} say which partitions are in an answer, and from whom.
 */
public final class HttpApi {
  /** Header of every answer: {@code owned=0,1; of=8}, and {@code ; missing=2} where some are. */
  public static final String PARTITIONS = "Retstack-Partitions";

  /** Header of answers of the whole job: {@code 0=host:7070 age=12 lag=0, 1=missing}. */
  public static final String PARTS = "Retstack-Parts";

  /** Header of answers about a time: {@code cores=1; chunks=3; records=9; fetched=4096; ms=7}. */
  public static final String WINDOW = "Retstack-Window";

  private static final ContentType EVENT_STREAM = MediaTypes.TEXT_EVENT_STREAM.toContentType();
  private static final PathMatcher0 EVENTS = PathMatchers.segment("anomalies").slash("events");
  private static final ContentType PROMETHEUS = ContentTypes.parse(Samples.CONTENT_TYPE);
  private static final PathMatcher0 OPEN_CALLS = PathMatchers.segment("calls").slash("open");
  private static final PathMatcher0 OWN_PARTS = PathMatchers.segment("parts").slash("own");

  /** Between an answer and the next question on one connection. */
  private static final Duration KEPT = Duration.ofSeconds(60);

  private final Job job;
  private final Windows windows;
  private final Readiness readiness;
  private final SchemaRoutes schemas;
  private final Scrape scrape;
  private final AnomalyEvents followers;
  private final QueryGate gate;
  private final OwnParts own;
  private final Access access;
  private final Duration patience;

  /** The HTTP side of a member. */
  public HttpApi(
      Job job,
      Windows windows,
      Readiness readiness,
      Topics topics,
      Scrape scrape,
      AnomalyEvents followers,
      HttpSettings http) {
    this.job = job;
    this.windows = windows;
    this.readiness = readiness;
    this.scrape = scrape;
    this.followers = followers;
    this.access = new Access(http);
    this.patience = http.patience();
    this.gate = new QueryGate("queries", http.queriesMax(), scrape.meters().queries());
    this.own = new OwnParts(job.own(), job.room());
    this.schemas = new SchemaRoutes(topics);
  }

  /** What answers on one connection. */
  public Flow<HttpRequest, HttpResponse, NotUsed> flow(ActorSystem<?> system) {
    return RequestDeadline.around(routes().flow(system), patience, KEPT);
  }

  private Route routes() {
    // one variable each: nested, their overloads cost the compiler minutes
    Route report = path("report", () -> answer(Endpoint.REPORT, Answers::report));
    Route graph = path("graph", () -> answer(Endpoint.GRAPH, Answers::graph));
    Route anomalies = path("anomalies", () -> answer(Endpoint.ANOMALIES, Answers::anomalies));
    Route edges = path("edges", () -> answer(Endpoint.EDGES, Answers::edges));
    Route open = path(OPEN_CALLS, () -> answer(Endpoint.OPEN_CALLS, Answers::openCalls));
    Route sessions = path("sessions", () -> cores(Endpoint.SESSIONS, Answers::sessions));
    Route lossless =
        path("completeness", () -> cores(Endpoint.COMPLETENESS, Answers::completeness));
    Route events = path(EVENTS, this::events);
    Route stats = path("stats", () -> answer(Endpoint.STATS, Answers::stats));
    Route openapi = path("openapi.json", () -> complete(json(200, OpenApi.document())));
    Route cores = path("cores", () -> cores(Endpoint.CORES, Answers::cores));
    Route parts = path("parts", () -> cores(Endpoint.PARTS, this::parts));
    Route ofMember = path(OWN_PARTS, own::route);
    Route health = pathPrefix("health", this::health);
    Route metrics = path("metrics", this::metrics);
    Route top = path("top", this::totals);
    Route trace = path("trace", this::trace);
    Route timeline = path("timeline", this::timeline);
    Route listed = concat(edges, open, sessions, lossless, top, trace, timeline);
    Route whole = concat(report, graph, anomalies, stats, cores, parts, listed);
    Route packed =
        encodeResponse(() -> whole); // for those who take it; events are sent as they come
    Route queried = concat(packed, events);
    Route pages = new PageRoutes().routes();
    Route others = concat(ofMember, health, metrics, openapi, schemas.routes(), pages);
    Route all = concat(queryRole(queried), others);
    Route getOnly = get(() -> all);
    Route known = handleRejections(Refusals.rejections(), () -> getOnly);
    Route timed = withRequestTimeoutResponse(_ -> Refusals.late(), () -> known);
    Route safe = handleExceptions(Refusals.failures(), () -> timed);
    return extractRequest(
        request ->
            counted(
                request.getUri(),
                access.refusal(request).<Route>map(r -> complete(r)).orElse(safe)));
  }

  private Route counted(Uri uri, Route route) {
    String label = Endpoint.label(uri.getPathString());
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

  private Route answer(Endpoint endpoint, BiFunction<View, Map<String, String>, Answer> renderer) {
    return parameterMap(
        parameters -> {
          endpoint.check(parameters);
          return isWindow(endpoint, parameters)
              ? window(endpoint, renderer, parameters)
              : asked(endpoint, job::view, View::coverage, renderer);
        });
  }

  /** Whether a question is answered from the log: where it names a time, or a core of a report. */
  private static boolean isWindow(Endpoint endpoint, Map<String, String> parameters) {
    boolean isTime = WindowQuestion.isTime(parameters);
    boolean isCore = parameters.containsKey("core") || parameters.containsKey("session");
    if (endpoint == Endpoint.ANOMALIES && !isTime && parameters.containsKey("session")) {
      throw new BadRequestException(
          "session %s without a time".formatted(parameters.get("session")),
          "give from, to or at as well");
    }
    return isTime || (isCore && endpoint == Endpoint.REPORT);
  }

  private Route window(
      Endpoint endpoint,
      BiFunction<View, Map<String, String>, Answer> renderer,
      Map<String, String> given) {
    WindowQuestion question = WindowQuestion.of(given);
    boolean counts = endpoint != Endpoint.GRAPH; // a tree shows whole calls
    Map<String, String> plain = question.plain(given);
    Format format = Answers.format(given);
    return gated(
        share ->
            windows
                .view(question, counts, share)
                .thenApply(
                    seen ->
                        covered(
                            text(format, renderer.apply(seen.view(), plain)),
                            seen.view().coverage(),
                            seen.cost())));
  }

  private Route trace() {
    return parameterMap(
        parameters -> {
          Endpoint.TRACE.check(parameters);
          WindowQuestion question = WindowQuestion.of(parameters);
          return gated(
              share ->
                  windows
                      .trace(question, share)
                      .thenApply(
                          traced ->
                              covered(
                                  HttpResponse.create()
                                      .withEntity(
                                          HttpEntities.create(
                                              ContentTypes.APPLICATION_OCTET_STREAM,
                                              traced.trace())),
                                  traced.coverage(),
                                  traced.cost())));
        });
  }

  private Route timeline() {
    return parameterMap(
        parameters -> {
          Endpoint.TIMELINE.check(parameters);
          Format format = Answers.format(parameters);
          WindowQuestion question = WindowQuestion.of(parameters);
          int width = Answers.number(parameters, "width", TimelineView.WIDTH);
          int depth = Answers.number(parameters, "depth", TimelineView.LINES);
          return gated(
              share ->
                  windows
                      .timeline(question, width, depth, share)
                      .thenApply(
                          drawn ->
                              covered(
                                  text(format, Answers.timeline(drawn.cores(), parameters)),
                                  drawn.coverage(),
                                  drawn.cost())));
        });
  }

  private static HttpResponse covered(HttpResponse response, Coverage coverage, Windows.Cost cost) {
    return covered(response, coverage).addHeader(RawHeader.create(WINDOW, cost.header()));
  }

  /** Asks where there is room for another question. */
  private Route gated(Function<HeapRoom.Share, CompletionStage<HttpResponse>> question) {
    HeapRoom.Share share = job.room().share();
    CompletionStage<HttpResponse> response =
        gate.run(() -> question.apply(share).whenComplete((_, _) -> share.close()));
    return completeWithFuture(response.exceptionally(Refusals::failed));
  }

  /** Asks the job, and renders what it says in the form asked for. */
  private <T> Route asked(
      Endpoint endpoint,
      Function<HeapRoom.Share, CompletionStage<T>> question,
      Function<T, Coverage> coverage,
      BiFunction<T, Map<String, String>, Answer> renderer) {
    return parameterMap(
        parameters -> {
          endpoint.check(parameters);
          Format format = Answers.format(parameters);
          return gated(
              share ->
                  question
                      .apply(share)
                      .thenApply(
                          found ->
                              covered(
                                  text(format, renderer.apply(found, parameters)),
                                  coverage.apply(found))));
        });
  }

  private Route cores(
      Endpoint endpoint, BiFunction<Job.Cores, Map<String, String>, Answer> renderer) {
    return asked(endpoint, job::cores, Job.Cores::coverage, renderer);
  }

  private Route totals() {
    return asked(Endpoint.TOP, job::totals, Job.Totals::coverage, Answers::top);
  }

  private Answer parts(Job.Cores cores, Map<String, String> parameters) {
    return Answers.parts(cores, job.nodes(), job.watch().unreachable(), parameters);
  }

  /** A member that does not have the role sends those who ask on to one that does. */
  private Route queryRole(Route queried) {
    if (job.nodes().self().getRoles().contains(Role.QUERY.word())) {
      return queried;
    }
    return extractRequest(
        request ->
            Endpoint.isAboutTheJob(request.getUri().getPathString())
                ? complete(misdirected())
                : queried);
  }

  private HttpResponse misdirected() {
    String others =
        job.nodes().others().stream()
            .filter(node -> node.getRoles().contains(Role.QUERY.word()))
            .map(Node::getUrl)
            .collect(Collectors.joining(", "));
    return Refusals.error(
        421,
        "this member has the role ingest and does not answer questions",
        others.isEmpty() ? "start a member with --role query" : "ask " + others);
  }

  private Route events() {
    return parameterMap(
        parameters -> optionalHeaderValueByName("Last-Event-ID", last -> events(parameters, last)));
  }

  private Route events(Map<String, String> parameters, Optional<String> last) {
    Endpoint.ANOMALY_EVENTS.check(parameters);
    CompletionStage<HttpResponse> response =
        followers
            .follow(parameters, last)
            .thenApply(
                stream ->
                    HttpResponse.create()
                        .addHeader(RawHeader.create("Cache-Control", "no-store"))
                        .withEntity(HttpEntities.createChunked(EVENT_STREAM, stream)));
    return completeWithFuture(response.exceptionally(Refusals::failed));
  }

  private Route metrics() {
    CompletionStage<HttpResponse> response =
        scrape
            .text()
            .thenApply(
                text ->
                    HttpResponse.create()
                        .withEntity(HttpEntities.create(PROMETHEUS, text.getBytes(UTF_8))));
    return completeWithFuture(response.exceptionally(Refusals::failed));
  }

  private static HttpResponse text(Format format, Answer answer) {
    HttpResponse response =
        HttpResponse.create()
            .withEntity(HttpEntities.create(contentType(format), Visible.lines(answer.text())));
    return answer
        .page()
        .map(page -> response.addHeader(RawHeader.create(Page.HEADER, page.header())))
        .orElse(response);
  }

  private static ContentType.NonBinary contentType(Format format) {
    return switch (format) {
      case JSON -> ContentTypes.APPLICATION_JSON;
      case CSV -> MediaTypes.TEXT_CSV.toContentType(HttpCharsets.UTF_8);
      case TEXT -> ContentTypes.TEXT_PLAIN_UTF8;
    };
  }

  private Route ready() {
    CompletionStage<HttpResponse> response =
        readiness
            .look()
            .thenApply(
                found ->
                    covered(
                        found.isReady()
                            ? json(200, found.json())
                            : Refusals.error(503, found.fact(), found.cure()),
                        new Coverage(found.open(), job.own().partitionCount())));
    return completeWithFuture(response.exceptionally(Refusals::failed));
  }

  private static HttpResponse covered(HttpResponse response, Coverage coverage) {
    String owned = coverage.owned().stream().map(String::valueOf).collect(Collectors.joining(","));
    String missing =
        coverage.missing().stream()
            .map(part -> String.valueOf(part.partition()))
            .collect(Collectors.joining(","));
    String value =
        "owned="
            + owned
            + "; of="
            + coverage.of()
            + (missing.isEmpty() ? "" : "; missing=" + missing);
    HttpResponse stated = response.addHeader(RawHeader.create(PARTITIONS, value));
    if (coverage.parts().isEmpty()) {
      return stated;
    }
    String parts = coverage.parts().stream().map(PartRow::header).collect(Collectors.joining(", "));
    return stated.addHeader(RawHeader.create(PARTS, parts));
  }

  private static HttpResponse json(int status, String body) {
    return HttpResponse.create()
        .withStatus(status)
        .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, Visible.lines(body)));
  }
}
