package dev.retstack.answers.http;

import dev.retstack.answers.tls.PemFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * How a client gets access to a member.
 *
 * @param token what to show; empty for nothing
 * @param trust how to speak TLS: whom to trust, what to show; empty as the JVM does
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
    return tls(Optional.of(pem), Optional.empty());
  }

  /**
   * A certificate to show, and its key.
   *
   * @param certificate PEM file; those who vouch for it may follow in it
   * @param key PEM file, PKCS #8 without a password
   */
  public record Identity(Path certificate, Path key) {}

  /**
   * How to speak TLS.
   *
   * @param ca PEM file with those who are trusted; empty for those whom the JVM trusts
   * @param shown to a member that lets clients in by certificates
   * @throws IllegalArgumentException where a file cannot be read, or the key is another one's
   */
  public static SSLContext tls(Optional<Path> ca, Optional<Identity> shown) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          shown.isEmpty() ? null : keys(shown.get()),
          ca.isEmpty() ? null : PemFiles.trust(ca.get()),
          null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException("cannot speak TLS: " + e.getMessage(), e);
    }
  }

  private static KeyManager[] keys(Identity shown) throws GeneralSecurityException, IOException {
    List<X509Certificate> chain = PemFiles.certificates(shown.certificate());
    char[] inMemory = new char[0];
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    store.setKeyEntry(
        "client",
        PemFiles.key(shown.key(), chain.getFirst()),
        inMemory,
        chain.toArray(X509Certificate[]::new));
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, inMemory);
    return keys.getKeyManagers();
  }
}
