package dev.retstack.answers.tls;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/**
 * What a member presents and trusts: a PKCS #12 file with its key, its certificate and the
 * authorities for others.
 */
public final class MemberKeystore {
  private final KeyManagerFactory keys;
  private final Set<X509Certificate> own;
  private final List<Certificate> trusted;

  private MemberKeystore(
      KeyManagerFactory keys, Set<X509Certificate> own, List<Certificate> trusted) {
    this.keys = keys;
    this.own = Set.copyOf(own);
    this.trusted = List.copyOf(trusted);
  }

  /**
   * Reads a keystore.
   *
   * @param passwordFile its first line is the password of store and key
   * @throws IllegalArgumentException where a file cannot be read, the password is wrong, or the
   *     store has no key
   */
  public static MemberKeystore read(Path file, Path passwordFile) {
    char[] password = password(file, passwordFile);
    try (InputStream in = Files.newInputStream(file)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, password);
      Set<X509Certificate> own = new HashSet<>();
      List<Certificate> trusted = new ArrayList<>();
      boolean hasKey = false;
      for (String alias : Collections.list(store.aliases())) {
        hasKey |= store.isKeyEntry(alias);
        if (store.isKeyEntry(alias) && store.getCertificate(alias) instanceof X509Certificate x) {
          own.add(x);
        }
        Certificate[] chain = store.getCertificateChain(alias);
        // its own certificate, and those who vouch for it
        trusted.addAll(chain == null ? List.of(store.getCertificate(alias)) : List.of(chain));
      }
      if (!hasKey) {
        throw new IllegalArgumentException(
            "keystore %s has no private key: put certificate and key into it".formatted(file));
      }
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, password);
      return new MemberKeystore(keys, own, trusted);
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "cannot read the keystore %s: %s: give a PKCS #12 file and its password"
              .formatted(file, PemFiles.reason(e)),
          e);
    } finally {
      Arrays.fill(password, ' ');
    }
  }

  private static char[] password(Path keystore, Path file) {
    try {
      return Files.readString(file).lines().findFirst().orElse("").toCharArray();
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "cannot read the password of the keystore %s in %s: %s; name a file with it"
              .formatted(keystore, file, PemFiles.reason(e)),
          e);
    }
  }

  /** Shows this member's certificate; believes other members, on either end of a connection. */
  public SSLContext members() {
    return context(() -> PeerTrust.members(trusted, own));
  }

  /**
   * Shows this member's certificate; believes clients.
   *
   * @param authorities who vouch for them
   */
  public SSLContext clients(List<X509Certificate> authorities) {
    return context(() -> PeerTrust.members(authorities, own));
  }

  /** Shows this member's certificate and asks nobody for one. */
  public SSLContext server() {
    return context(() -> null);
  }

  private interface Trust {
    TrustManager of() throws GeneralSecurityException;
  }

  private SSLContext context(Trust trust) {
    try {
      TrustManager manager = trust.of();
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          keys.getKeyManagers(), manager == null ? null : new TrustManager[] {manager}, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("cannot set TLS up: " + e.getMessage(), e);
    }
  }
}
