package dev.retstack.cli.verb;

import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.HttpTls;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Logs;
import dev.retstack.cli.command.Shutdown;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.cli.result.SymbolOptions;
import dev.retstack.cli.result.TotalTimeOptions;
import dev.retstack.cli.trace.FleetCommandRules;
import dev.retstack.service.Pipeline;
import dev.retstack.service.PipelineConfig;
import dev.retstack.service.PipelineService;
import dev.retstack.service.checkpoint.StartAt;
import dev.retstack.service.kafka.GroupProtocol;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.kafka.OtherVersionException;
import dev.retstack.service.nodes.Role;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack pipeline}: the right half of the path, a member of a consumer group. */
@Command(
    name = "pipeline",
    description = {
      "Read the events topic, rebuild the calls, find defects, publish and answer" + " queries.",
      "It runs until Ctrl-C. Members of one group share the partitions and find each"
          + " other through Kafka; any of them answers for all. The address of the HTTP server"
          + " is printed on standard output when it serves."
    },
    footer = {
      "  retstack pipeline --http-port 7070",
      "  retstack pipeline --http-port 0 --role ingest",
      "  retstack pipeline --http-port 0 --group-protocol consumer"
    })
public final class PipelineVerb extends Verb {
  @Option(
      names = "--http-port",
      defaultValue = "7070",
      paramLabel = "PORT",
      description = "Port of the HTTP server (default: ${DEFAULT-VALUE}); 0 takes any free one.")
  private int httpPort;

  @Option(
      names = "--http-host",
      defaultValue = "127.0.0.1",
      paramLabel = "HOST",
      description =
          "Address of the HTTP server (default: ${DEFAULT-VALUE}). One that other machines"
              + " reach, such as 0.0.0.0, needs TLS, and a token or client certificates.")
  private String httpHost;

  @Option(
      names = "--http-advertise",
      paramLabel = "HOST",
      description =
          "Name or address by which other members and commands reach this one (default: the"
              + " HTTP host; if that is any address, this machine's name).")
  private String advertised;

  @Option(
      names = "--role",
      paramLabel = "ROLE",
      converter = RoleConverter.class,
      description =
          "ingest: own partitions; query: answer for the whole job; may be repeated (default:"
              + " both).")
  private final Set<Role> roles = EnumSet.noneOf(Role.class);

  @Option(
      names = "--http-token-file",
      paramLabel = "FILE",
      description = "Clients must show the token in this file: Authorization: Bearer TOKEN.")
  private Path tokenFile;

  @Option(
      names = "--http-tls-keystore",
      paramLabel = "FILE",
      description = "Serve HTTPS with the key and certificate in this PKCS #12 file.")
  private Path keystore;

  @Option(
      names = "--http-tls-password-file",
      paramLabel = "FILE",
      description = "File with the keystore's password.")
  private Path keystorePassword;

  @Option(
      names = "--http-client-ca",
      paramLabel = "FILE",
      description =
          "Accept clients that present a certificate signed by an authority in this PEM file;"
              + " the token is accepted, too. Members that share the keystore need no other"
              + " certificate.")
  private Path clientCa;

  @Option(
      names = "--commands",
      description =
          "Take commands to running fleets over HTTP, such as from the page Control (default:"
              + " HTTP only reads). Only a page of this member can give them; retstack trace needs"
              + " no member.")
  private boolean commands;

  @Option(
      names = "--group",
      defaultValue = PipelineConfig.DEFAULT_GROUP,
      paramLabel = "NAME",
      description = "Consumer group; it owns the checkpoints (default: ${DEFAULT-VALUE}).")
  private String group;

  @Option(
      names = "--group-protocol",
      paramLabel = "NAME",
      description =
          "How Kafka shares the partitions among members: classic, which every broker knows,"
              + " or consumer, where the broker decides (KIP-848, Kafka 4.0 and newer). It is the"
              + " same as --kafka group.protocol=NAME (default: classic).")
  private String groupProtocol;

  @Option(
      names = "--span-threshold",
      paramLabel = "N",
      description = "Publish calls of this length and longer to the spans topic (default: none).")
  private Long spanThreshold;

  @Option(
      names = "--from",
      paramLabel = "WHERE",
      converter = StartConverter.class,
      description =
          "Where a group begins that has no state yet: earliest (default), latest, an offset, or"
              + " a time such as 2026-11-26T16:00:00Z, by the broker's clock. Of each partition"
              + " the start is committed before its first chunk; what has a state continues from it.")
  private StartAt from = new StartAt.Earliest();

