package dev.retstack.service.identity;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Node;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * What a member signs of an answer as it goes: the caller's challenge, its own address, the
 * question, and all bytes so far. So nobody on the way can change, leave out, add or repeat any.
 */
public final class AnswerSeal {
  /** Length of a signature. */
  public static final int BYTES = 64;

  private final MessageDigest sent;

  /**
   * Begins the seal of an answer, still without bytes.
   *
   * @param challenge of the caller, empty where it had none
   * @param url of the member, as Kafka reports it
   * @param question path and query
   */
  public AnswerSeal(String challenge, String url, String question) {
    try {
      sent = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
    sent.update(
        ("retstack-answer " + challenge + " " + url + " " + question + "\n").getBytes(UTF_8));
  }

  /** More bytes of the answer. */
  public void add(byte[] bytes) {
    sent.update(bytes);
  }

  /** Some of the bytes of an array. */
  public void add(byte[] bytes, int from, int count) {
    sent.update(bytes, from, count);
  }

  /** The signature of what was added. */
  public byte[] sign(MemberKey key) {
    return key.sign(soFar());
  }

  /** Whether a member signed what was added. */
  public boolean isSigned(Node by, byte[] signature) {
    return MemberKey.isSigned(SignedNode.bytes(by.getKey()), soFar(), signature);
  }

  private byte[] soFar() {
    try {
      return ((MessageDigest) sent.clone()).digest();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("SHA-256 of the JDK can be copied", e);
    }
  }
}
