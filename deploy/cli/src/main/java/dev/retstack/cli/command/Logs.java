package dev.retstack.cli.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.pattern.MessageConverter;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.FileAppender;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import dev.retstack.schema.wire.Visible;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;

/**
 * Decides where log lines of the libraries go. They never go to standard output, which is for data.
 */
public final class Logs {
  private static final String PATTERN = "%d{HH:mm:ss.SSS} %-5level %logger{24} - %msg%n";

  private static final String CONFIGURATION = "logback.configurationFile";

  /** From where up the console has log lines; null where they go elsewhere, or as tests have it. */
  private static Level onConsole = System.getProperty(CONFIGURATION) == null ? Level.ERROR : null;

  private Logs() {}

  /**
   * Until a verb has said where its log goes: errors only, and never to standard output. Logback
   * finds it by name; to look for a file instead, and to parse it, takes it 50 ms at each start.
   */
  public static final class AtFirst extends ContextAwareBase implements Configurator {
    @Override
    public ExecutionStatus configure(LoggerContext context) {
      if (System.getProperty(CONFIGURATION) != null) {
        return ExecutionStatus.INVOKE_NEXT_IF_ANY; // as tests have it
      }
      install(context, console(), Level.ERROR);
      return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }
  }

  /**
   * Shows our own warnings on the console too, because a process that runs for weeks must report
   * its trouble. Warnings of the libraries stay hidden: a Kafka client warns several times a second
   * while a broker is down.
   */
  public static synchronized void withOwnWarnings() {
    onConsole = null;
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.getLogger("dev.retstack").setLevel(Level.WARN);
  }

  /**
   * To standard error: errors only, or everything from INFO up. Nothing is set up twice: for a
   * moment of it every logger of this process writes all it has.
   */
  public static synchronized void toConsole(boolean verbose) {
    Level level = verbose ? Level.INFO : Level.ERROR;
    if (level != onConsole) {
      install(console(), level);
      onConsole = level;
    }
  }

  private static ConsoleAppender<ILoggingEvent> console() {
    ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
    console.setTarget("System.err");
    return console;
  }

  /** To a file, from WARN up: appended, so that an earlier run's last words stay. */
  public static synchronized void toFile(Path file) {
    FileAppender<ILoggingEvent> appender = new FileAppender<>();
    appender.setFile(file.toString());
    install(appender, Level.WARN);
  }

  /**
   * Names in messages do nothing to a terminal; in messages of ours they begin no line either. The
   * pattern is parsed when there is something to write: most short verbs log nothing.
   */
  private static final class VisibleEncoder extends PatternLayoutEncoder {
    @Override
    public void start() {
      started = true;
    }

    @Override
    public synchronized byte[] encode(ILoggingEvent event) {
      if (layout == null) {
        PatternLayout.DEFAULT_CONVERTER_SUPPLIER_MAP.put("msg", VisibleMessage::new);
        super.start();
      }
      return Visible.lines(new String(super.encode(event), UTF_8)).getBytes(UTF_8);
    }
  }

  private static final class VisibleMessage extends MessageConverter {
    @Override
    public String convert(ILoggingEvent event) {
      String message = super.convert(event);
      return event.getLoggerName().startsWith("dev.retstack") ? Visible.line(message) : message;
    }
  }

  private static void install(OutputStreamAppender<ILoggingEvent> appender, Level level) {
    onConsole = null;
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.reset();
    install(context, appender, level);
  }

  private static void install(
      LoggerContext context, OutputStreamAppender<ILoggingEvent> appender, Level level) {
    PatternLayoutEncoder encoder = new VisibleEncoder();
    encoder.setContext(context);
    encoder.setPattern(PATTERN);
    encoder.start();
    appender.setContext(context);
    appender.setEncoder(encoder);
    appender.start();
    Logger root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(level);
    root.addAppender(appender);
    // connections of a stream that ended, each in many words
    context.getLogger("org.apache.pekko.stream.Materializer").setLevel(Level.ERROR);
    if (level == Level.ERROR) {
      // Kafka warns about a group that has already expelled this member; errors are thrown and
      // reported by us
      context
          .getLogger("org.apache.kafka.clients.consumer.internals.ConsumerCoordinator")
          .setLevel(Level.OFF);
    }
    // Pekko logs a port in use with a stack trace; the caller reports it in a sentence
    context.getLogger("org.apache.pekko.io.TcpListener").setLevel(Level.OFF);
  }
}
