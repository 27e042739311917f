package dev.retstack.answers.http;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/** How the HTTP side serves. Begin with {@link #LOCAL} and change what differs. */
public final class HttpSettings implements Cloneable {
  /** Loopback, any free port. */
  public static final HttpSettings LOCAL = new HttpSettings();

  /** Questions may hold this share of the heap. */
  private static final int HEAP_SHARE = 4;

  private String host = "127.0.0.1";
  private int port;
  private int queriesMax = 8;
  private int followersMax = 16;
  private long heldBytesMax = Runtime.getRuntime().maxMemory() / HEAP_SHARE;
  private Optional<HttpToken> token = Optional.empty();
  private Optional<HttpTls> tls = Optional.empty();
  private Duration patience = Duration.ofSeconds(10);
  private Optional<String> advertised = Optional.empty();

  private HttpSettings() {}

  private HttpSettings with(Consumer<HttpSettings> change) {
    try {
      HttpSettings changed = (HttpSettings) clone();
      change.accept(changed);
      return changed;
    } catch (CloneNotSupportedException e) {
      throw new AssertionError(e);
    }
  }

  /** Address that it listens on. */
  public String host() {
    return host;
  }

  /** Port; 0 = any free one. */
  public int port() {
    return port;
  }

  /** Queries answered at once; more are refused with 429. */
  public int queriesMax() {
    return queriesMax;
  }

  /** Streams of events open at once; each is a Kafka consumer. */
  public int followersMax() {
    return followersMax;
  }

  /** Bytes of partitions that all questions may hold at once until they are answered. */
  public long heldBytesMax() {
    return heldBytesMax;
  }

  /** What clients have to show; empty for none. */
  public Optional<HttpToken> token() {
    return token;
  }

  /** The server's certificate, and which clients it accepts; empty for plain HTTP. */
  public Optional<HttpTls> tls() {
    return tls;
  }

  /** How long a client may take from connecting to the end of its request. */
  public Duration patience() {
    return patience;
  }

  /** Host that others use to reach it; empty for the host that it listens on. */
  Optional<String> advertised() {
    return advertised;
  }

  /**
   * These settings with another address; port 0 = any free one.
   *
   * @throws IllegalArgumentException where there is no such port
   */
  public HttpSettings at(String otherHost, int otherPort) {
    if (otherPort < 0 || otherPort > 65_535) {
      throw new IllegalArgumentException("HTTP port " + otherPort + ": use 0 to 65535, 0 = any");
    }
    return with(
        changed -> {
          changed.host = otherHost;
          changed.port = otherPort;
        });
  }

  /**
   * Other bounds of what runs at once.
   *
   * @throws IllegalArgumentException below 1 and 0
   */
  public HttpSettings atOnce(int queries, int followers) {
    if (queries < 1 || followers < 0) {
      throw new IllegalArgumentException(
          "%d queries and %d followers at once: use 1 and 0, or more"
              .formatted(queries, followers));
    }
    return with(
        changed -> {
          changed.queriesMax = queries;
          changed.followersMax = followers;
        });
  }

  /** All questions together may hold that many bytes of partitions. */
  public HttpSettings holding(long bytes) {
    return with(changed -> changed.heldBytesMax = bytes);
  }

  /** Clients have to show this token. */
  public HttpSettings token(HttpToken secret) {
    return with(changed -> changed.token = Optional.of(secret));
  }

  /** HTTPS with this certificate. */
  public HttpSettings tls(HttpTls certificate) {
    return with(changed -> changed.tls = Optional.of(certificate));
  }

  /** Clients may take that long. */
  public HttpSettings patience(Duration longest) {
    return with(changed -> changed.patience = longest);
  }

  /** These settings with the name or address by which others reach the member. */
  public HttpSettings advertised(String name) {
    return with(changed -> changed.advertised = Optional.of(name));
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
      return InetAddress.getByName(host).isAnyLocalAddress() ? thisMachine() : host;
    } catch (UnknownHostException e) {
      return host;
    }
  }

  static String thisMachine() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }

  /** Says why nothing could listen there, and the cure. */
  public String cannotServe(Throwable why) {
    Throwable root = why;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return "cannot serve HTTP on %s:%d: %s: choose another port, or 0 for any free one"
        .formatted(host, port, root.getMessage());
  }

  /** {@code https} or {@code http}. */
  public String scheme() {
    return tls.isPresent() ? "https" : "http";
  }

  /**
   * Why it must not serve; empty if it may. An address that others can reach needs TLS, and a token
   * or certificates of clients.
   */
  public Optional<String> problem() {
    boolean loopback;
    try {
      loopback = InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return Optional.of("unknown HTTP host " + host + ": use 127.0.0.1");
    }
    boolean knowsClients = token.isPresent() || tls.filter(HttpTls::asksClients).isPresent();
    if (loopback || (knowsClients && tls.isPresent())) {
      return Optional.empty();
    }
    String missing =
        token.isPresent()
            ? "TLS: give --http-tls-keystore"
            : tls.isPresent()
                ? "a token or certificates of clients: give --http-token-file or --http-client-ca"
                : "TLS and a token or certificates of clients: give --http-tls-keystore, and"
                    + " --http-token-file or --http-client-ca";
    return Optional.of(
        "HTTP host %s is open to the network without %s, or use 127.0.0.1"
            .formatted(host, missing));
  }

  /** Pekko's, of all actor systems. */
  public static Config ofPekko() {
    ClassLoader loader = HttpSettings.class.getClassLoader();
    return ConfigFactory.load(
        loader, ConfigFactory.parseResourcesAnySyntax(loader, "retstack-pekko"));
  }
}
