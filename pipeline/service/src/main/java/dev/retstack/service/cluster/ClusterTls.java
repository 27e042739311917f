package dev.retstack.service.cluster;

import dev.retstack.service.tls.MemberKeystore;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import org.apache.pekko.remote.artery.tcp.SSLEngineProvider;
import scala.Option;

/**
 * TLS between members: both ends show a certificate, both check it, see {@link MemberKeystore}. The
 * keystore may be that of the HTTP side.
 */
public final class ClusterTls implements SSLEngineProvider {
  private final SSLContext context;

  private ClusterTls(SSLContext context) {
    this.context = context;
  }

  /**
   * Reads a PKCS #12 keystore: this member's key and certificate, and the authorities it believes.
   *
   * @param passwordFile its first line is the password of store and key
   * @throws IllegalArgumentException where a file cannot be read, the password is wrong, or the
   *     store has no key
   */
  public static ClusterTls read(Path keystore, Path passwordFile) {
    return new ClusterTls(MemberKeystore.read(keystore, passwordFile).members());
  }

  @Override
  public SSLEngine createServerSSLEngine(String hostname, int port) {
    SSLEngine engine = context.createSSLEngine(hostname, port);
    engine.setUseClientMode(false);
    engine.setNeedClientAuth(true);
    return engine;
  }

  @Override
  public SSLEngine createClientSSLEngine(String hostname, int port) {
    SSLEngine engine = context.createSSLEngine(hostname, port);
    engine.setUseClientMode(true);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    engine.setSSLParameters(parameters);
    return engine;
  }

  @Override
  public Option<Throwable> verifyClientSession(String hostname, SSLSession session) {
    return Option.empty(); // the handshake has checked it
  }

  @Override
  public Option<Throwable> verifyServerSession(String hostname, SSLSession session) {
    return Option.empty();
  }
}