  @Option(
      names = "--repair",
      description =
          "Take away the state of a partition that cannot be used (damaged or forged), and rebuild"
              + " it from the events that are there. Their anomalies and spans are withdrawn and"
              + " published again. Without it such a partition is left alone, and /health/ready answers"
              + " 503.")
  private boolean repair;

  @Mixin private MemberOptions member;
  @Mixin private TotalTimeOptions time;
  @Mixin private SymbolOptions symbols;
  @Mixin private KafkaOptions kafka;

  @Override
  protected int run() throws InterruptedException {
    if (!verbose()) {
      Logs.withOwnWarnings();
    }
    KafkaLink link = kafka.link(terminal());
    PipelineConfig config;
    try {
      PipelineConfig.Builder builder =
          PipelineConfig.of(settings(link))
              .but()
              .topics(link.topics())
              .groupId(group)
              .partitions(link.partitions())
              .rules(time.rules())
              .names(symbols.read())
              .start(from)
              .repair(repair)
              .roles(roles.isEmpty() ? EnumSet.allOf(Role.class) : roles)
              .http(http())
              .commands(new FleetCommandRules(), commands);
      member.into(builder);
      if (spanThreshold != null) {
        builder.spanThreshold(spanThreshold);
      }
      config = builder.build();
    } catch (IllegalArgumentException e) {
      throw usage(e.getMessage());
    }
    try (Shutdown shutdown = Shutdown.install()) {
      Pipeline pipeline = shutdown.add(start(config));
      out().println(pipeline.httpUri());
      out().flush();
      symbols.noteNames(terminal());
      note(
          "pipeline of group %s on %s answers at %s; ask with \"retstack report --live --http %s\""
              .formatted(
                  group, link.settings().bootstrap(), pipeline.httpUri(), pipeline.httpUri()));
      var _ = pipeline.stopped().thenRun(shutdown::request);
      shutdown.await();
      if (pipeline.refusal().isPresent()) {
        throw refused(pipeline.refusal().get());
      }
      if (!Shutdown.processEnds()) {
        throw CommandException.environment(
            "this member ended by itself: --verbose shows why; start it again");
      }
    }
    return ExitCode.OK;
  }

  private KafkaSettings settings(KafkaLink link) {
    if (groupProtocol == null) {
      return link.settings();
    }
    GroupProtocol wanted = GroupProtocol.of(groupProtocol);
    String set = link.settings().properties().get("group.protocol");
    if (set != null && GroupProtocol.of(set) != wanted) {
      throw usage(
          "--group-protocol %s contradicts group.protocol=%s of the Kafka settings: give one of them"
              .formatted(wanted.word(), set));
    }
    return link.settings().withGroupProtocol(wanted);
  }

  private static CommandException refused(OtherVersionException e) {
    return CommandException.badInput(e.getMessage(), e);
  }

  private HttpSettings http() {
    HttpSettings http = HttpSettings.LOCAL.at(httpHost, httpPort);
    if (advertised != null) {
      http = http.advertised(advertised);
    }
    if (tokenFile != null) {
      http = http.token(HttpToken.read(tokenFile));
    }
    if (keystore == null && keystorePassword == null && clientCa == null) {
      return http;
    }
    if (keystore == null || keystorePassword == null) {
      throw usage(
          clientCa == null
              ? "give --http-tls-keystore and --http-tls-password-file together"
              : "--http-client-ca: certificates are shown over TLS; give --http-tls-keystore and"
                  + " --http-tls-password-file with it");
    }
    return http.tls(
        clientCa == null
            ? HttpTls.read(keystore, keystorePassword)
            : HttpTls.read(keystore, keystorePassword, clientCa));
  }

  /** {@code ingest} or {@code query}. */
  static final class RoleConverter implements CommandLine.ITypeConverter<Role> {
    @Override
    public Role convert(String text) {
      try {
        return Role.valueOf(text.toUpperCase(Locale.ROOT));
      } catch (IllegalArgumentException e) {
        throw new CommandLine.TypeConversionException(
            "no role '%s': use ingest or query".formatted(text));
      }
    }
  }

  /** As {@link StartAt#parse} has it. */
  static final class StartConverter implements CommandLine.ITypeConverter<StartAt> {
    @Override
    public StartAt convert(String text) {
      try {
        return StartAt.parse(text);
      } catch (IllegalArgumentException e) {
        throw new CommandLine.TypeConversionException(e.getMessage());
      }
    }
  }

  static Pipeline start(PipelineConfig config) throws InterruptedException {
    try {
      return PipelineService.start(config);
    } catch (OtherVersionException e) {
      throw refused(e);
    } catch (IOException e) {
      throw CommandException.environment(e.getMessage(), e);
    }
  }
}
