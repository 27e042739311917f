package dev.retstack.service.support;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Authorities, servers and clients with real certificates, made anew each time. */
public final class TestCertificates {
  /** For servers. */
  public static final int SERVER = 1;

  /** For clients. */
  public static final int CLIENT = 2;

  private static final String PASSWORD = "changed-every-time";

  private record Issued(KeyPair keys, X509Certificate certificate) {}

  private final Path dir;
  private final Path password;
  private final Map<String, Issued> issued = new HashMap<>();

  /** Keeps its files in this folder. */
  public TestCertificates(Path dir) throws IOException {
    this.dir = dir;
    this.password = Files.writeString(dir.resolve("password"), PASSWORD + "\n");
  }

  /** File with the password of all keystores. */
  public Path password() {
    return password;
  }

  /** PKCS #12 file of a name. */
  public Path keystore(String name) {
    return dir.resolve(name + ".p12");
  }

  /** PEM file with the certificate of a name. */
  public Path certificate(String name) {
    return dir.resolve(name + ".pem");
  }

  /** PEM file with the private key of a name. */
  public Path key(String name) {
    return dir.resolve(name + ".key");
  }

  /** One that vouches for itself, on loopback. */
  public void selfSigned(String name) throws Exception {
    issue(name, name, false, List.of());
  }

  /** One that may vouch for others. */
  public void authority(String name) throws Exception {
    issue(name, name, true, List.of());
  }

  /**
   * One on loopback for which an authority vouches.
   *
   * @param trusted authorities that its keystore has besides
   */
  public void signed(String name, String authority, List<Integer> uses, String... trusted)
      throws Exception {
    issue(name, authority, false, uses, trusted);
  }

  /** PEM file with the certificates of several. */
  public Path bundle(String... names) throws IOException {
    StringBuilder all = new StringBuilder();
    for (String name : names) {
      all.append(Files.readString(certificate(name)));
    }
    return Files.writeString(dir.resolve(String.join("-", names) + ".pem"), all);
  }

  private void issue(
      String name, String issuer, boolean authority, List<Integer> uses, String... trusted)
      throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(256);
    KeyPair keys = generator.generateKeyPair();
    boolean itself = name.equals(issuer);
    X509Certificate certificate =
        Der.certificate(
            "CN=" + name,
            keys,
            "CN=" + issuer,
            itself ? keys : issued.get(issuer).keys(),
            authority,
            uses);
    issued.put(name, new Issued(keys, certificate));
    Files.writeString(certificate(name), pem("CERTIFICATE", certificate.getEncoded()));
    Files.writeString(key(name), pem("PRIVATE KEY", keys.getPrivate().getEncoded()));
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    Certificate[] chain =
        itself
            ? new Certificate[] {certificate}
            : new Certificate[] {certificate, issued.get(issuer).certificate()};
    store.setKeyEntry("it", keys.getPrivate(), PASSWORD.toCharArray(), chain);
    for (String other : trusted) {
      store.setCertificateEntry("ca-" + other, issued.get(other).certificate());
    }
    try (OutputStream out = Files.newOutputStream(keystore(name))) {
      store.store(out, PASSWORD.toCharArray());
    }
  }

  private static String pem(String what, byte[] bytes) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(what, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes), what);
  }
}
