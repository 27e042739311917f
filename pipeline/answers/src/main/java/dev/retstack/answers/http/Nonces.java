package dev.retstack.answers.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Numbers that this member gave out lately. None is kept: each holds its time, and a mark that only
 * this member can make.
 */
public final class Nonces {
  private static final Duration FRESH = Duration.ofSeconds(60);

  private final byte[] secret = new byte[32];
  private final long began = System.nanoTime();

  /** Gave out none so far. */
  public Nonces() {
    new SecureRandom().nextBytes(secret);
  }

  /** A new one. */
  public String next() {
    return of(Long.toHexString(System.nanoTime() - began));
  }

  /** Whether this one was given out a moment ago. */
  public boolean isFresh(String nonce) {
    int dot = nonce.indexOf('.');
    String time = dot < 1 || dot > 16 ? "" : nonce.substring(0, dot);
    if (time.isEmpty() || !MessageDigest.isEqual(bytes(of(time)), bytes(nonce))) {
      return false;
    }
    long age = System.nanoTime() - began - Long.parseUnsignedLong(time, 16);
    return age < FRESH.toNanos();
  }

  private String of(String time) {
    return time + "." + mac(secret, time);
  }

  /** A mark of this text that only who has the secret can make. */
  public static String mac(byte[] secret, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      return HexFormat.of().formatHex(mac.doFinal(bytes(text)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has HmacSHA256", e);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }
}
