package dev.retstack.answers.question;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.parameterMap;
import static org.apache.pekko.http.javadsl.server.Directives.path;

import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.http.Endpoint;
import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.http.Page;
import dev.retstack.answers.http.QueryGate;
import dev.retstack.answers.http.Refusals;
import dev.retstack.answers.http.StreamedText;
import dev.retstack.answers.replay.TraceTimeline;
import dev.retstack.answers.search.CallSearch;
import dev.retstack.answers.search.NameMatch;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.view.Coverage;
import dev.retstack.answers.view.PartRow;
import dev.retstack.answers.view.TimelineView;
import dev.retstack.schema.Node;
import dev.retstack.schema.wire.Visible;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpCharsets;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.ResponseEntity;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.Directives;
import org.apache.pekko.http.javadsl.server.PathMatcher0;
import org.apache.pekko.http.javadsl.server.PathMatchers;
import org.apache.pekko.http.javadsl.server.Route;

/** The questions that a {@link QuerySource} answers, be it a running job or a recorded trace. */
public final class Questions {
  /** Header of every answer: {@code owned=0,1; of=8}, and {@code ; missing=2} where some are. */
  public static final String PARTITIONS = "Retstack-Partitions";

  /** Header of answers of the whole job: {@code 0=host:7070 age=12 lag=0, 1=missing}. */
  public static final String PARTS = "Retstack-Parts";

  /** Header of answers about a time: {@code cores=1; chunks=3; records=9; fetched=4096; ms=7}. */
  public static final String WINDOW = "Retstack-Window";

  private final QuerySource source;
  private final QueryGate gate;

  /**
   * Questions about this source.
   *
   * @param gate lets a bounded number of them in at once
   */
  public Questions(QuerySource source, QueryGate gate) {
    this.source = source;
    this.gate = gate;
  }

  /** What is answered, and how. */
  public Map<Endpoint, Route> routes() {
    Map<Endpoint, Route> routes = new EnumMap<>(Endpoint.class);
    put(routes, Endpoint.REPORT, one -> answer(one, Answers::report));
    put(routes, Endpoint.GRAPH, one -> answer(one, Answers::graph));
    put(routes, Endpoint.ANOMALIES, one -> answer(one, Answers::anomalies));
    put(routes, Endpoint.DURATIONS, one -> answer(one, Answers::durations));
    put(routes, Endpoint.EDGES, one -> answer(one, Answers::edges));
    put(routes, Endpoint.OPEN_CALLS, one -> answer(one, Answers::openCalls));
    put(routes, Endpoint.STATS, one -> answer(one, Answers::stats));
    put(routes, Endpoint.SESSIONS, one -> cores(one, Answers::sessions));
    put(routes, Endpoint.COMPLETENESS, one -> cores(one, Answers::completeness));
    put(routes, Endpoint.CORES, one -> cores(one, Answers::cores));
    put(routes, Endpoint.TOP, _ -> totals());
    put(routes, Endpoint.TRACE, _ -> trace());
    put(routes, Endpoint.TIMELINE, _ -> timeline());
    put(routes, Endpoint.STACKS, _ -> stacks());
    put(routes, Endpoint.HITS, _ -> hits());
    put(routes, Endpoint.ABOUT, _ -> about());
    return routes;
  }

  /** All of {@link #routes} as one. */
  public Route route() {
    return routes().values().stream().reduce(Directives::concat).orElseThrow();
  }

  private static void put(
      Map<Endpoint, Route> routes, Endpoint endpoint, Function<Endpoint, Route> route) {
    PathMatcher0 path = null;
    for (String segment : endpoint.path().substring(1).split("/", -1)) {
      path = path == null ? PathMatchers.segment(segment) : path.slash(segment);
    }
    routes.put(endpoint, path(path, () -> route.apply(endpoint)));
  }

  private Route about() {
    return parameterMap(
        parameters -> {
          Endpoint.ABOUT.check(parameters);
          return complete(json(200, source.about().as(Format.JSON)));
        });
  }

