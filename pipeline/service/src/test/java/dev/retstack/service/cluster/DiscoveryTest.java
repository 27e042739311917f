package dev.retstack.service.cluster;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Addresses of members by name, by service record and by the Kubernetes API. Name server and API
 * server are servers of this test, which answer in the protocol's own bytes: the client is what is
 * tested.
 */
class DiscoveryTest {
  private static final int SRV = 33;

  @TempDir private Path dir;

  @Test
  void aNameStandsForItsAddresses() throws Exception {
    assertThat(Discovery.of("dns:localhost:7071").addresses(List.of())).contains("127.0.0.1:7071");
    assertThatThrownBy(() -> Discovery.of("dns:members.invalid:7071").addresses(List.of()))
        .isInstanceOf(IOException.class);
    for (String wrong : List.of("dns:", "dns:name", "dns:name:0", "dns:name:x", "kubernetes:")) {
      assertThatThrownBy(() -> Discovery.of(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("use ");
    }
  }

  @Test
  void serviceRecordsSayHostAndPort() throws Exception {
    try (DatagramSocket server = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> answer(server));
      var discovery =
          new DnsDiscovery(
              "_cluster._tcp.pipeline.example",
              OptionalInt.empty(),
              "dns://127.0.0.1:" + server.getLocalPort());
      assertThat(discovery.addresses(List.of()))
          .containsExactlyInAnyOrder("one.pipeline.example:7071", "two.pipeline.example:7072");
    }
  }

  /** Two records to every question. */
  private static void answer(DatagramSocket server) {
    byte[] bytes = new byte[512];
    try {
      while (true) {
        DatagramPacket question = new DatagramPacket(bytes, bytes.length);
        server.receive(question);
        int end = 12;
        while (bytes[end] != 0) {
          end += bytes[end] + 1;
        }
        ByteBuffer answer = ByteBuffer.allocate(512);
        answer.put(bytes, 0, 2).putShort((short) 0x8180);
        answer.putShort((short) 1).putShort((short) 2).putInt(0);
        answer.put(bytes, 12, end + 5 - 12);
        record(answer, 7071, "one");
        record(answer, 7072, "two");
        server.send(
            new DatagramPacket(answer.array(), answer.position(), question.getSocketAddress()));
      }
    } catch (IOException _) {
      // closed
    }
  }

  private static void record(ByteBuffer answer, int port, String host) {
    answer.putShort((short) 0xc00c).putShort((short) SRV).putShort((short) 1).putInt(30);
    int length = answer.position();
    answer.putShort((short) 0);
    answer.putShort((short) 0).putShort((short) 5).putShort((short) port);
    for (String label : List.of(host, "pipeline", "example")) {
      answer.put((byte) label.length()).put(label.getBytes(US_ASCII));
    }
    answer.put((byte) 0);
    answer.putShort(length, (short) (answer.position() - length - 2));
  }

  @Test
  void podsThatRunAreMembers() throws Exception {
    AtomicReference<String> asked = new AtomicReference<>();
    HttpsServer server =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(certificate()));
    server.createContext(
        "/",
        exchange -> {
          String shown = exchange.getRequestHeaders().getFirst("Authorization");
          asked.set(exchange.getRequestURI().toString());
          byte[] body = PODS.getBytes(UTF_8);
          int status = "Bearer secret-of-the-pod".equals(shown) ? 200 : 403;
          exchange.sendResponseHeaders(status, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      Files.writeString(dir.resolve("namespace"), "traces");
      Files.writeString(dir.resolve("token"), "secret-of-the-pod\n");
      var discovery =
          new KubernetesDiscovery(
              "app=retstack,tier in (pipeline)",
              URI.create("https://localhost:" + server.getAddress().getPort()),
              dir);
      assertThat(discovery.addresses(List.of())).containsExactly("10.1.0.7:7071", "10.1.0.8:7071");
      assertThat(asked.get())
          .startsWith("/api/v1/namespaces/traces/pods?labelSelector=app%3Dretstack%2C");
      Files.writeString(dir.resolve("token"), "of somebody else");
      assertThatThrownBy(() -> discovery.addresses(List.of()))
          .hasMessageContaining("403")
          .hasMessageContaining("must be allowed to list pods");
    } finally {
      server.stop(0);
    }
  }

  private SSLContext certificate() throws Exception {
    Files.writeString(dir.resolve("password"), "password-of-a-test");
    keytool(
        "-genkeypair -alias a -keyalg EC -dname CN=api -ext SAN=dns:localhost -storetype PKCS12");
    keytool("-exportcert -alias a -rfc -file ca.crt");
    KeyStore store = KeyStore.getInstance("PKCS12");
    char[] password = "password-of-a-test".toCharArray();
    try (InputStream in = Files.newInputStream(dir.resolve("api.p12"))) {
      store.load(in, password);
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, password);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    return context;
  }

  private void keytool(String line) throws Exception {
    String program = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    String whole = program + " " + line + " -keystore api.p12 -storepass:file password";
    Process process =
        new ProcessBuilder(whole.split(" ", -1))
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  /** As the API server lists them; of each only what matters here, and some that does not. */
  private static final String PODS =
      """
      {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "4711"}, "items": [
        {"metadata": {"name": "retstack-pipeline-a", "namespace": "traces"},
         "spec": {"containers": [{"name": "pipeline", "ports": [
           {"name": "https", "containerPort": 7070, "protocol": "TCP"},
           {"name": "cluster", "containerPort": 7071, "protocol": "TCP"}]}]},
         "status": {"phase": "Running", "podIP": "10.1.0.7", "podIPs": [{"ip": "10.1.0.7"}]}},
        {"metadata": {"name": "retstack-pipeline-b"},
         "spec": {"containers": [{"name": "mesh"}, {"name": "pipeline", "ports": [
           {"name": "cluster", "containerPort": 7071}]}]},
         "status": {"phase": "Running", "podIP": "10.1.0.8"}},
        {"metadata": {"name": "starts"},
         "spec": {"containers": [{"ports": [{"name": "cluster", "containerPort": 7071}]}]},
         "status": {"phase": "Pending"}},
        {"metadata": {"name": "ends", "deletionTimestamp": "2026-11-22T10:00:00Z"},
         "spec": {"containers": [{"ports": [{"name": "cluster", "containerPort": 7071}]}]},
         "status": {"phase": "Running", "podIP": "10.1.0.9"}},
        {"metadata": {"name": "failed"},
         "spec": {"containers": [{"ports": [{"name": "cluster", "containerPort": 7071}]}]},
         "status": {"phase": "Failed", "podIP": "10.1.0.10"}}]}
      """;
}
