package dev.retstack.service.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.schema.Node;
import dev.retstack.service.identity.AnswerSeal;
import dev.retstack.service.identity.MemberKey;
import dev.retstack.service.identity.SignedNode;
import dev.retstack.testing.Seeds;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Parts that somebody on the way changes are not taken: an epoch, an offset, a body, an order. */
class PartStreamTest {
  private static final String URL = "http://127.0.0.1:7070";
  private static final String QUESTION = "/parts/own?what=cores";

  private final MemberKey key = MemberKey.fresh();
  private final Node node =
      SignedNode.of(
          Node.newBuilder()
              .setNode("one")
              .setUrl(URL)
              .setGroup("group")
              .setRoles(List.of("query"))
              .build(),
          key);
  private final SplittableRandom random = new SplittableRandom(Seeds.fresh());

  private final List<Part> parts = new ArrayList<>();

  private List<byte[]> written(MemberKey by, String challenge, String url, String question) {
    PartStream.Writer writer =
        new PartStream.Writer(new AnswerSeal(challenge, url, question), seal -> seal.sign(by));
    List<byte[]> pieces = new ArrayList<>();
    pieces.add(writer.head());
    for (Part part : parts) {
      pieces.add(joined(writer.part(part)));
    }
    pieces.add(joined(writer.end()));
    return pieces;
  }

  private void draw() {
    parts.clear();
    for (int partition = 0; partition < 4; partition++) {
      byte[] body = new byte[random.nextInt(60)];
      random.nextBytes(body);
      StateCopy.Waiting waiting = new StateCopy.Waiting(random.nextInt(3), "image");
      parts.add(new Part(partition, 3, 1000, 900, 0, waiting, body, Optional.empty(), ""));
    }
  }

  private static byte[] joined(List<byte[]> pieces) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    pieces.forEach(bytes::writeBytes);
    return bytes.toByteArray();
  }

  /** What is taken of a stream, whether it breaks off or not. */
  private List<Part> taken(byte[] stream, long room) throws IOException {
    List<Part> taken = new ArrayList<>();
    try (HeapRoom.Share share = new HeapRoom(room).share()) {
      PartStream.read(
          new ByteArrayInputStream(stream),
          share,
          new AnswerSeal("challenge", URL, QUESTION),
          (read, signature) -> read.isSigned(node, signature),
          taken::add);
      return taken;
    } catch (IOException e) {
      assertThat(taken).hasSizeLessThanOrEqualTo(parts.size());
      for (int i = 0; i < taken.size(); i++) {
        assertThat(taken.get(i)).usingRecursiveComparison().isEqualTo(parts.get(i));
      }
      throw e;
    }
  }

  @Test
  void whatAMemberSentIsTaken() throws IOException {
    draw();
    byte[] stream = joined(written(key, "challenge", URL, QUESTION));
    assertThat(taken(stream, 1 << 20)).usingRecursiveComparison().isEqualTo(parts);
    assertThat(taken(stream, 0)).extracting(Part::partition).containsExactly(0, 1, 2, 3);
  }

  /** One bit, a piece that is left out, repeated or of another place, and a cut. */
  @Test
  void nothingThatWasChangedOnTheWayIsTaken() {
    for (int round = 0; round < 40; round++) {
      draw();
      List<byte[]> pieces = written(key, "challenge", URL, QUESTION);
      byte[] right = joined(pieces);
      byte[] changed = right.clone();
      int at = random.nextInt(pieces.size());
      int to = random.nextInt(pieces.size());
      switch (random.nextInt(4)) {
        case 0 -> changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
        case 1 -> changed = Arrays.copyOf(changed, random.nextInt(changed.length));
        case 2 -> {
          pieces.add(to, pieces.remove(at));
          changed = joined(pieces);
        }
        default -> {
          pieces.set(to, pieces.get(at));
          changed = joined(pieces);
        }
      }
      byte[] stream = changed;
      if (!Arrays.equals(stream, right)) {
        assertThatThrownBy(() -> taken(stream, 1 << 20))
            .as("round %s", round)
            .isInstanceOf(IOException.class);
      }
    }
  }

  /** A forged epoch comes with the signature of whoever forged it, or of another answer. */
  @Test
  void theAnswerToAnotherQuestionAndOfAnotherMemberIsNotTaken() {
    draw();
    byte[] body = parts.getFirst().body();
    parts.set(
        0, new Part(0, 1L << 62, 1000, 900, 0, StateCopy.Waiting.NONE, body, Optional.empty(), ""));
    for (List<byte[]> forged :
        List.of(
            written(MemberKey.fresh(), "challenge", URL, QUESTION),
            written(key, "another", URL, QUESTION),
            written(key, "challenge", "http://127.0.0.1:7071", QUESTION),
            written(key, "challenge", URL, "/parts/own?what=state"))) {
      assertThatThrownBy(() -> taken(joined(forged), 1 << 20))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("not what it signed")
          .hasMessageContaining("use TLS");
    }
  }
}