  private Route timeline() {
    return parameterMap(
        parameters -> {
          Endpoint.TIMELINE.check(parameters);
          Answers.format(parameters);
          WindowQuestion question = WindowQuestion.of(parameters);
          TraceTimeline.Drawing drawing =
              new TraceTimeline.Drawing(
                  Answers.number(parameters, "width", TimelineView.WIDTH),
                  Answers.number(parameters, "depth", TimelineView.LINES),
                  !parameters.getOrDefault("detail", "").equalsIgnoreCase("tiles"));
          return gated(
              share ->
                  source
                      .timeline(question, drawing, share)
                      .thenApply(
                          drawn ->
                              covered(
                                  reply(Answers.timeline(drawn, parameters)),
                                  drawn.coverage(),
                                  drawn.cost())));
        });
  }

  private Route hits() {
    return parameterMap(
        parameters -> {
          Endpoint.HITS.check(parameters);
          Answers.format(parameters);
          HitsQuestion question =
              new HitsQuestion(
                  WindowQuestion.of(parameters),
                  new NameMatch(parameters.getOrDefault("match", "")),
                  Answers.number(parameters, "limit", CallSearch.PLACES));
          return gated(
              share ->
                  source
                      .hits(question, share)
                      .thenApply(
                          searched ->
                              covered(
                                  reply(Answers.hits(searched, parameters)),
                                  searched.coverage(),
                                  searched.cost())));
        });
  }

  private Route stacks() {
    return parameterMap(
        parameters -> {
          Endpoint.STACKS.check(parameters);
          WindowQuestion question = WindowQuestion.of(parameters);
          return seen(share -> source.stacks(question, share), Answers::stacks, parameters);
        });
  }

  private Route answer(Endpoint endpoint, BiFunction<View, Map<String, String>, Answer> renderer) {
    return parameterMap(
        parameters -> {
          endpoint.check(parameters);
          return isWindow(endpoint, parameters)
              ? window(endpoint, renderer, parameters)
              : asked(endpoint, source::view, View::coverage, renderer);
        });
  }

  /**
   * Whether a question is answered from the log: it names a time, or the core of a report or of
   * durations.
   */
  private static boolean isWindow(Endpoint endpoint, Map<String, String> parameters) {
    boolean isTime = WindowQuestion.isTime(parameters);
    boolean isCore = parameters.containsKey("core") || parameters.containsKey("session");
    if (endpoint == Endpoint.ANOMALIES && !isTime && parameters.containsKey("session")) {
      throw new BadRequestException(
          "session %s without a time".formatted(parameters.get("session")),
          "give from, to or at as well");
    }
    boolean readsCores = endpoint == Endpoint.REPORT || endpoint == Endpoint.DURATIONS;
    return isTime || (isCore && readsCores);
  }

  private Route window(
      Endpoint endpoint,
      BiFunction<View, Map<String, String>, Answer> renderer,
      Map<String, String> given) {
    WindowQuestion question = WindowQuestion.of(given);
    boolean whole = endpoint == Endpoint.GRAPH || endpoint == Endpoint.DURATIONS;
    return seen(share -> source.window(question, !whole, share), renderer, question.plain(given));
  }

  /** Asks for a time, and renders what was in it. */
  private Route seen(
      Function<HeapRoom.Share, CompletionStage<QuerySource.Seen>> question,
      BiFunction<View, Map<String, String>, Answer> renderer,
      Map<String, String> parameters) {
    Answers.format(parameters);
    return gated(
        share ->
            question
                .apply(share)
                .thenApply(
                    seen ->
                        covered(
                            reply(renderer.apply(seen.view(), parameters)),
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
                  source
                      .trace(question, share)
                      .thenApply(
                          traced ->
                              covered(
                                  Reply.of(
                                      HttpEntities.create(
                                          ContentTypes.APPLICATION_OCTET_STREAM, traced.trace())),
                                  traced.coverage(),
                                  traced.cost())));
        });
  }

  /**
   * What is answered.
   *
   * @param entity begins to write it; what it is given runs when it is written
   * @param heads adds headers
   */
  private record Reply(
      Function<Runnable, CompletionStage<ResponseEntity>> entity,
      UnaryOperator<HttpResponse> heads) {
    static Reply of(ResponseEntity whole) {
      return new Reply(
          done -> {
            done.run();
            return CompletableFuture.completedStage(whole);
          },
          response -> response);
    }

    Reply with(UnaryOperator<HttpResponse> more) {
      return new Reply(entity, response -> more.apply(heads.apply(response)));
    }

    CompletionStage<HttpResponse> send(Runnable done) {
      return entity
          .apply(done)
          .thenApply(written -> heads.apply(HttpResponse.create().withEntity(written)));
    }
  }

