package dev.retstack.service.query;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.extractRequest;
import static org.apache.pekko.http.javadsl.server.Directives.mapResponse;
import static org.apache.pekko.http.javadsl.server.Directives.optionalHeaderValueByName;
import static org.apache.pekko.http.javadsl.server.Directives.parameterMap;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.pathPrefix;
import static org.apache.pekko.http.javadsl.server.Directives.reject;

import dev.retstack.answers.http.Access;
import dev.retstack.answers.http.Endpoint;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.Nonces;
import dev.retstack.answers.http.QueryGate;
import dev.retstack.answers.http.Refusals;
import dev.retstack.answers.http.RequestDeadline;
import dev.retstack.answers.http.SchemaRoutes;
import dev.retstack.answers.question.Questions;
import dev.retstack.answers.view.Coverage;
import dev.retstack.answers.web.PageRoutes;
import dev.retstack.schema.Node;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.control.ControlRoutes;
import dev.retstack.service.identity.AnswerSeal;
import dev.retstack.service.identity.Handshake;
import dev.retstack.service.identity.MemberQuestion;
import dev.retstack.service.metrics.Samples;
import dev.retstack.service.nodes.Role;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.Uri;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.PathMatcher0;
import org.apache.pekko.http.javadsl.server.PathMatchers;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/**
 * The HTTP side of a member: questions about what the job has reconstructed, this member's health,
 * and the schemas of what is published. Any member answers for all: the headers {@value
 * Questions#PARTITIONS} and {@value Questions#PARTS} say which partitions are in an answer, and
 * from whom.
 */
public final class HttpApi {
  private static final ContentType EVENT_STREAM = MediaTypes.TEXT_EVENT_STREAM.toContentType();
  private static final PathMatcher0 EVENTS = PathMatchers.segment("anomalies").slash("events");
  private static final ContentType PROMETHEUS = ContentTypes.parse(Samples.CONTENT_TYPE);
  private static final PathMatcher0 OWN_PARTS = PathMatchers.segment("parts").slash("own");

  private final Job job;
  private final Questions questions;
  private final Readiness readiness;
  private final SchemaRoutes schemas;
  private final Scrape scrape;
  private final AnomalyEvents followers;
  private final OwnParts own;
  private final Access access;
  private final Nonces nonces = new Nonces();
  private final Duration patience;
  private final Optional<ControlRoutes> control;
  private final Set<Endpoint> served;

  /**
   * The HTTP side of a member.
   *
   * @param control for commands; empty if the rules of fleets are not known here
   */
  public HttpApi(
      String group,
      Job job,
      Windows windows,
      Readiness readiness,
      Topics topics,
      Scrape scrape,
      AnomalyEvents followers,
      HttpSettings http,
      Optional<ControlRoutes> control) {
    this.job = job;
    this.readiness = readiness;
    this.scrape = scrape;
    this.followers = followers;
    this.control = control;
    this.served = EnumSet.allOf(Endpoint.class);
    if (control.isEmpty()) {
      served.removeIf(Endpoint::isControl);
    }
    this.access = new Access(http, served, nonces, () -> job.nodes().self().getUrl());
    this.patience = http.patience();
    this.questions =
        new Questions(
            new JobSource(group, job, windows, control.isPresent()),
            new QueryGate("queries", http.queriesMax(), scrape.meters().queries()));
    this.own = new OwnParts(job.own(), job.room(), job.nodes());
    this.schemas = new SchemaRoutes(topics);
  }

  /** What answers on one connection. */
  public Flow<HttpRequest, HttpResponse, NotUsed> flow(ActorSystem<?> system) {
    return RequestDeadline.around(routes().flow(system), patience);
  }

  private Route routes() {
    // one variable each: nested, their overloads cost the compiler minutes
    Route asked = questions.route();
    Route events = path(EVENTS, this::events);
    Route openapi =
        path("openapi.json", () -> complete(Questions.json(200, OpenApi.document(served))));
    Route parts = path("parts", () -> questions.parts(this::running, job.watch()::unreachable));
    Route history = path("history", () -> questions.history(job::past, job.own().partitionCount()));
    Route ofMember = path(OWN_PARTS, own::route);
    Route health = pathPrefix("health", this::health);
    Route metrics = path("metrics", this::metrics);
    Route whole = concat(asked, parts, history);
    Route packed = Access.packed(whole); // events are sent as they come
    Route controlled = control.map(ControlRoutes::questions).orElse(reject());
    Route queried = concat(packed, events, controlled);
    Route commands = queryRole(control.map(ControlRoutes::commands).orElse(reject()));
    Route pages = new PageRoutes().routes();
    Route others = concat(ofMember, health, metrics, openapi, schemas.routes(), pages);
    Route guarded = access.guard(concat(queryRole(queried), others), commands);
    return extractRequest(request -> counted(request.getUri(), proved(request, guarded)));
  }

  /** A caller that found this member in Kafka hears that it is the one that is meant. */
  private Route proved(HttpRequest request, Route route) {
    Optional<String> challenge =
        request
            .getHeader(Handshake.CHALLENGE)
            .map(HttpHeader::value)
            .filter(Handshake::isChallenge);
    return challenge.isEmpty()
        ? route
        : mapResponse(
            response ->
                sealed(request, challenge.get(), response)
                    .addHeader(
                        RawHeader.create(Handshake.PROOF, job.nodes().proof(challenge.get())))
                    .addHeader(RawHeader.create(Handshake.NONCE, nonces.next())),
            () -> route);
  }

  /** With a signature behind its body; health is public, and parts are signed one by one. */
  private HttpResponse sealed(HttpRequest request, String challenge, HttpResponse response) {
    String asked = request.getUri().getPathString();
    if (Endpoint.label(asked).equals("health") || asked.equals(Endpoint.PARTS_OF.path())) {
      return response;
    }
    AnswerSeal seal = job.nodes().seal(challenge, Access.question(request.getUri()));
    String partitions = response.getHeader(Questions.PARTITIONS).map(HttpHeader::value).orElse("");
    seal.add(MemberQuestion.head(response.status().intValue(), partitions));
    Source<ByteString, ?> body =
        response
            .entity()
            .getDataBytes()
            .map(
                bytes -> {
                  seal.add(bytes.toArray());
                  return bytes;
                })
            .concatLazy(
                Source.lazySingle(() -> ByteString.fromArrayUnsafe(job.nodes().sign(seal))));
    return response.withEntity(
        HttpEntities.createChunked(response.entity().getContentType(), body));
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
    return complete(Questions.json(200, "{\"status\":\"live\"}\n"));
  }

  private List<Node> running() {
    List<Node> running = new ArrayList<>(List.of(job.nodes().self()));
    running.addAll(job.nodes().others());
    running.sort(Comparator.comparing(Node::getNode));
    return running;
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

  private Route ready() {
    CompletionStage<HttpResponse> response =
        readiness
            .look()
            .thenApply(
                found ->
                    Questions.covered(
                        found.isReady()
                            ? Questions.json(200, found.json())
                            : Refusals.error(503, found.fact(), found.cure()),
                        new Coverage(found.open(), job.own().partitionCount())));
    return completeWithFuture(response.exceptionally(Refusals::failed));
  }
}
