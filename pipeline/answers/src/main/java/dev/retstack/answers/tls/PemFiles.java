package dev.retstack.answers.tls;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.TrustManager;

/** Certificates and keys in PEM files (RFC 7468). */
public final class PemFiles {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

  private PemFiles() {}

  /**
   * All certificates of a file, in its order.
   *
   * @throws IllegalArgumentException where it cannot be read, or holds none
   */
  public static List<X509Certificate> certificates(Path pem) {
    List<X509Certificate> found = new ArrayList<>();
    try (InputStream in = Files.newInputStream(pem)) {
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        found.add((X509Certificate) one);
      }
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "cannot read certificates from %s: %s: give a PEM file".formatted(pem, reason(e)), e);
    }
    if (found.isEmpty()) {
      throw new IllegalArgumentException("no certificate in " + pem + ": give a PEM file");
    }
    return found;
  }

  /**
   * Trusts servers that the certificates of a file vouch for, and no others.
   *
   * @throws IllegalArgumentException where it cannot be read, or holds none
   */
  public static TrustManager[] trust(Path pem) throws GeneralSecurityException {
    return new TrustManager[] {PeerTrust.authorities(certificates(pem))};
  }

  /**
   * The private key of a file, PKCS #8 without a password.
   *
   * @param certificate whose key it has to be
   * @throws IllegalArgumentException where it cannot be read, or is another one's
   */
  public static PrivateKey key(Path pem, X509Certificate certificate) {
    PublicKey owner = certificate.getPublicKey();
    try {
      Matcher found = KEY.matcher(Files.readString(pem, US_ASCII));
      if (!found.find()) {
        throw new IllegalArgumentException(
            "no key of PKCS #8 without a password in %s: make one by \"openssl pkcs8 -topk8 -nocrypt\""
                .formatted(pem));
      }
      byte[] bytes = Base64.getMimeDecoder().decode(found.group(1));
      PrivateKey key =
          KeyFactory.getInstance(owner.getAlgorithm())
              .generatePrivate(new PKCS8EncodedKeySpec(bytes));
      if (isKeyOf(key, owner)) {
        return key;
      }
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "cannot read the key of %s from %s: %s"
              .formatted(certificate.getSubjectX500Principal(), pem, e.getMessage()),
          e);
    }
    throw new IllegalArgumentException(
        "the key in %s is not that of %s: give the two that were made together"
            .formatted(pem, certificate.getSubjectX500Principal()));
  }

  /** What it signs is what the other verifies: else the handshake would fail without saying so. */
  private static boolean isKeyOf(PrivateKey key, PublicKey owner) throws GeneralSecurityException {
    String algorithm =
        switch (owner.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> owner.getAlgorithm();
        };
    byte[] text = PemFiles.class.getName().getBytes(US_ASCII);
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(key);
    signature.update(text);
    byte[] signed = signature.sign();
    signature.initVerify(owner);
    signature.update(text);
    return signature.verify(signed);
  }

  /** Why a file cannot be read, in words without the name of a class or of the file again. */
  public static String reason(Exception e) {
    return switch (e) {
      case NoSuchFileException _ -> "there is no such file";
      case AccessDeniedException _ -> "this user may not read it";
      default ->
          reason(e.getCause() instanceof IOException cause ? cause.getMessage() : e.getMessage());
    };
  }

  private static String reason(String message) {
    String own = message == null ? "" : message.replaceAll("\\b(?:[a-z]+\\.)+[A-Z]\\w*: ", "");
    return switch (own) {
      case "" -> "the system does not say why";
      case "Is a directory" -> "it is a folder";
      default -> own;
    };
  }
}
