package dev.retstack.answers.viewer;

import dev.retstack.answers.http.Access;
import dev.retstack.answers.http.Endpoint;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.QueryGate;
import dev.retstack.answers.http.RequestDeadline;
import dev.retstack.answers.question.Questions;
import dev.retstack.answers.web.PageRoutes;
import dev.retstack.graph.input.LateSymbols;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.server.Directives;
import org.apache.pekko.http.javadsl.server.Route;

/** Serves one recorded trace over HTTP: the questions of a job, and its pages. */
public final class TraceServer implements AutoCloseable {
  /** What a page asks for its first picture. */
  private static final List<String> FIRST =
      List.of("/?page=timeline", "/about", "/timeline?width=640&depth=20&detail=tiles&as=columns");

  private final TraceSource source;
  private final ActorSystem<Void> system;
  private final URI uri;

  /** Nothing can be served, whatever the trace: the message has the cure. */
  public static final class CannotServeException extends IOException {
    private static final long serialVersionUID = 1L;

    CannotServeException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  private TraceServer(TraceSource source, ActorSystem<Void> system, URI uri) {
    this.source = source;
    this.system = system;
    this.uri = uri;
  }

  /**
   * Opens the trace and serves it.
   *
   * @param symbols for images that come without
   * @param http where
   * @throws dev.retstack.schema.file.CorruptTraceException when the file is not a trace, or changed
   * @throws CannotServeException when the port is taken
   */
  public static TraceServer start(Path trace, LateSymbols symbols, HttpSettings http)
      throws IOException, InterruptedException {
    TraceSource source = TraceSource.open(trace, symbols);
    ActorSystem<Void> system =
        ActorSystem.create(Behaviors.empty(), "retstack-view", HttpSettings.ofPekko());
    Questions questions =
        new Questions(source, new QueryGate("queries", http.queriesMax(), new AtomicInteger()));
    Set<Endpoint> endpoints = EnumSet.of(Endpoint.PAGES, Endpoint.PAGE_FILES);
    endpoints.addAll(questions.routes().keySet());
    Route packed = Access.packed(questions.route());
    Route served =
        new Access(http, endpoints).guard(Directives.concat(packed, new PageRoutes().routes()));
    try {
      ServerBinding binding =
          Http.get(system)
              .newServerAt(http.host(), http.port())
              .bindFlow(RequestDeadline.around(served.flow(system), http.patience()))
              .toCompletableFuture()
              .get();
      source.read(); // from now on, since it takes all processors
      return new TraceServer(source, system, http.url(binding.localAddress().getPort()));
    } catch (ExecutionException e) {
      system.terminate();
      source.close();
      throw new CannotServeException(http.cannotServe(e), e);
    } catch (InterruptedException | RuntimeException e) {
      system.terminate();
      source.close();
      throw e;
    }
  }

  /** Where it answers. */
  public URI uri() {
    return uri;
  }

  /**
   * Asks itself what a page asks first. The first answers of a JVM take half a second, and a person
   * needs as long to open the page.
   */
  public void askItself() {
    for (String question : FIRST) {
      try {
        URLConnection asked = uri.resolve(question).toURL().openConnection();
        asked.setRequestProperty("Accept-Encoding", "gzip");
        try (InputStream answer = asked.getInputStream()) {
          answer.transferTo(OutputStream.nullOutputStream());
        }
      } catch (IOException _) {
        // the trace may have no such answer: a page shows why
      }
    }
  }

  @Override
  public void close() throws IOException {
    system.terminate();
    source.close();
  }
}
