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
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;

/** The certificate and the key of the HTTP side, ready for use. */
public final class HttpTls {
  private final SSLContext context;
  private final SSLContext peers;
  private final boolean asksClients;

  private HttpTls(SSLContext context, SSLContext peers, boolean asksClients) {
    this.context = context;
    this.peers = peers;
    this.asksClients = asksClients;
  }

  /**
   * Reads a PKCS #12 keystore.
   *
   * @param passwordFile its first line is the password of store and key
   * @throws IllegalArgumentException where a file cannot be read, the password is wrong, or the
   *     store has no key
   */
  public static HttpTls read(Path keystore, Path passwordFile) {
    return read(keystore, passwordFile, Optional.empty());
  }

  /**
   * The same, and clients are let in by certificates.
   *
   * @param clientCa PEM file with the authorities that vouch for clients; members that share this
   *     keystore need none
   * @throws IllegalArgumentException also where it holds no certificate
   */
  public static HttpTls read(Path keystore, Path passwordFile, Path clientCa) {
    return read(keystore, passwordFile, Optional.of(PemFiles.certificates(clientCa)));
  }

  private static HttpTls read(
      Path keystore, Path passwordFile, Optional<List<X509Certificate>> clientCa) {
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
      TrustManager[] clients =
          clientCa.isEmpty() ? null : new TrustManager[] {PeerTrust.clients(clientCa.get(), own)};
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), clients, null);
      SSLContext peers = SSLContext.getInstance("TLS");
      // a member that wants a certificate is shown this one
      peers.init(keys.getKeyManagers(), new TrustManager[] {PeerTrust.servers(store, own)}, null);
      return new HttpTls(context, peers, clientCa.isPresent());
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

  /** Whether clients are asked for a certificate; one that is wrong ends the handshake. */
  boolean asksClients() {
    return asksClients;
  }

  /**
   * For a connection of the server. Clients are asked for a certificate, not made to have one:
   * probes have none, and all others are told in words what they lack.
   */
  public SSLEngine engine() {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(false);
    engine.setWantClientAuth(asksClients);
    return engine;
  }
}
