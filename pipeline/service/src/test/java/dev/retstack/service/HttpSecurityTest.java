package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.HttpTls;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.answers.http.LiveAccess;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.TestCertificates;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may ask: real TLS, with certificates and a token. */
class HttpSecurityTest {
  private static final String TOKEN = "0123456789abcdef-token";

  @TempDir private static Path dir;
  private static TestCertificates certificates;
  private static Path token;

  @BeforeAll
  static void secrets() throws Exception {
    certificates = new TestCertificates(dir);
    certificates.selfSigned("http");
    certificates.authority("authority");
    certificates.authority("other");
    certificates.signed("client", "authority", List.of(TestCertificates.CLIENT));
    certificates.signed("server", "authority", List.of(TestCertificates.SERVER));
    certificates.signed("stranger", "other", List.of(TestCertificates.CLIENT));
    token = Files.writeString(dir.resolve("token"), TOKEN + "\n");
  }

  @Test
  void withTlsAndTokenAMemberServesTheNetwork() throws Exception {
    HttpSettings open = HttpSettings.LOCAL.at("0.0.0.0", 0).token(HttpToken.read(token)).tls(tls());
    LiveBench bench = LiveBench.fresh();
    try (Pipeline pipeline = PipelineService.start(bench.config().but().http(open).build())) {
      assertThat(pipeline.httpUri().getScheme()).isEqualTo("https");
      assertThat(pipeline.httpUri().getHost()).as("nobody's address").isNotEqualTo("0.0.0.0");
      URI local = URI.create("https://127.0.0.1:" + pipeline.httpUri().getPort());
      checkToken(local);
      checkClient(local);
      checkTls(local);
    }
  }

  private void checkToken(URI local) throws Exception {
    try (HttpAsk ask =
        new HttpAsk(local, Optional.of(LiveAccess.trusting(certificates.certificate("http"))))) {
      for (String path : List.of("/report", "/metrics", "/openapi.json", "/subjects", "/no")) {
        assertThat(ask.get(path).statusCode()).as(path).isEqualTo(401);
        for (String wrong :
            List.of(TOKEN, "Bearer", "Bearer " + TOKEN + "x", "Basic " + TOKEN, "Bearer x")) {
          HttpResponse<String> refused = ask.get(path, "Authorization", wrong);
          assertThat(refused.statusCode()).as(wrong).isEqualTo(401);
          assertThat(refused.headers().firstValue("WWW-Authenticate")).isPresent();
          assertThat(refused.body()).doesNotContain(TOKEN);
        }
      }
      for (String right : List.of("Bearer " + TOKEN, "bearer " + TOKEN)) {
        assertThat(ask.get("/report", "Authorization", right).statusCode()).isEqualTo(200);
      }
      assertThat(ask.get("/health/live").statusCode()).as("probes have no token").isEqualTo(200);
      assertThat(ask.get("/").statusCode()).as("a page asks for the token").isEqualTo(200);
    }
  }

  private void checkClient(URI local) throws Exception {
    LiveAccess access =
        new LiveAccess(
            Optional.of(HttpToken.read(token)),
            Optional.of(LiveAccess.trusting(certificates.certificate("http"))));
    try (LiveClient client = new LiveClient(local, access)) {
      assertThat(client.get("stats", Map.of())).contains("positions");
    }
    LiveAccess noToken = new LiveAccess(Optional.empty(), access.trust());
    try (LiveClient client = new LiveClient(local, noToken)) {
      assertThatThrownBy(() -> client.get("report", Map.of()))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("no token")
          .hasMessageContaining("--http-token-file");
    }
  }

  private static void checkTls(URI local) {
    try (HttpAsk stranger = new HttpAsk(local)) {
      assertThatThrownBy(() -> stranger.get("/health/live")).isInstanceOf(SSLException.class);
    }
    try (HttpAsk plain = new HttpAsk(URI.create("http://127.0.0.1:" + local.getPort()))) {
      assertThatThrownBy(() -> plain.get("/health/live")).isInstanceOf(IOException.class);
    }
  }

  private static HttpTls tls() {
    return HttpTls.read(certificates.keystore("http"), certificates.password());
  }

  private static HttpTls tlsForClients(String authority) {
    return HttpTls.read(
        certificates.keystore("http"),
        certificates.password(),
        certificates.certificate(authority));
  }

