package dev.retstack.cli.result;

import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.viewer.TraceServer;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Logs;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Verb;
import dev.retstack.graph.input.LateSymbols;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack view}: the pages of a recorded trace. */
@Command(
    name = "view",
    description = {
      "Look at a recorded trace in the browser: serve its pages to this machine until Ctrl-C.",
      "The timeline is there at once, whatever the size of the trace. Totals are read meanwhile."
          + " Any program can ask what the pages ask: the paths are those of a pipeline, such as"
          + " /report and /timeline, and /about tells how far the trace was read. The address is"
          + " the first line of the output."
    },
    footer = {"  retstack view trace.avro", "  retstack view trace.avro --port 7080 --no-browser"})
public final class ViewVerb extends Verb {
  @Parameters(index = "0", paramLabel = "TRACE", description = "A recorded trace.")
  private Path trace;

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "0",
      description = "Port on this machine; 0 is any free one (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--no-browser",
      description =
          "Open no browser. One is opened only where the output goes to a terminal of a desktop.")
  private boolean noBrowser;

  @Mixin private SymbolOptions symbols;

  @Override
  protected int run() throws InterruptedException {
    if (!verbose()) {
      Logs.withOwnWarnings();
    }
    HttpSettings http;
    try {
      http = HttpSettings.LOCAL.at(HttpSettings.LOCAL.host(), port);
    } catch (IllegalArgumentException e) {
      throw usage("--port: " + e.getMessage());
    }
    if (Files.exists(trace) && !Files.isRegularFile(trace)) {
      throw CommandException.badInput(
          "%s is no file, and its pages go to and fro in it: give a file".formatted(trace));
    }
    LateSymbols names = symbols.read();
    try (Shutdown shutdown = Shutdown.install()) {
      TraceServer server = shutdown.add(start(names, http));
      out().println(server.uri());
      out().flush();
      Thread.ofVirtual().start(server::askItself);
      note("%s is shown at %s until Ctrl-C".formatted(trace, server.uri()));
      if (!noBrowser) {
        browse(server.uri());
      }
      shutdown.await();
    }
    return ExitCode.OK;
  }

  private TraceServer start(LateSymbols names, HttpSettings http) throws InterruptedException {
    try {
      return TraceServer.start(trace, names, http);
    } catch (TraceServer.CannotServeException e) {
      throw CommandException.environment(e.getMessage(), e);
    } catch (IOException e) {
      throw SourceOptions.unreadable(trace, e);
    }
  }

  /** Opens the page where a person sits before a desktop; else the address is enough. */
  private void browse(URI page) {
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
    boolean isMac = system.contains("mac");
    boolean isDesktop =
        isMac || System.getenv("DISPLAY") != null || System.getenv("WAYLAND_DISPLAY") != null;
    if (!isDesktop || !System.console().isTerminal()) {
      return;
    }
    try {
      new ProcessBuilder(List.of(isMac ? "open" : "xdg-open", page.toString()))
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start();
    } catch (IOException e) {
      note("no browser was opened: " + e.getMessage());
    }
  }
}
