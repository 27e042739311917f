package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.retstack.answers.http.HttpSettings;
import dev.retstack.answers.http.LiveAccess;
import dev.retstack.answers.question.Questions;
import dev.retstack.schema.Node;
import dev.retstack.service.identity.AnswerSeal;
import dev.retstack.service.identity.Handshake;
import dev.retstack.service.nodes.NodeRecords;
import dev.retstack.service.support.LiveBench;
import dev.retstack.service.support.Waits;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Somebody stands between a member and the command, without TLS, and passes on what it likes. */
class SealedAnswersTest {
  private static final Waits WAITS = new Waits(Duration.ofMinutes(1));
  private static final String ELSEWHERE = "127.0.0.2";
  private static final Map<String, String> TEXT = Map.of("format", "text");

  private final LiveBench bench = LiveBench.fresh();
  private final HttpClient http = HttpClient.newHttpClient();
  private HttpServer between;
  private volatile URI member;
  private volatile Change change = answer -> answer;
  private volatile String asksInstead = "";

  /** What passes. */
  @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
  private record Passed(int status, Map<String, List<String>> headers, byte[] body) {
    Passed with(byte[] other) {
      return new Passed(status, headers, other);
    }

    Passed with(int other) {
      return new Passed(other, headers, body);
    }
  }

  /** What the one between does with an answer. */
  private interface Change {
    Passed of(Passed answer) throws IOException;
  }

  /** On the member's port of another address: there the member says that it answers. */
  private void standBetween(int port) throws IOException {
    member = URI.create("http://127.0.0.1:" + port);
    between = HttpServer.create(new InetSocketAddress(ELSEWHERE, port), 0);
    between.createContext("/", this::pass);
    between.start();
  }

  @AfterEach
  void leave() {
    if (between != null) {
      between.stop(0);
    }
    http.close();
  }

  private void pass(HttpExchange asked) throws IOException {
    String question = asked.getRequestURI().toString();
    boolean isHealth = question.startsWith("/health");
    HttpRequest.Builder passed =
        HttpRequest.newBuilder(
            member.resolve(isHealth || asksInstead.isEmpty() ? question : asksInstead));
    String challenge = asked.getRequestHeaders().getFirst(Handshake.CHALLENGE);
    if (challenge != null) {
      passed.header(Handshake.CHALLENGE, challenge);
    }
    HttpResponse<byte[]> found;
    try {
      found = http.send(passed.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    Passed answer =
        new Passed(found.statusCode(), new HashMap<>(found.headers().map()), found.body());
    answer = isHealth ? answer : change.of(answer);
    for (String name :
        List.of(
            Handshake.PROOF.toLowerCase(Locale.ROOT),
            Handshake.NONCE.toLowerCase(Locale.ROOT),
            Questions.PARTITIONS.toLowerCase(Locale.ROOT))) {
      answer
          .headers()
          .getOrDefault(name, List.of())
          .forEach(value -> asked.getResponseHeaders().add(name, value));
    }
    asked.sendResponseHeaders(
        answer.status(), answer.body().length == 0 ? -1 : answer.body().length);
    asked.getResponseBody().write(answer.body());
    asked.close();
  }

  @Test
  void anAnswerThatWasChangedOnTheWayIsRefused() throws Exception {
    bench.produceAll();
    HttpSettings advertised = HttpSettings.LOCAL.at("127.0.0.1", 0).advertised(ELSEWHERE);
    try (Pipeline pipeline = PipelineService.start(bench.config().but().http(advertised).build())) {
      standBetween(pipeline.httpUri().getPort());
      bench.awaitEnded(pipeline);
      bench.awaitRest(pipeline);
      Node node =
          NodeRecords.running(bench.kafka(), bench.topics(), bench.config().groupId()).getFirst();
      assertThat(node.getUrl()).contains(ELSEWHERE);
      try (LiveClient client = new LiveClient(node, LiveAccess.OPEN);
          LiveClient direct = new LiveClient(member)) {
        String right = direct.get("stats", TEXT);
        assertThat(client.get("stats", TEXT)).isEqualTo(right);
        assertThatThrownBy(() -> client.get("graph", Map.of("core", "none")))
            .as("a refusal is the member's own")
            .isInstanceOf(LiveClient.RefusedException.class);
        for (var lie : lies().entrySet()) {
          change = lie.getValue();
          assertThatThrownBy(() -> client.get("stats", TEXT))
              .as(lie.getKey())
              .isInstanceOf(IOException.class)
              .isNotInstanceOf(LiveClient.RefusedException.class)
              .hasMessageContaining("is not what it signed")
              .hasMessageContaining("TLS");
        }
        change = answer -> answer;
        asksInstead = "/stats?format=csv";
        assertThatThrownBy(() -> client.get("stats", TEXT))
            .as("the answer to another question")
            .hasMessageContaining("is not what it signed");
        asksInstead = "";
        WAITS.await("it is itself again", () -> client.get("stats", TEXT).equals(right));
      }
    }
  }

  private static Map<String, Change> lies() {
    Map<String, Change> lies = new LinkedHashMap<>();
    lies.put(
        "another text",
        answer -> {
          byte[] text = answer.body().clone();
          text[text.length / 2] ^= 1;
          return answer.with(text);
        });
    lies.put("no text", answer -> answer.with(tail(answer.body())));
    lies.put("a text without its signature", answer -> answer.with(head(answer.body())));
    lies.put("nothing", answer -> answer.with(new byte[0]));
    lies.put("a line more", answer -> answer.with(more(answer.body())));
    lies.put("a refusal", answer -> answer.with(404));
    lies.put(
        "partitions that are not in it",
        answer -> {
          Map<String, List<String>> headers = new HashMap<>(answer.headers());
          headers.put(Questions.PARTITIONS.toLowerCase(Locale.ROOT), List.of("owned=0; of=1"));
          return new Passed(answer.status(), headers, answer.body());
        });
    return lies;
  }

  private static byte[] tail(byte[] body) {
    return Arrays.copyOfRange(body, body.length - AnswerSeal.BYTES, body.length);
  }

  private static byte[] head(byte[] body) {
    return Arrays.copyOf(body, body.length - AnswerSeal.BYTES);
  }

  private static byte[] more(byte[] body) {
    byte[] line = "all is well\n".getBytes(UTF_8);
    byte[] all = Arrays.copyOf(line, line.length + body.length);
    System.arraycopy(body, 0, all, line.length, body.length);
    return all;
  }
}