  @Test
  void withClientCertificatesAMemberServesTheNetwork() throws Exception {
    HttpSettings open = HttpSettings.LOCAL.at("0.0.0.0", 0).tls(tlsForClients("authority"));
    LiveBench bench = LiveBench.fresh();
    try (Pipeline pipeline = PipelineService.start(bench.config().but().http(open).build())) {
      URI local = URI.create("https://127.0.0.1:" + pipeline.httpUri().getPort());
      try (LiveClient client = new LiveClient(local, showing("client"))) {
        assertThat(client.get("stats", Map.of())).contains("positions");
      }
      LiveAccess nothing = new LiveAccess(Optional.empty(), trust(Optional.empty()));
      try (LiveClient client = new LiveClient(local, nothing)) {
        assertThat(client.get("health/live", Map.of())).as("probes have none").contains("live");
        assertThatThrownBy(() -> client.get("report", Map.of()))
            .hasMessageContaining("no certificate")
            .hasMessageContaining("--http-cert");
      }
      for (String wrong : List.of("stranger", "server", "other")) {
        try (LiveClient client = new LiveClient(local, showing(wrong))) {
          assertThatThrownBy(() -> client.get("health/live", Map.of()))
              .as(wrong + " is refused in the handshake")
              .isInstanceOf(LiveClient.UnreachableException.class);
        }
      }
    }
  }

  @Test
  void whereThereAreBothEitherWillDo() throws Exception {
    HttpSettings open =
        HttpSettings.LOCAL.tls(tlsForClients("authority")).token(HttpToken.read(token));
    LiveBench bench = LiveBench.fresh();
    try (Pipeline pipeline = PipelineService.start(bench.config().but().http(open).build())) {
      LiveAccess byToken =
          new LiveAccess(Optional.of(HttpToken.read(token)), trust(Optional.empty()));
      for (LiveAccess access : List.of(byToken, showing("client"))) {
        try (LiveClient client = new LiveClient(pipeline.httpUri(), access)) {
          assertThat(client.get("stats", Map.of())).contains("positions");
        }
      }
      LiveAccess nothing = new LiveAccess(Optional.empty(), trust(Optional.empty()));
      try (LiveClient client = new LiveClient(pipeline.httpUri(), nothing)) {
        assertThatThrownBy(() -> client.get("report", Map.of()))
            .hasMessageContaining("--http-token-file")
            .hasMessageContaining("--http-cert");
      }
    }
  }

  private static Optional<SSLContext> trust(Optional<LiveAccess.Identity> shown) {
    return Optional.of(LiveAccess.tls(Optional.of(certificates.certificate("http")), shown));
  }

  private static LiveAccess showing(String name) throws Exception {
    var shown = new LiveAccess.Identity(certificates.certificate(name), certificates.key(name));
    return new LiveAccess(Optional.empty(), trust(Optional.of(shown)));
  }

  @Test
  void aKeyThatIsNoneOrAnotherOnesIsNamed() throws Exception {
    Path client = certificates.certificate("client");
    for (Path key : List.of(certificates.key("stranger"), client, dir.resolve("none"))) {
      var shown = new LiveAccess.Identity(client, key);
      assertThatThrownBy(() -> LiveAccess.tls(Optional.empty(), Optional.of(shown)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(key.getFileName().toString());
    }
  }

  @Test
  void beyondLoopbackNothingStartsWithoutBoth() {
    HttpSettings open = HttpSettings.LOCAL.at("0.0.0.0", 0);
    assertThat(open.problem().orElseThrow())
        .contains("0.0.0.0")
        .contains("--http-tls-keystore, and --http-token-file or --http-client-ca");
    assertThat(open.token(HttpToken.read(token)).problem().orElseThrow())
        .contains("--http-tls-keystore");
    assertThat(open.tls(tls()).problem().orElseThrow()).contains("--http-token-file");
    assertThat(open.token(HttpToken.read(token)).tls(tls()).problem()).isEmpty();
    assertThat(open.tls(tlsForClients("authority")).problem()).isEmpty();
    assertThat(HttpSettings.LOCAL.at("localhost", 0).problem()).isEmpty();
  }

  @Test
  void secretsThatAreNoneAreNamedWithoutBeingShown() throws Exception {
    Path shortOne = Files.writeString(dir.resolve("short"), "abc");
    assertThatThrownBy(() -> HttpToken.read(shortOne))
        .hasMessageContaining("3 characters")
        .hasMessageContaining("openssl rand");
    Path odd = Files.writeString(dir.resolve("odd"), "secret with blanks in it");
    assertThatThrownBy(() -> HttpToken.read(odd)).hasMessageNotContaining("secret");
    assertThatThrownBy(() -> HttpToken.read(dir.resolve("none"))).hasMessageContaining("none");
    assertThat(HttpToken.read(token).toString()).doesNotContain(TOKEN);
    Path wrong = Files.writeString(dir.resolve("wrong"), "another");
    assertThatThrownBy(() -> HttpTls.read(certificates.keystore("http"), wrong))
        .hasMessageContaining("http.p12")
        .hasMessageContaining("PKCS #12")
        .hasMessageNotContaining("another");
    assertThatThrownBy(
            () -> HttpTls.read(certificates.certificate("http"), certificates.password()))
        .hasMessageContaining("http.pem");
  }
}
