package dev.retstack.answers.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.headers.Connection;

/**
 * Decides who may command, of those who may ask: a page of this very server, which has read the
 * token of this start of it. A page of another origin can send a request, but can read no answer,
 * and cannot choose the headers {@code Origin} and {@code Sec-Fetch-Site}. Asked before a body is
 * read.
 */
public final class CommandGuard {
  /** Header that bears the token. */
  public static final String HEADER = "Retstack-Page-Token";

  /** Longest body of a command, in bytes; the parser of requests has the same bound. */
  public static final int BODY_BYTES_MAX = 64 << 10;

  private static final int TOKEN_BYTES = 32;
  private static final String OTHER_WAY =
      "open the page Control of this member, or use retstack trace";

  private final boolean allowed;
  private final String scheme;
  private final String token;

  /**
   * A guard with a new token.
   *
   * @param allowed whether this member takes commands at all
   */
  public CommandGuard(HttpSettings http, boolean allowed) {
    this.allowed = allowed;
    this.scheme = http.scheme();
    byte[] random = new byte[TOKEN_BYTES];
    new SecureRandom().nextBytes(random);
    this.token = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }

  /** Whether this member takes commands. */
  public boolean isAllowed() {
    return allowed;
  }

  /** What a page must show; empty if no commands are taken. */
  public String token() {
    return allowed ? token : "";
  }

  /** Why a command is not taken; empty if it is. */
  public Optional<HttpResponse> refusal(HttpRequest request) {
    if (!allowed) {
      return refused(
          403,
          "this member takes no commands: it was started without --commands",
          "use retstack trace, or start the member with --commands");
    }
    String host = header(request, "Host");
    String own = scheme + "://" + host;
    String origin = header(request, "Origin");
    if (origin.isEmpty()) {
      return refused(403, "a command without the header Origin: it must be " + own, OTHER_WAY);
    }
    if (host.isEmpty() || !origin.equalsIgnoreCase(own)) {
      return refused(
          403, "a command from the origin '%s', not from %s".formatted(origin, own), OTHER_WAY);
    }
    String site = header(request, "Sec-Fetch-Site");
    if (!site.isEmpty() && !site.equals("same-origin")) {
      return refused(
          403, "a command with Sec-Fetch-Site '%s', not same-origin".formatted(site), OTHER_WAY);
    }
    String shown = header(request, HEADER);
    if (!MessageDigest.isEqual(shown.getBytes(US_ASCII), token.getBytes(US_ASCII))) {
      return refused(
          403,
          "%s in the header %s"
              .formatted(shown.isEmpty() ? "no token" : "not the token of this start", HEADER),
          "load the page again; GET /control tells the token");
    }
    String type = request.entity().getContentType().toString();
    if (!type.equals("application/json")) {
      return refused(
          415, "a command as '%s'".formatted(type), "send it as Content-Type: application/json");
    }
    long length = request.entity().getContentLengthOption().orElse(0);
    return length > BODY_BYTES_MAX ? Optional.of(tooLarge()) : Optional.empty();
  }

  /** The refusal of a body beyond {@link #BODY_BYTES_MAX}. */
  public static HttpResponse tooLarge() {
    return Refusals.error(
            413,
            "a command of more than %,d bytes".formatted(BODY_BYTES_MAX),
            "say it by wildcards, or use retstack trace")
        .addHeader(Connection.create("close"));
  }

  private static Optional<HttpResponse> refused(int status, String fact, String cure) {
    return Optional.of(Refusals.error(status, fact, cure));
  }

  private static String header(HttpRequest request, String name) {
    return request.getHeader(name).map(HttpHeader::value).orElse("");
  }
}
