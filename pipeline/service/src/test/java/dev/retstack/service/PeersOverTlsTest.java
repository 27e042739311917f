package dev.retstack.service;

import static dev.retstack.service.support.TestCertificates.CLIENT;
import static dev.retstack.service.support.TestCertificates.SERVER;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.HttpTls;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.answers.http.LiveAccess;
import dev.retstack.answers.support.States;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.service.nodes.Role;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.TestCertificates;
import dev.retstack.service.support.Waits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Members that ask each other over TLS, by token and by certificate: one that owns all partitions,
 * and one after the other that owns none and asks it.
 */
class PeersOverTlsTest {
  private static final Duration WAIT = Duration.ofSeconds(40);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final LiveBench BENCH = LiveBench.fresh();

  @TempDir private static Path dir;
  private static TestCertificates certificates;
  private static Pipeline owner;

  @BeforeAll
  static void startTheOwner() throws Exception {
    certificates = new TestCertificates(dir);
    certificates.authority("authority");
    certificates.authority("other");
    certificates.signed("owner", "authority", List.of(SERVER));
    certificates.signed("member", "authority", List.of(SERVER, CLIENT));
    // trusts the owner's authority, which does not vouch for it
    certificates.signed("stranger", "other", List.of(SERVER, CLIENT), "authority");
    BENCH.produceAll();
    HttpSettings secured =
        HttpSettings.LOCAL
            .tls(
                HttpTls.read(
                    certificates.keystore("owner"),
                    certificates.password(),
                    certificates.certificate("authority")))
            .token(token("the-token-of-the-job"));
    owner =
        PipelineService.start(
            BENCH.config().but().http(secured).roles(EnumSet.of(Role.INGEST)).build());
    BENCH.awaitEnded(owner);
  }

  @AfterAll
  static void stopTheOwner() {
    owner.close();
  }

  private static HttpToken token(String text) throws Exception {
    return HttpToken.read(Files.writeString(dir.resolve("token"), text));
  }

  private static HttpTls tls(String name) {
    return HttpTls.read(certificates.keystore(name), certificates.password());
  }

  @Test
  void oneWithTheKeystoreOfTheOtherIsLetInByIt() throws Exception {
    assertWhole(HttpSettings.LOCAL.tls(tls("owner")));
  }

  @Test
  void oneWithACertificateOfTheAuthorityIsLetInByIt() throws Exception {
    assertWhole(HttpSettings.LOCAL.tls(tls("member")));
  }

  @Test
  void oneWithTheTokenIsLetIn() throws Exception {
    assertWhole(HttpSettings.LOCAL.tls(tls("member")).token(token("the-token-of-the-job")));
  }

  @Test
  void oneWithAnotherTokenAndACertificateIsLetInByTheCertificate() throws Exception {
    assertWhole(HttpSettings.LOCAL.tls(tls("member")).token(token("another-token-of-a-job")));
  }

  @Test
  void whoShowsACertificateOfAnotherAuthorityHasNoParts() throws Exception {
    assertMissing(HttpSettings.LOCAL.tls(tls("stranger")), "certificate");
  }

  private static void assertWhole(HttpSettings http) throws Exception {
    JsonNode report = report(http, part -> part.path("missing").asText().isEmpty());
    assertThat(report.path("resultHash").asText())
        .isEqualTo(ReportBuilder.of(States.of(BENCH.fleet())).build().resultHash());
  }

  private static void assertMissing(HttpSettings http, String reason) throws Exception {
    report(
        http,
        part ->
            part.path("missing").asText().contains("127.0.0.1:" + owner.httpUri().getPort())
                && part.path("missing").asText().contains(reason));
  }

  /** Asks a member of its own until its parts are as they should be. */
  private static JsonNode report(HttpSettings http, Predicate<JsonNode> wanted) throws Exception {
    PipelineConfig config = BENCH.config().but().http(http).roles(EnumSet.of(Role.QUERY)).build();
    LiveAccess access =
        new LiveAccess(
            http.token(),
            Optional.of(
                LiveAccess.tls(
                    Optional.of(certificates.bundle("owner", "member", "stranger")),
                    Optional.empty())));
    long began = System.nanoTime();
    try (Pipeline member = PipelineService.start(config);
        LiveClient client = new LiveClient(member.httpUri(), access)) {
      while (true) {
        JsonNode report = JSON.readTree(client.get("report", Map.of()));
        JsonNode parts = report.path("parts");
        assertThat(parts).hasSize(LiveBench.PARTITIONS);
        int as = 0;
        for (JsonNode part : parts) {
          as += wanted.test(part) ? 1 : 0;
        }
        if (as == parts.size()) {
          return report;
        }
        Waits.pause(began, WAIT, parts);
      }
    }
  }
}
