package dev.retstack.answers.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.answers.tls.PemFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** What a client has to send: {@code Authorization: Bearer TOKEN}. Never printed. */
public final class HttpToken {
  /** Shortest token: fewer characters can be guessed. */
  public static final int CHARACTERS_MIN = 16;

  private static final String SCHEME = "Bearer ";
  private static final String PROVEN = "Retstack ";

  private final String token;
  private final byte[] digest;

  private HttpToken(String token) {
    this.token = token;
    this.digest = digest(token);
  }

  /**
   * The token in a file: its first line.
   *
   * @throws IllegalArgumentException where the file cannot be read, or the token is too short or
   *     holds what a header cannot
   */
  public static HttpToken read(Path file) {
    String text;
    try {
      text = Files.readString(file).lines().findFirst().orElse("").strip();
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "cannot read the HTTP token in %s: %s; name a file with it"
              .formatted(file, PemFiles.reason(e)),
          e);
    }
    if (text.length() < CHARACTERS_MIN) {
      throw new IllegalArgumentException(
          "HTTP token in %s has %d characters: use %d or more, such as of \"openssl rand -hex 32\""
              .formatted(file, text.length(), CHARACTERS_MIN));
    }
    if (!text.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new IllegalArgumentException(
          "HTTP token in %s holds more than letters, digits and signs of ASCII: use others"
              .formatted(file));
    }
    return new HttpToken(text);
  }

  /** Value of the header of a client that has it. */
  public String authorization() {
    return SCHEME + token;
  }

  /**
   * Value of the header of a client that has it and does not say it.
   *
   * @param nonce that the server gave
   * @param url of the server, as the client asks it
   * @param question path and query
   */
  public String proof(String nonce, String url, String question) {
    return PROVEN + nonce + ":" + mac(nonce, url, question);
  }

  /** Whether a client proved that it has the token; see {@link #proof}. */
  boolean isProvenBy(String authorization, Nonces nonces, String url, String question) {
    int colon = authorization.lastIndexOf(':');
    if (!authorization.startsWith(PROVEN) || colon < PROVEN.length()) {
      return false;
    }
    String nonce = authorization.substring(PROVEN.length(), colon);
    byte[] expected = mac(nonce, url, question).getBytes(UTF_8);
    return nonces.isFresh(nonce)
        && MessageDigest.isEqual(expected, authorization.substring(colon + 1).getBytes(UTF_8));
  }

  private String mac(String nonce, String url, String question) {
    return Nonces.mac(token.getBytes(UTF_8), nonce + " " + url + " " + question);
  }

  /** Whether a client showed it. Takes the same time whatever was shown. */
  boolean isShownBy(String authorization) {
    boolean bearer = authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length());
    String shown = bearer ? authorization.substring(SCHEME.length()).strip() : "";
    // digests have one length: neither the length nor the first difference shows in the time
    return MessageDigest.isEqual(digest, digest(shown)) && bearer;
  }

  private static byte[] digest(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return "HttpToken[not shown]";
  }
}
