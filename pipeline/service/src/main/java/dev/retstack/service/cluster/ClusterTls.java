package dev.retstack.service.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManager;
import org.apache.pekko.remote.artery.tcp.SSLEngineProvider;
import scala.Option;

/**
 * TLS between members: both ends show a certificate, both check it, see {@link MemberTrust}. The
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
    char[] password = new char[0];
    try (InputStream in = Files.newInputStream(keystore)) {
      password = Files.readString(passwordFile).lines().findFirst().orElse("").toCharArray();
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, password);
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      Set<X509Certificate> own = new HashSet<>();
      for (String alias : Collections.list(store.aliases())) {
        if (store.isKeyEntry(alias) && store.getCertificate(alias) instanceof X509Certificate x) {
          own.add(x);
        }
        Certificate[] chain = store.getCertificateChain(alias);
        Certificate[] all = chain == null ? new Certificate[] {store.getCertificate(alias)} : chain;
        for (Certificate one : all) {
          trusted.setCertificateEntry("ca-" + trusted.size(), one);
        }
      }
      if (own.isEmpty()) {
        throw new IllegalArgumentException(
            "keystore %s has no private key: put certificate and key into it".formatted(keystore));
      }
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, password);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), new TrustManager[] {MemberTrust.of(trusted, own)}, null);
      return new ClusterTls(context);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "cannot read the keystore %s: %s: give a PKCS #12 file and its password"
              .formatted(keystore, e.getMessage() == null ? e : e.getMessage()),
          e);
    } finally {
      Arrays.fill(password, ' ');
    }
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
