package dev.retstack.answers.http;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.encodeResponseWith;
import static org.apache.pekko.http.javadsl.server.Directives.extractRequest;
import static org.apache.pekko.http.javadsl.server.Directives.get;
import static org.apache.pekko.http.javadsl.server.Directives.handleExceptions;
import static org.apache.pekko.http.javadsl.server.Directives.handleRejections;
import static org.apache.pekko.http.javadsl.server.Directives.reject;
import static org.apache.pekko.http.javadsl.server.Directives.withRequestTimeoutResponse;

import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.apache.pekko.http.javadsl.coding.Coder;
import org.apache.pekko.http.javadsl.model.AttributeKeys;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpMethods;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.SslSessionInfo;
import org.apache.pekko.http.javadsl.model.Uri;
import org.apache.pekko.http.javadsl.model.headers.Connection;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.Route;

/**
 * Decides who may ask: a client with the token, or with a certificate if certificates are accepted.
 * If neither is configured, every client on this machine that names this machine may ask.
 */
public final class Access {
  /** Addresses that no name service answers for. */
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost|127(\\.\\d{1,3}){3}|\\[?::1]?");

  private final Optional<HttpToken> token;
  private final boolean certificates;
  private final Set<String> names;
  private final Set<Endpoint> served;
  private final Nonces nonces;
  private final Supplier<String> url;

  /**
   * Access to a server that nobody finds in Kafka.
   *
   * @param served all that it answers
   */
  public Access(HttpSettings http, Collection<Endpoint> served) {
    this(http, served, new Nonces(), () -> "");
  }

  /**
   * Access to a server.
   *
   * @param served all that it answers
   * @param nonces that it gave out
   * @param url under which others find it
   */
  public Access(
      HttpSettings http, Collection<Endpoint> served, Nonces nonces, Supplier<String> url) {
    this.nonces = nonces;
    this.url = url;
    this.served = EnumSet.copyOf(served);
    token = http.token();
    certificates = http.tls().filter(HttpTls::asksClients).isPresent();
    names =
        new HashSet<>(
            List.of(
                http.host(), http.advertised().orElse(http.host()), HttpSettings.thisMachine()));
  }

  /** Why a request is not answered; empty where it is. Probes ask for health without a secret. */
  public Optional<HttpResponse> refusal(HttpRequest request) {
    if (request.method().equals(HttpMethods.GET) && !request.entity().isKnownEmpty()) {
      return Optional.of(
          Refusals.error(400, "a body was sent with GET", "send none: questions have none")
              .addHeader(Connection.create("close")));
    }
    if (Endpoint.label(request.getUri().getPathString()).equals("health")) {
      return Optional.empty();
    }
    if (token.isEmpty() && !certificates) {
      return isForThisMachine(request) ? Optional.empty() : Optional.of(misnamed());
    }
    // a browser cannot show a token before a page has asked for it
    boolean isPage = Endpoint.isPage(request.getUri().getPathString());
    return isPage || isShown(request) || hasCertificate(request)
        ? Optional.empty()
        : Optional.of(unauthorized());
  }

  /** What answers those who may ask: GET alone, in time, each failure in one form. */
  public Route guard(Route route) {
    return guard(route, reject());
  }

  /**
   * Guards a route for reading and another one for commands.
   *
   * @param route for GET alone
   * @param commands has its own rules of access
   */
  public Route guard(Route route, Route commands) {
    Route getOnly = get(() -> route);
    Route all = concat(getOnly, commands);
    Route known = handleRejections(Refusals.rejections(served), () -> all);
    Route timed = withRequestTimeoutResponse(_ -> Refusals.late(), () -> known);
    Route safe = handleExceptions(Refusals.failures(), () -> timed);
    return extractRequest(
        request -> refusal(request).<Route>map(refused -> complete(refused)).orElse(safe));
  }

  /** Answers packed for those who take it: fast rather than small, since most are near. */
  public static Route packed(Route served) {
    return encodeResponseWith(
        List.of(Coder.NoCoding, Coder.GzipLevel1, Coder.DeflateLevel1), () -> served);
  }

  private boolean isShown(HttpRequest request) {
    String shown = request.getHeader("Authorization").map(HttpHeader::value).orElse("");
    return token.isPresent()
        && (token.get().isShownBy(shown)
            || token.get().isProvenBy(shown, nonces, url.get(), question(request.getUri())));
  }

  /** Path and query, as a client sent them. */
  public static String question(Uri uri) {
    return uri.path() + uri.rawQueryString().map(query -> "?" + query).orElse("");
  }

  /** A certificate that was shown has been checked in the handshake. */
  private boolean hasCertificate(HttpRequest request) {
    return certificates
        && request
            .getAttribute(AttributeKeys.sslSession)
            .map(SslSessionInfo::getSession)
            .filter(Access::isVerified)
            .isPresent();
  }

  private static boolean isVerified(SSLSession session) {
    try {
      return session.getPeerCertificates().length > 0;
    } catch (SSLPeerUnverifiedException e) {
      return false;
    }
  }

  private HttpResponse unauthorized() {
    String byToken =
        "send the header Authorization: Bearer TOKEN; retstack does with --http-token-file";
    String byCertificate =
        "show a certificate of an authority that this member knows; retstack does with --http-cert"
            + " and --http-key";
    HttpResponse refused =
        Refusals.error(
            401,
            certificates
                ? token.isPresent()
                    ? "no token, or a wrong one, and no certificate"
                    : "no certificate"
                : "no token, or a wrong one",
            certificates
                ? token.isPresent() ? byToken + "; or " + byCertificate : byCertificate
                : byToken);
    return token.isPresent()
        ? refused.addHeader(RawHeader.create("WWW-Authenticate", "Bearer realm=\"retstack\""))
        : refused;
  }

  /**
   * A page of the web can make its own name mean this machine and have the browser ask; it cannot
   * change the name that the browser then sends.
   */
  private boolean isForThisMachine(HttpRequest request) {
    String host = request.getUri().getHost().address();
    return host.isEmpty() || LOOPBACK.matcher(host).matches() || names.contains(host);
  }

  private static HttpResponse misnamed() {
    return Refusals.error(
        421,
        "the address names another host",
        "ask 127.0.0.1 or localhost, or by the name of --http-advertise; or start the pipeline with"
            + " a token");
  }
}
