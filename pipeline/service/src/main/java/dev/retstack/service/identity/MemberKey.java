package dev.retstack.service.identity;

import dev.retstack.schema.wire.Digest;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The key of a member, made when it starts and kept nowhere. The digest of its public half ends the
 * client id with which the member is in its consumer group. Only who may join the group can stand
 * there, so Kafka says which keys are members'.
 */
public final class MemberKey {
  private static final String ALGORITHM = "Ed25519";
  private static final Pattern CLIENT_ID = Pattern.compile(".*retstack-([0-9a-f]{32})");

  private final KeyPair pair;

  private MemberKey(KeyPair pair) {
    this.pair = pair;
  }

  /** A key that no other member has. */
  public static MemberKey fresh() {
    try {
      return new MemberKey(KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has " + ALGORITHM, e);
    }
  }

  /** The public key. */
  public byte[] open() {
    return pair.getPublic().getEncoded();
  }

  /** The client id of its member. */
  public String clientId() {
    return "retstack-" + digest(open());
  }

  /** What a client id says of its member's key; empty where it is of no member. */
  public static Optional<String> digestIn(String clientId) {
    Matcher matcher = CLIENT_ID.matcher(clientId);
    return matcher.matches() ? Optional.of(matcher.group(1)) : Optional.empty();
  }

  /** Digest that identifies a public key. */
  public static String digest(byte[] open) {
    return Digest.of(open);
  }

  /** Signs what nobody else can sign. */
  byte[] sign(byte[] message) {
    try {
      Signature signature = Signature.getInstance(ALGORITHM);
      signature.initSign(pair.getPrivate());
      signature.update(message);
      return signature.sign();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a fresh key signs", e);
    }
  }

  /** Whether the holder of this public key signed that. */
  static boolean isSigned(byte[] open, byte[] message, byte[] signed) {
    try {
      Signature signature = Signature.getInstance(ALGORITHM);
      signature.initVerify(
          KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(open)));
      signature.update(message);
      return signature.verify(signed);
    } catch (GeneralSecurityException _) {
      return false; // no key, or no signature
    }
  }
}
