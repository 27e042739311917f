package dev.retstack.answers.http;

import dev.retstack.answers.tls.MemberKeystore;
import dev.retstack.answers.tls.PemFiles;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

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
   * Reads the keystore, and accepts clients with certificates of these authorities.
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
    MemberKeystore store = MemberKeystore.read(keystore, passwordFile);
    SSLContext context = clientCa.map(store::clients).orElseGet(store::server);
    // a member that wants a certificate is shown this one
    return new HttpTls(context, store.members(), clientCa.isPresent());
  }

  /** For asking other members of the job: see {@link MemberKeystore}. */
  public SSLContext peers() {
    return peers;
  }

  /** Whether clients are asked for a certificate; one that is wrong ends the handshake. */
  boolean asksClients() {
    return asksClients;
  }

  /**
   * Makes the engine of a connection of the server. A certificate is asked for but not required:
   * probes have none, and other clients get an answer that says what is missing.
   */
  public SSLEngine engine() {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(false);
    engine.setWantClientAuth(asksClients);
    return engine;
  }
}
