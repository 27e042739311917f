package dev.retstack.service.query;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/** The certificate and the key of the HTTP side, ready for use. */
public final class HttpTls {
  private final SSLContext context;
  private final SSLContext peers;

  private HttpTls(SSLContext context, SSLContext peers) {
    this.context = context;
    this.peers = peers;
  }

  /**
   * Reads a PKCS #12 keystore.
   *
   * @param passwordFile its first line is the password of store and key
   * @throws IllegalArgumentException where a file cannot be read, the password is wrong, or the
   *     store has no key
   */
  public static HttpTls read(Path keystore, Path passwordFile) {
    char[] password = password(passwordFile);
    try (InputStream in = Files.newInputStream(keystore)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, password);
      boolean hasKey = false;
      Set<X509Certificate> own = new HashSet<>();
      for (String alias : Collections.list(store.aliases())) {
        hasKey |= store.isKeyEntry(alias);
        if (store.isKeyEntry(alias) && store.getCertificate(alias) instanceof X509Certificate x) {
          own.add(x);
        }
      }
      if (!hasKey) {
        throw new IllegalArgumentException(
            "HTTP keystore %s has no private key: put certificate and key into it"
                .formatted(keystore));
      }
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, password);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      SSLContext peers = SSLContext.getInstance("TLS");
      peers.init(null, new TrustManager[] {PeerTrust.of(store, own)}, null);
      return new HttpTls(context, peers);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "cannot read the HTTP keystore %s: %s: give a PKCS #12 file and its password"
              .formatted(keystore, e.getMessage() == null ? e : e.getMessage()),
          e);
    } finally {
      Arrays.fill(password, ' ');
    }
  }

  private static char[] password(Path file) {
    try {
      return Files.readString(file).lines().findFirst().orElse("").toCharArray();
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "cannot read the password of the HTTP keystore in " + file + ": " + e, e);
    }
  }

  /** For asking other members of the job: see {@link PeerTrust}. */
  SSLContext peers() {
    return peers;
  }

  /** For the server's sockets. */
  public SSLContext context() {
    return context;
  }
}
