package dev.retstack.service.cluster;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Who may be a member, on either end of a connection: whoever shows this member's own certificate,
 * since it has its key, or one that an authority in this member's keystore vouches for. A member
 * that is called has to be the host that was called, unless the certificate is shared.
 */
final class MemberTrust extends X509ExtendedTrustManager {
  private final Set<X509Certificate> own;
  private final X509ExtendedTrustManager authorities;

  private MemberTrust(Set<X509Certificate> own, X509ExtendedTrustManager authorities) {
    this.own = Set.copyOf(own);
    this.authorities = authorities;
  }

  /**
   * Trusts what is in a store.
   *
   * @param trusted certificates only: the authorities
   */
  static MemberTrust of(KeyStore trusted, Set<X509Certificate> own)
      throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(trusted);
    for (TrustManager manager : factory.getTrustManagers()) {
      if (manager instanceof X509ExtendedTrustManager authorities) {
        return new MemberTrust(own, authorities);
      }
    }
    throw new GeneralSecurityException("this JVM has no X.509 trust manager");
  }

  private boolean isOwn(X509Certificate[] chain) throws CertificateException {
    if (chain.length == 0 || !own.contains(chain[0])) {
      return false;
    }
    chain[0].checkValidity();
    return true;
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    if (!isOwn(chain)) {
      authorities.checkServerTrusted(chain, authType, engine);
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    if (!isOwn(chain)) {
      authorities.checkClientTrusted(chain, authType, engine);
    }
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    throw new CertificateException("members speak through engines");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    throw new CertificateException("members speak through engines");
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    throw new CertificateException("a member is checked with its address");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    throw new CertificateException("a member is checked with its address");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return authorities.getAcceptedIssuers();
  }
}
