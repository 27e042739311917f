package dev.retstack.service.http;

import dev.retstack.schema.Node;
import dev.retstack.service.identity.AnswerSeal;
import dev.retstack.service.identity.Handshake;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;

/**
 * A question to a member that was found in Kafka. It has proved who it is, with nothing said to it
 * that is secret; a token is proved and never sent. Its answer proves it again, since another one
 * may answer there meanwhile. What it answers is signed where the answer holds signatures, as parts
 * do.
 */
public final class MemberQuestion {
  private final Node node;
  private final HttpClient http;
  private final Duration patience;
  private final String nonce;
  private AnswerSeal seal;

  private MemberQuestion(Node node, HttpClient http, Duration patience, String nonce) {
    this.node = node;
    this.http = http;
    this.patience = patience;
    this.nonce = nonce;
  }

  /**
   * Asks who answers there.
   *
   * @param patience longest wait for the beginning of an answer
   * @throws IOException where nobody answers, or somebody else
   */
  public static MemberQuestion to(Node node, HttpClient http, Duration patience)
      throws IOException, InterruptedException {
    String challenge = Handshake.challenge();
    HttpResponse<Void> live =
        http.send(
            request(node, Endpoint.LIVE.path(), challenge, patience).build(),
            HttpResponse.BodyHandlers.discarding());
    if (live.statusCode() != 200) {
      throw new IOException("it answered " + live.statusCode());
    }
    Handshake.require(node, challenge, live.headers());
    return new MemberQuestion(
        node, http, patience, live.headers().firstValue(Handshake.NONCE).orElse(""));
  }

  /**
   * Asks.
   *
   * @param question path and query
   * @throws IOException where nobody answers, or somebody else
   */
  public <T> HttpResponse<T> ask(
      String question, Optional<HttpToken> token, HttpResponse.BodyHandler<T> handler)
      throws IOException, InterruptedException {
    String challenge = Handshake.challenge();
    seal = new AnswerSeal(challenge, node.getUrl(), question);
    HttpRequest.Builder asked = request(node, question, challenge, patience);
    token.ifPresent(t -> asked.header("Authorization", t.proof(nonce, node.getUrl(), question)));
    HttpResponse<T> response = http.send(asked.build(), handler);
    Handshake.require(node, challenge, response.headers());
    return response;
  }

  /** What the member signs of its answer to the last question. */
  public AnswerSeal seal() {
    return seal;
  }

  /** Whether the member signed that. */
  public boolean isSigned(AnswerSeal read, byte[] signature) {
    return read.isSigned(node, signature);
  }

  private static HttpRequest.Builder request(
      Node node, String question, String challenge, Duration patience) {
    return HttpRequest.newBuilder(URI.create(node.getUrl()).resolve(question))
        .header(Handshake.CHALLENGE, challenge)
        .timeout(patience);
  }
}
