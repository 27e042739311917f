package dev.retstack.service.identity;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.answers.http.Endpoint;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.answers.question.Questions;
import dev.retstack.schema.Node;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
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

  /**
   * A whole answer, as the member signed it.
   *
   * @param partitions what is in it, see {@link Questions#PARTITIONS}
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over once, never compared nor a key
  public record Answer(int status, String partitions, byte[] body) {}

  /**
   * Asks for an answer whose every byte the member signs: its status, what partitions are in it,
   * and its body, behind which the signature stands.
   *
   * @throws IOException where nobody answers, or somebody else, or the answer was changed
   */
  public Answer askWhole(String question, Optional<HttpToken> token)
      throws IOException, InterruptedException {
    HttpResponse<byte[]> response = ask(question, token, HttpResponse.BodyHandlers.ofByteArray());
    String partitions = response.headers().firstValue(Questions.PARTITIONS).orElse("");
    byte[] sealed = response.body();
    int length = Math.max(0, sealed.length - AnswerSeal.BYTES);
    seal.add(head(response.statusCode(), partitions));
    seal.add(sealed, 0, length);
    if (!isSigned(seal, Arrays.copyOfRange(sealed, length, sealed.length))) {
      throw new IOException(
          "its answer (status %d) is not what it signed: it was cut off, or somebody on the way changed it; ask again, or use TLS"
              .formatted(response.statusCode()));
    }
    return new Answer(response.statusCode(), partitions, Arrays.copyOf(sealed, length));
  }

  /** What is signed of an answer before its body. */
  public static byte[] head(int status, String partitions) {
    return (status + " " + partitions + "\n").getBytes(UTF_8);
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
