package dev.retstack.answers.tls;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Decides on either end of a connection whether the peer is a member of the same job, or may ask
 * it. A peer that presents this member's own certificate has its key, and is accepted at any
 * address. So members that share a keystore need no certificate for each address. Any other
 * certificate must be signed by an authority; a server's must also name the called host.
 */
final class PeerTrust extends X509ExtendedTrustManager {
  private final Set<X509Certificate> own;
  private final X509ExtendedTrustManager authorities;

  private PeerTrust(Set<X509Certificate> own, X509ExtendedTrustManager authorities) {
    this.own = Set.copyOf(own);
    this.authorities = authorities;
  }

  /**
   * Trusts who is vouched for, and who shows an own certificate.
   *
   * @param own certificates whose keys this member has
   */
  static PeerTrust members(List<? extends Certificate> authorities, Set<X509Certificate> own)
      throws GeneralSecurityException {
    return new PeerTrust(own, authorities(authorities));
  }

  /** Accepts what these vouch for, and checks addresses, purposes and dates as the JVM does. */
  static X509ExtendedTrustManager authorities(List<? extends Certificate> trusted)
      throws GeneralSecurityException {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (Certificate certificate : trusted) {
        store.setCertificateEntry("ca-" + store.size(), certificate);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      for (TrustManager manager : factory.getTrustManagers()) {
        if (manager instanceof X509ExtendedTrustManager found) {
          return found;
        }
      }
      throw new GeneralSecurityException("this JVM has no X.509 trust manager");
    } catch (IOException e) {
      throw new GeneralSecurityException("cannot happen in memory", e);
    }
  }

  private interface Check {
    void run() throws CertificateException;
  }

  /** Believes an own certificate that is in date; of any other the authorities decide. */
  private void check(X509Certificate[] chain, Check byAuthorities) throws CertificateException {
    if (chain.length > 0 && own.contains(chain[0])) {
      chain[0].checkValidity();
    } else {
      byAuthorities.run();
    }
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    check(chain, () -> authorities.checkServerTrusted(chain, authType, engine));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    check(chain, () -> authorities.checkServerTrusted(chain, authType, socket));
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    throw new CertificateException("a server is checked with its address");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    check(chain, () -> authorities.checkClientTrusted(chain, authType, engine));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    check(chain, () -> authorities.checkClientTrusted(chain, authType, socket));
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    check(chain, () -> authorities.checkClientTrusted(chain, authType));
  }

  /**
   * Names no issuer to clients: they present the certificate they have, and a wrong one is refused.
   */
  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }
}
