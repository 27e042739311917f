package dev.retstack.service;

import dev.retstack.service.query.HttpToken;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * How to get in to a member.
 *
 * @param token what to show; empty for nothing
 * @param trust whom to trust; empty for those whom the JVM trusts
 */
public record LiveAccess(Optional<HttpToken> token, Optional<SSLContext> trust) {
  /** Nothing is shown. */
  public static final LiveAccess OPEN = new LiveAccess(Optional.empty(), Optional.empty());

  /**
   * Whether a token may be sent there: nobody on the way must be able to read it. An address that
   * was found, not given by the user, is held against this.
   */
  public static boolean keepsSecrets(URI url) {
    if ("https".equals(url.getScheme())) {
      return true;
    }
    try {
      return url.getHost() != null && InetAddress.getByName(url.getHost()).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  /**
   * Trusts the certificates in a PEM file, and no others.
   *
   * @throws IllegalArgumentException where it cannot be read, or holds none
   */
  public static SSLContext trusting(Path pem) {
    try (InputStream in = Files.newInputStream(pem)) {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (Certificate certificate :
          CertificateFactory.getInstance("X.509").generateCertificates(in)) {
        store.setCertificateEntry("ca-" + store.size(), certificate);
      }
      if (store.size() == 0) {
        throw new IllegalArgumentException("no certificate in " + pem + ": give a PEM file");
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "cannot read certificates from %s: %s: give a PEM file".formatted(pem, e.getMessage()),
          e);
    }
  }
}
