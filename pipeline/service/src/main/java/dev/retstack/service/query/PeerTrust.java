package dev.retstack.service.query;

import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Collections;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Which servers are members of the same job. One that shows this member's own certificate has its
 * key, and is one whatever its address: members that share a keystore need no certificate for each
 * address. Any other has to be vouched for by an authority in this member's keystore, for the very
 * host that was asked.
 */
final class PeerTrust extends X509ExtendedTrustManager {
  private final Set<X509Certificate> own;
  private final X509ExtendedTrustManager authorities;

  private PeerTrust(Set<X509Certificate> own, X509ExtendedTrustManager authorities) {
    this.own = Set.copyOf(own);
    this.authorities = authorities;
  }

  /**
   * Trusts what is in a keystore.
   *
   * @param own certificates whose keys are in it
   */
  static PeerTrust of(KeyStore keystore, Set<X509Certificate> own) throws GeneralSecurityException {
    try {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      int number = 0;
      for (String alias : Collections.list(keystore.aliases())) {
        Certificate[] chain = keystore.getCertificateChain(alias);
        if (chain == null) {
          trusted.setCertificateEntry("ca-" + number++, keystore.getCertificate(alias));
          continue;
        }
        // its own certificate, and those who vouch for it
        for (Certificate certificate : chain) {
          trusted.setCertificateEntry("ca-" + number++, certificate);
        }
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(trusted);
      for (TrustManager manager : factory.getTrustManagers()) {
        if (manager instanceof X509ExtendedTrustManager authorities) {
          return new PeerTrust(own, authorities);
        }
      }
      throw new GeneralSecurityException("this JVM has no X.509 trust manager");
    } catch (java.io.IOException e) {
      throw new GeneralSecurityException("cannot happen in memory", e);
    }
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
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    if (!isOwn(chain)) {
      authorities.checkServerTrusted(chain, authType, socket);
    }
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    throw new CertificateException("a server is checked with its address");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    checkClientTrusted(chain, authType);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    checkClientTrusted(chain, authType);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    throw new CertificateException("members are asked with it; they do not ask");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return authorities.getAcceptedIssuers();
  }
}
