package dev.retstack.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.service.query.HttpSettings;
import dev.retstack.service.query.HttpTls;
import dev.retstack.service.query.HttpToken;
import dev.retstack.service.support.HttpAsk;
import dev.retstack.service.support.LiveBench;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may ask: real TLS with a certificate of the JDK's keytool, and a token. */
class HttpSecurityTest {
  private static final String TOKEN = "0123456789abcdef-token";

  @TempDir private Path dir;
  private Path keystore;
  private Path password;
  private Path certificate;
  private Path token;

  @BeforeEach
  void secrets() throws Exception {
    keystore = dir.resolve("http.p12");
    certificate = dir.resolve("http.pem");
    password = Files.writeString(dir.resolve("password"), "changed-every-time\n");
    token = Files.writeString(dir.resolve("token"), TOKEN + "\n");
    keytool(
        List.of(
            "-genkeypair",
            "-alias",
            "http",
            "-keyalg",
            "EC",
            "-dname",
            "CN=member",
            "-ext",
            "SAN=ip:127.0.0.1,dns:localhost",
            "-storetype",
            "PKCS12",
            "-validity",
            "2"));
    keytool(List.of("-exportcert", "-alias", "http", "-rfc", "-file", certificate.toString()));
  }

  private void keytool(List<String> arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(arguments);
    command.addAll(
        List.of("-keystore", keystore.toString(), "-storepass:file", password.toString()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  @Test
  void withTlsAndTokenAMemberServesTheNetwork() throws Exception {
    HttpSettings open =
        HttpSettings.LOCAL
            .at("0.0.0.0", 0)
            .token(HttpToken.read(token))
            .tls(HttpTls.read(keystore, password));
    LiveBench bench = LiveBench.fresh();
    try (Pipeline pipeline = PipelineService.start(bench.config().but().http(open).build())) {
      assertThat(pipeline.httpUri().getScheme()).isEqualTo("https");
      URI local = URI.create("https://127.0.0.1:" + pipeline.httpUri().getPort());
      checkToken(local);
      checkClient(local);
      checkTls(local);
    }
  }

  private void checkToken(URI local) throws Exception {
    try (HttpAsk ask = new HttpAsk(local, Optional.of(LiveAccess.trusting(certificate)))) {
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
    }
  }

  private void checkClient(URI local) throws Exception {
    LiveAccess access =
        new LiveAccess(
            Optional.of(HttpToken.read(token)), Optional.of(LiveAccess.trusting(certificate)));
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

  @Test
  void beyondLoopbackNothingStartsWithoutBoth() {
    HttpSettings open = HttpSettings.LOCAL.at("0.0.0.0", 0);
    assertThatThrownBy(open::requireSafe)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0.0.0.0")
        .hasMessageContaining("--http-token-file and --http-tls-keystore");
    assertThatThrownBy(() -> open.token(HttpToken.read(token)).requireSafe())
        .hasMessageContaining("--http-tls-keystore");
    assertThatThrownBy(() -> open.tls(HttpTls.read(keystore, password)).requireSafe())
        .hasMessageContaining("--http-token-file");
    open.token(HttpToken.read(token)).tls(HttpTls.read(keystore, password)).requireSafe();
    HttpSettings.LOCAL.at("localhost", 0).requireSafe();
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
    assertThatThrownBy(() -> HttpTls.read(keystore, wrong))
        .hasMessageContaining("http.p12")
        .hasMessageContaining("PKCS #12")
        .hasMessageNotContaining("another");
    assertThatThrownBy(() -> HttpTls.read(certificate, password)).hasMessageContaining("http.pem");
  }
}
