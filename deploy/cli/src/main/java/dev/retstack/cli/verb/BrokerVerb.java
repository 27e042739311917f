package dev.retstack.cli.verb;

import dev.retstack.cli.broker.BrokerException;
import dev.retstack.cli.broker.BrokerProcess;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Logs;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Verb;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code retstack broker}: a Kafka node on loopback, in the foreground. */
@Command(
    name = "broker",
    description = {
      "Run a Kafka broker on this machine until Ctrl-C.",
      "It prints its address on standard output when it serves. Its data stays in the" + " folder."
    },
    footer = "  retstack broker --dir ./retstack-data/broker --port 9092")
public final class BrokerVerb extends Verb {
  @Option(
      names = "--dir",
      required = true,
      paramLabel = "DIR",
      description = "Folder for its data and its log; created if it is missing.")
  private Path dir;

  @Option(
      names = "--port",
      defaultValue = "0",
      paramLabel = "PORT",
      description = "Port on 127.0.0.1; 0 (the default) takes any free one.")
  private int port;

  @Option(
      names = BrokerProcess.CHILD_OPTION,
      hidden = true,
      description = "Stop when standard input closes.")
  private boolean untilStdinCloses;

  @Override
  protected int run() throws IOException, InterruptedException {
    if (port < 0 || port > 65_535) {
      throw usage("no such port: " + port + "; give one from 0 to 65535");
    }
    try {
      Files.createDirectories(dir);
    } catch (IOException e) {
      throw CommandException.environment(
          FileTrouble.whyNotFolder("make", dir, e) + "; choose another folder with --dir", e);
    }
    Logs.toFile(dir.resolve(BrokerProcess.LOG));
    try (Shutdown shutdown = Shutdown.install()) {
      EmbeddedBroker broker = shutdown.add(start());
      out().println(broker.bootstrap());
      out().flush();
      note(
          "kafka broker at "
              + broker.bootstrap()
              + ", data in "
              + dir.toAbsolutePath().normalize());
      if (untilStdinCloses) {
        awaitEndOfInput();
      } else {
        shutdown.await();
      }
    }
    return ExitCode.OK;
  }

  private EmbeddedBroker start() {
    try {
      return EmbeddedBroker.start(dir, port);
    } catch (BrokerException e) {
      throw CommandException.environment(e.getMessage(), e);
    }
  }

  private static void awaitEndOfInput() throws IOException {
    byte[] ignored = new byte[256];
    while (System.in.read(ignored) >= 0) {
      // what a parent writes has no meaning; only the end of it has
    }
  }
}
