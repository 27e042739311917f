package dev.retstack.service.control;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.completeWithFuture;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.extractRequest;
import static org.apache.pekko.http.javadsl.server.Directives.parameterMap;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.pathEnd;
import static org.apache.pekko.http.javadsl.server.Directives.pathPrefix;

import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.http.CommandGuard;
import dev.retstack.answers.http.Endpoint;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.QueryGate;
import dev.retstack.answers.http.Refusals;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.Image;
import dev.retstack.schema.wire.Topics;
import dev.retstack.schema.wire.Visible;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.KafkaUnavailableException;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.http.scaladsl.model.EntityStreamSizeException;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.stream.javadsl.StreamConverters;
import org.apache.pekko.util.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commands to running fleets over HTTP: what a command would mean, giving it, each core's answer as
 * it comes, and the audit log. A command goes to the control topic as that of {@code retstack
 * trace} does; a member holds nothing of it.
 */
public final class ControlRoutes implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ControlRoutes.class);

  /** Commands under way, each with a producer and a consumer. */
  private static final int COMMANDS_MAX = 4;

  /** Previews and logs under way. */
  private static final int LOOKS_MAX = 4;

  private static final int LOG_ROWS = 100;

  /** Answers that a log counts. */
  private static final int ANSWERS_MAX = 20_000;

  /** For the end of a body, and for a client that takes no answers. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final ContentType EVENT_STREAM = MediaTypes.TEXT_EVENT_STREAM.toContentType();

  /** The token in an answer is for a page of this origin alone. */
  private static final List<HttpHeader> ANSWER_HEADERS =
      List.of(
          RawHeader.create("Cache-Control", "no-store"),
          RawHeader.create("X-Content-Type-Options", "nosniff"),
          RawHeader.create("Cross-Origin-Resource-Policy", "same-origin"));

  /** Issuer of a command that names none. */
  private static final String NOBODY = "http";

  private final ActorSystem<?> system;
  private final KafkaSettings kafka;
  private final Topics topics;
  private final CommandRules rules;
  private final CommandGuard guard;
  private final Supplier<CompletionStage<List<CoreProgress>>> cores;
  private final Preview preview;
  private final QueryGate commands = new QueryGate("commands", COMMANDS_MAX, new AtomicInteger());
  private final QueryGate looks =
      new QueryGate("previews and logs", LOOKS_MAX, new AtomicInteger());
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /**
   * The routes of a member.
   *
   * @param allowed whether commands are taken; if not, the rest is answered
   * @param cores how far the cores of the job came
   * @param images by build-id; may wait
   */
  public ControlRoutes(
      ActorSystem<?> system,
      KafkaSettings kafka,
      Topics topics,
      CommandRules rules,
      HttpSettings http,
      boolean allowed,
      Supplier<CompletionStage<List<CoreProgress>>> cores,
      Function<String, Optional<Image>> images) {
    this.system = system;
    this.kafka = kafka;
    this.topics = topics;
    this.rules = rules;
    this.guard = new CommandGuard(http, allowed);
    this.cores = cores;
    this.preview = new Preview(rules, images);
  }

  /** What is asked with GET. */
  public Route questions() {
    Route about = pathEnd(this::about);
    Route looked = path("preview", this::preview);
    Route log = path("log", this::log);
    Route all = concat(about, looked, log);
    return pathPrefix("control", () -> all);
  }

  /** What is commanded with POST. */
  public Route commands() {
    Route given =
        extractRequest(
            request ->
                request.method().equals(HttpMethods.POST)
                    ? give(request)
                    : complete(Refusals.notPost()));
    Route path = path("commands", () -> given);
    return pathPrefix("control", () -> path);
  }

  private Route about() {
    return looked(
        Endpoint.CONTROL,
        _ ->
            CompletableFuture.supplyAsync(
                () -> {
                  ControlLog log = readLog(1);
                  return new Document()
                      .field("allowed", guard.isAllowed())
                      .field("token", guard.token())
                      .field("kafka", kafka.bootstrap())
                      .field("prefix", topics.prefix())
                      .field("allAnswers", log.allAnswers())
                      .rows("cores", AnswerTable.ANSWERS, log.lastOfEachCore());
                },
                threads));
  }

  private Route log() {
    return looked(
        Endpoint.CONTROL_LOG,
        parameters ->
            CompletableFuture.supplyAsync(
                () ->
                    readLog(
                            parameters.containsKey("limit")
                                ? Integer.parseInt(parameters.get("limit"))
                                : LOG_ROWS)
                        .summary(),
                threads));
  }

  private ControlLog readLog(int rows) {
    try {
      return ControlClient.log(kafka, topics, rows, ANSWERS_MAX);
    } catch (KafkaUnavailableException e) {
      throw unavailable(e);
    }
  }

  private BadRequestException unavailable(IOException e) {
    return e.getCause() instanceof AuthorizationException
        ? new BadRequestException(
            502,
            e.getMessage(),
            "give this member's Kafka user Read on %s and %s, and Write on the first for commands"
                .formatted(topics.control(), topics.controlResults()))
        : new BadRequestException(503, e.getMessage(), "ask again in a moment");
  }

  private Route preview() {
    return looked(
        Endpoint.CONTROL_PREVIEW,
        parameters ->
            cores
                .get()
                .thenApplyAsync(
                    all -> {
                      try {
                        return preview.of(
                            all,
                            parameters.getOrDefault("target", "all"),
                            parameters.getOrDefault("command", ""),
                            parameters.getOrDefault("arguments", "").lines().toList());
                      } catch (IllegalArgumentException e) {
                        throw unclear(e);
                      }
                    },
                    threads));
  }

  private static BadRequestException unclear(IllegalArgumentException e) {
    return new BadRequestException(e.getMessage(), "retstack trace --help has what there is");
  }

  private Route looked(
      Endpoint endpoint, Function<Map<String, String>, CompletionStage<Document>> look) {
    return parameterMap(
        parameters -> {
          endpoint.check(parameters);
          CompletionStage<HttpResponse> response =
              looks
                  .run(() -> look.apply(parameters))
                  .thenApply(
                      found ->
                          HttpResponse.create()
                              .addHeaders(ANSWER_HEADERS)
                              .withEntity(
                                  HttpEntities.create(
                                      ContentTypes.APPLICATION_JSON,
                                      Visible.lines(found.as(Format.JSON)))));
          return completeWithFuture(response.exceptionally(Refusals::failed));
        });
  }

  private Route give(HttpRequest request) {
    Optional<HttpResponse> refused = guard.refusal(request);
    if (refused.isPresent()) {
      request.discardEntityBytes(system);
      return complete(refused.get());
    }
    CompletionStage<HttpResponse> response =
        request
            .entity()
            .toStrict(PATIENCE.toMillis(), CommandGuard.BODY_BYTES_MAX, system)
            .thenCompose(body -> give(CommandBody.read(body.getData().toArray())));
    return completeWithFuture(response.exceptionally(this::failed));
  }

  private HttpResponse failed(Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    return switch (cause) {
      case EntityStreamSizeException _ -> CommandGuard.tooLarge();
      case IOException e -> Refusals.failed(unavailable(e));
      default -> Refusals.failed(cause);
    };
  }

  private CompletionStage<HttpResponse> give(CommandBody body) {
    Control.Builder command;
    try {
      command = rules.command(body.target(), body.name(), body.arguments());
    } catch (IllegalArgumentException e) {
      throw unclear(e);
    }
    command
        .setId(UUID.randomUUID().toString())
        .setIssuer(body.issuer().isBlank() ? NOBODY : body.issuer().strip() + " (" + NOBODY + ")");
    CompletableFuture<HttpResponse> response = new CompletableFuture<>();
    CompletableFuture<OutputStream> opened = new CompletableFuture<>();
    var _ =
        commands
            .run(
                () ->
                    CompletableFuture.runAsync(
                        () -> carryOut(command, body.deadlineMs(), response, opened), threads))
            .whenComplete((_, _) -> end(opened.getNow(OutputStream.nullOutputStream())));
    return response;
  }

  /** Ends an answer: a client that has read it all finds its place free. */
  private static void end(OutputStream out) {
    try {
      out.close();
    } catch (IOException e) {
      LOG.debug("a client has gone from the answers to its command", e);
    }
  }

  /** Gives the command; from then on a client that goes away changes nothing of it. */
  private void carryOut(
      Control.Builder command,
      long deadlineMs,
      CompletableFuture<HttpResponse> response,
      CompletableFuture<OutputStream> opened) {
    try (ControlClient client = ControlClient.open(kafka, topics)) {
      long now = System.currentTimeMillis();
      Control control = command.setIssuedAt(now).setDeadline(now + deadlineMs).build();
      long number = client.send(control);
      Pair<OutputStream, Source<ByteString, NotUsed>> pipe =
          StreamConverters.asOutputStream(PATIENCE).preMaterialize(system);
      response.complete(
          HttpResponse.create()
              .addHeader(RawHeader.create("Cache-Control", "no-store"))
              .withEntity(HttpEntities.createChunked(EVENT_STREAM, pipe.second())));
      OutputStream out = pipe.first();
      opened.complete(out);
      send(
          out,
          "sent",
          new Document()
              .field("kind", "sent")
              .field("id", control.getId())
              .field("number", number)
              .field("issuer", control.getIssuer()));
      AnswerSheet sheet =
          client.await(
              control.getId(),
              Duration.ofMillis(deadlineMs),
              came -> send(out, "answers", answers(came)));
      send(out, "done", done(sheet));
    } catch (IOException | RuntimeException e) {
      response.completeExceptionally(e); // changes nothing if the client has gone from a stream
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      response.completeExceptionally(e);
    }
  }

  private static Document answers(List<ControlResult> came) {
    return new Document()
        .field("kind", "answers")
        .rows(
            "answers",
            AnswerTable.ANSWERS,
            came.stream().filter(answer -> !answer.getCore().isEmpty()).toList())
        .field(
            "expected",
            came.stream()
                .filter(answer -> answer.getCore().isEmpty())
                .mapToInt(ControlResult::getCores)
                .sum());
  }

  private static Document done(AnswerSheet sheet) {
    return new Document()
        .field("kind", "done")
        .field("fleets", sheet.fleets())
        .field("cores", sheet.cores().size())
        .field("missing", sheet.missing())
        .field("allApplied", sheet.isAllApplied())
        .field("refusals", sheet.refusals());
  }

  private static void send(OutputStream out, String event, Document data) throws IOException {
    StringBuilder text = new StringBuilder("event: " + event + "\n");
    Visible.lines(data.as(Format.JSON))
        .lines()
        .forEach(line -> text.append("data: ").append(line).append('\n'));
    out.write(text.append('\n').toString().getBytes(UTF_8));
    out.flush();
  }

  /** Commands that were given stay given; nobody hears their answers here. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
