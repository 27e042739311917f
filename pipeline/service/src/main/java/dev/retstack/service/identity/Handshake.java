package dev.retstack.service.identity;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Node;
import java.io.IOException;
import java.net.http.HttpHeaders;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.regex.Pattern;

/**
 * How a member proves who it is to a caller that found its address in Kafka.
 *
 * <pre>
 * caller ── Retstack-Challenge: random ──────────────────────────────────► member
 *        ◄─ Retstack-Proof: signed (random, own address) · Retstack-Nonce ─
 *        ── the question · Authorization: Retstack NONCE:MAC of the token ─►
 *        ◄─ the answer · Retstack-Proof ───────────────────────────────────
 * </pre>
 *
 * The address is signed, so a proof that another one fetched from the member is none for its own.
 */
public final class Handshake {
  /** What the caller wants signed. */
  public static final String CHALLENGE = "Retstack-Challenge";

  /** The signature. */
  public static final String PROOF = "Retstack-Proof";

  /** What the caller binds its own proof to. */
  public static final String NONCE = "Retstack-Nonce";

  private static final int BYTES = 24;
  private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_-]{16,64}");
  private static final SecureRandom RANDOM = new SecureRandom();

  private Handshake() {}

  /** A challenge that nobody saw before. */
  public static String challenge() {
    byte[] random = new byte[BYTES];
    RANDOM.nextBytes(random);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
  }

  /** Whether a text may be a challenge: nothing else is signed. */
  public static boolean isChallenge(String text) {
    return FORM.matcher(text).matches();
  }

  /** What the member answers. */
  public static String proof(MemberKey key, String challenge, String url) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(key.sign(content(challenge, url)));
  }

  /**
   * Returns where the answer is of this member.
   *
   * @throws IOException where it is somebody else's
   */
  public static void require(Node node, String challenge, HttpHeaders answer) throws IOException {
    byte[] signed;
    try {
      signed = Base64.getUrlDecoder().decode(answer.firstValue(PROOF).orElse(""));
    } catch (IllegalArgumentException _) {
      signed = new byte[0];
    }
    if (!MemberKey.isSigned(
        SignedNode.bytes(node.getKey()), content(challenge, node.getUrl()), signed)) {
      throw new IOException(
          node.getUrl() + " does not prove that it is the member that announced this address");
    }
  }

  private static byte[] content(String challenge, String url) {
    return ("retstack-proof " + challenge + " " + url).getBytes(UTF_8);
  }
}
