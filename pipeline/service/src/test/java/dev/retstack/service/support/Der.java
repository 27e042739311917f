package dev.retstack.service.support;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import javax.security.auth.x500.X500Principal;

/** Writes X.509 certificates (RFC 5280) of elliptic curves, as DER: a JDK has no API for it. */
final class Der {
  private static final int INTEGER = 0x02;
  private static final int BITS = 0x03;
  private static final int OCTETS = 0x04;
  private static final int OID = 0x06;
  private static final int TIME = 0x18;
  private static final int SEQUENCE = 0x30;
  private static final byte[] TRUE = {0x01, 0x01, (byte) 0xff};
  private static final byte[] ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2));
  private static final DateTimeFormatter SECONDS =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

  private Der() {}

  /**
   * A certificate that is valid for two days.
   *
   * @param authority whether it may vouch for others
   * @param uses numbers below id-kp: 1 = servers, 2 = clients; none for any
   */
  static X509Certificate certificate(
      String subject,
      KeyPair keys,
      String issuer,
      KeyPair signer,
      boolean authority,
      List<Integer> uses)
      throws Exception {
    Instant now = Instant.now();
    ByteArrayOutputStream extensions = new ByteArrayOutputStream();
    byte[] localhost = tagged(0x82, "localhost".getBytes(StandardCharsets.US_ASCII));
    byte[] loopback = tagged(0x87, new byte[] {127, 0, 0, 1});
    extensions.write(
        sequence(oid(0x55, 0x1d, 0x11), tagged(OCTETS, sequence(localhost, loopback))));
    if (authority) {
      extensions.write(sequence(oid(0x55, 0x1d, 0x13), TRUE, tagged(OCTETS, sequence(TRUE))));
    }
    if (!uses.isEmpty()) {
      ByteArrayOutputStream ids = new ByteArrayOutputStream();
      for (int use : uses) {
        ids.write(oid(0x2b, 6, 1, 5, 5, 7, 3, use));
      }
      extensions.write(
          sequence(oid(0x55, 0x1d, 0x25), tagged(OCTETS, sequence(ids.toByteArray()))));
    }
    byte[] body =
        sequence(
            tagged(0xa0, tagged(INTEGER, new byte[] {2})),
            tagged(INTEGER, new BigInteger(64, new SecureRandom()).toByteArray()),
            ECDSA_SHA256,
            new X500Principal(issuer).getEncoded(),
            sequence(time(now.minus(Duration.ofDays(1))), time(now.plus(Duration.ofDays(1)))),
            new X500Principal(subject).getEncoded(),
            keys.getPublic().getEncoded(),
            tagged(0xa3, sequence(extensions.toByteArray())));
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(signer.getPrivate());
    signature.update(body);
    byte[] all = sequence(body, ECDSA_SHA256, tagged(BITS, joined(new byte[1], signature.sign())));
    return (X509Certificate)
        CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(all));
  }

  private static byte[] time(Instant when) {
    return tagged(TIME, SECONDS.format(when).getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] oid(int... bytes) {
    byte[] content = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      content[i] = (byte) bytes[i];
    }
    return tagged(OID, content);
  }

  private static byte[] sequence(byte[]... parts) {
    return tagged(SEQUENCE, joined(parts));
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  private static byte[] tagged(int tag, byte[] content) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.write(tag);
    int length = content.length;
    if (length >= 0x100) {
      all.write(0x82);
      all.write(length >> 8);
    } else if (length >= 0x80) {
      all.write(0x81);
    }
    all.write(length);
    all.writeBytes(content);
    return all.toByteArray();
  }
}
