package dev.retstack.cli.option;

import dev.retstack.service.cluster.ClusterSettings;
import dev.retstack.service.cluster.Discovery;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Option;

/** How members of a pipeline find and watch each other. */
public final class ClusterOptions {
  @Option(
      names = "--cluster-host",
      paramLabel = "HOST",
      description =
          "Address where other members join this one (default: the HTTP host). One that others"
              + " reach, such as 0.0.0.0, wants TLS: members show the certificate of the HTTP"
              + " side.")
  private String host;

  @Option(
      names = "--cluster-port",
      defaultValue = "0",
      paramLabel = "PORT",
      description = "Its port (default: any free one).")
  private int port;

  @Option(
      names = "--discover",
      defaultValue = "kafka",
      paramLabel = "HOW",
      description =
          "How to find the other members: kafka (what they announce there),"
              + " static:HOST:PORT,HOST:PORT, dns:NAME:PORT, dns:_SERVICE._tcp.NAME, or"
              + " kubernetes:LABEL=VALUE (default: ${DEFAULT-VALUE}).")
  private String discover;

  @Option(
      names = "--stable-after",
      defaultValue = "10",
      paramLabel = "S",
      description =
          "Seconds that a split between members has to last before the smaller side ends"
              + " (default: ${DEFAULT-VALUE}).")
  private int stableAfter;

  /**
   * What was asked for.
   *
   * @param httpHost address of the HTTP side
   * @param advertised by which others reach it, where that differs
   * @throws IllegalArgumentException naming what is wrong
   */
  public ClusterSettings settings(String httpHost, Optional<String> advertised) {
    ClusterSettings settings =
        ClusterSettings.LOCAL
            .at(host == null ? httpHost : host, port)
            .discovery(Discovery.of(discover))
            .stableAfter(Duration.ofSeconds(stableAfter));
    return advertised.map(settings::advertised).orElse(settings);
  }
}
