package dev.retstack.service.query;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;

/**
 * How the HTTP side serves.
 *
 * @param host address it listens on
 * @param port its port; 0 = any free one
 * @param queriesMax queries answered at once; more are refused with 429
 * @param followersMax streams of events open at once; each is a Kafka consumer
 * @param heldBytesMax bytes of partitions that all questions may hold at once until they are
 *     answered
 * @param token what clients have to show; empty for none
 * @param tls the server's certificate, and which clients it lets in; empty for plain HTTP
 * @param patience how long a client may take from connecting to the end of its request
 * @param advertised host that others use to reach it; empty for the host that it listens on, or the
 *     name of this machine where that is any
 */
public record HttpSettings(
    String host,
    int port,
    int queriesMax,
    int followersMax,
    long heldBytesMax,
    Optional<HttpToken> token,
    Optional<HttpTls> tls,
    Duration patience,
    Optional<String> advertised) {
  /** Questions may hold this share of the heap. */
  private static final int HEAP_SHARE = 4;

  /** Loopback, any free port. */
  public static final HttpSettings LOCAL =
      new HttpSettings(
          "127.0.0.1",
          0,
          8,
          16,
          Runtime.getRuntime().maxMemory() / HEAP_SHARE,
          Optional.empty(),
          Optional.empty(),
          Duration.ofSeconds(10),
          Optional.empty());

  public HttpSettings {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("HTTP port " + port + ": use 0 to 65535, 0 = any");
    }
    if (queriesMax < 1 || followersMax < 0) {
      throw new IllegalArgumentException(
          "%d queries and %d followers at once: use 1 and 0, or more"
              .formatted(queriesMax, followersMax));
    }
  }

  /** Another address; port 0 = any free one. */
  public HttpSettings at(String otherHost, int otherPort) {
    return new HttpSettings(
        otherHost,
        otherPort,
        queriesMax,
        followersMax,
        heldBytesMax,
        token,
        tls,
        patience,
        advertised);
  }

  /** Other bounds of what runs at once. */
  public HttpSettings atOnce(int queries, int followers) {
    return new HttpSettings(
        host, port, queries, followers, heldBytesMax, token, tls, patience, advertised);
  }

  /** All questions together may hold so many bytes of partitions. */
  public HttpSettings holding(long bytes) {
    return new HttpSettings(
        host, port, queriesMax, followersMax, bytes, token, tls, patience, advertised);
  }

  /** Clients have to show this token. */
  public HttpSettings token(HttpToken secret) {
    return new HttpSettings(
        host,
        port,
        queriesMax,
        followersMax,
        heldBytesMax,
        Optional.of(secret),
        tls,
        patience,
        advertised);
  }

  /** HTTPS with this certificate. */
  public HttpSettings tls(HttpTls certificate) {
    return new HttpSettings(
        host,
        port,
        queriesMax,
        followersMax,
        heldBytesMax,
        token,
        Optional.of(certificate),
        patience,
        advertised);
  }

  /** Clients may take so long. */
  public HttpSettings patience(Duration longest) {
    return new HttpSettings(
        host, port, queriesMax, followersMax, heldBytesMax, token, tls, longest, advertised);
  }

  /** Others reach it by this name or address. */
  public HttpSettings advertised(String name) {
    return new HttpSettings(
        host,
        port,
        queriesMax,
        followersMax,
        heldBytesMax,
        token,
        tls,
        patience,
        Optional.of(name));
  }

  /**
   * Where others reach it.
   *
   * @param bound the port that it listens on
   */
  public URI url(int bound) {
    return URI.create("%s://%s".formatted(scheme(), authority(bound)));
  }

  /** Host and port by which others reach it: the name of the member. */
  public String authority(int bound) {
    String name = advertised.orElseGet(this::ownName);
    return (name.contains(":") ? "[" + name + "]" : name) + ":" + bound;
  }

  private String ownName() {
    try {
      return InetAddress.getByName(host).isAnyLocalAddress()
          ? InetAddress.getLocalHost().getHostName()
          : host;
    } catch (UnknownHostException e) {
      return host;
    }
  }

  /** {@code https} or {@code http}. */
  public String scheme() {
    return tls.isPresent() ? "https" : "http";
  }

  /**
   * Accepts an address that others can reach only with TLS, and with a token or certificates of
   * clients.
   *
   * @throws IllegalArgumentException naming what is missing
   */
  public void requireSafe() {
    boolean loopback;
    try {
      loopback = InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("unknown HTTP host " + host + ": use 127.0.0.1", e);
    }
    boolean knowsClients = token.isPresent() || tls.filter(HttpTls::asksClients).isPresent();
    if (loopback || (knowsClients && tls.isPresent())) {
      return;
    }
    String missing =
        token.isPresent()
            ? "TLS: give --http-tls-keystore"
            : tls.isPresent()
                ? "a token or certificates of clients: give --http-token-file or --http-client-ca"
                : "TLS and a token or certificates of clients: give --http-tls-keystore, and"
                    + " --http-token-file or --http-client-ca";
    throw new IllegalArgumentException(
        "HTTP host %s is open to the network without %s, or use 127.0.0.1"
            .formatted(host, missing));
  }
}