  private static Reply covered(Reply reply, Coverage coverage, QuerySource.Cost cost) {
    return reply.with(
        response -> covered(response, coverage).addHeader(RawHeader.create(WINDOW, cost.header())));
  }

  /** Asks where there is room for another question, which has it until its answer is sent. */
  private Route gated(Function<HeapRoom.Share, CompletionStage<Reply>> question) {
    HeapRoom.Share share = source.room().share();
    CompletionStage<HttpResponse> response =
        gate.hold(
            leave -> {
              Runnable done =
                  () -> {
                    share.close();
                    leave.run();
                  };
              return question
                  .apply(share)
                  .thenCompose(reply -> reply.send(done))
                  .whenComplete(
                      (_, why) -> {
                        if (why != null) {
                          done.run();
                        }
                      });
            });
    return completeWithFuture(response.exceptionally(Refusals::failed));
  }

  /** Asks the source, and says of which partitions the answer is. */
  private <T> Route asked(
      Endpoint endpoint,
      Function<HeapRoom.Share, CompletionStage<T>> question,
      Function<T, Coverage> coverage,
      BiFunction<T, Map<String, String>, Answer> renderer) {
    return answered(
        endpoint,
        question,
        renderer,
        (reply, found) -> reply.with(response -> covered(response, coverage.apply(found))));
  }

  /** Asks the source, and renders what it says in the form asked for. */
  private <T> Route answered(
      Endpoint endpoint,
      Function<HeapRoom.Share, CompletionStage<T>> question,
      BiFunction<T, Map<String, String>, Answer> renderer,
      BiFunction<Reply, T, Reply> heads) {
    return parameterMap(
        parameters -> {
          endpoint.check(parameters);
          Answers.format(parameters);
          return gated(
              share ->
                  question
                      .apply(share)
                      .thenApply(
                          found -> heads.apply(reply(renderer.apply(found, parameters)), found)));
        });
  }

  private Route cores(
      Endpoint endpoint, BiFunction<QuerySource.Cores, Map<String, String>, Answer> renderer) {
    return asked(endpoint, source::cores, QuerySource.Cores::coverage, renderer);
  }

  /**
   * The members of a job, and the owners of its partitions.
   *
   * @param unreachable what others do not reach, by member
   */
  public Route parts(Supplier<List<Node>> running, Supplier<Map<String, String>> unreachable) {
    return cores(
        Endpoint.PARTS,
        (cores, parameters) -> Answers.parts(cores, running.get(), unreachable.get(), parameters));
  }

  /** How fast a job worked lately: of members, not of partitions. */
  public Route history(
      Function<HeapRoom.Share, CompletionStage<QuerySource.Past>> question, int partitions) {
    return answered(
        Endpoint.HISTORY,
        question,
        (past, parameters) -> Answers.history(past, partitions, parameters),
        (reply, _) -> reply);
  }

  private Route totals() {
    return asked(Endpoint.TOP, source::totals, QuerySource.Totals::coverage, Answers::top);
  }

  private static Reply reply(Answer answer) {
    Reply reply =
        new Reply(
            done ->
                StreamedText.entity(
                    contentType(answer.format()),
                    out -> answer.view().write(answer.format(), out),
                    done),
            response -> response);
    return answer
        .page()
        .map(
            page ->
                reply.with(
                    response -> response.addHeader(RawHeader.create(Page.HEADER, page.header()))))
        .orElse(reply);
  }

  private static ContentType.NonBinary contentType(Format format) {
    return switch (format) {
      case JSON -> ContentTypes.APPLICATION_JSON;
      case CSV -> MediaTypes.TEXT_CSV.toContentType(HttpCharsets.UTF_8);
      case TEXT -> ContentTypes.TEXT_PLAIN_UTF8;
    };
  }

  public static HttpResponse covered(HttpResponse response, Coverage coverage) {
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

  public static HttpResponse json(int status, String body) {
    return HttpResponse.create()
        .withStatus(status)
        .withEntity(HttpEntities.create(ContentTypes.APPLICATION_JSON, Visible.lines(body)));
  }
}
